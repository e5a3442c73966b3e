from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from asky.errors import SourceUnreadable
from asky.reading.pool import ReaderPool
from tests.support.files import attempt, check_document, check_outcome, epub, pdf, scanned_pdf

PLAIN, PDF, EPUB, JSON = "text/plain", "application/pdf", "application/epub+zip", "application/json"
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def pool() -> Iterator[ReaderPool]:
    with ReaderPool(workers=1) as shared:
        yield shared


def refusal(pool: ReaderPool, data: bytes, media_type: str, name: str = "a.file") -> SourceUnreadable:
    with pytest.raises(SourceUnreadable) as caught:
        pool.read(data, name=name, media_type=media_type)
    return caught.value


def test_every_format_is_read_in_a_child(pool: ReaderPool) -> None:
    files = {
        PLAIN: b"some text",
        "text/markdown": b"# Head\n\nsome text",
        "text/html": b"<h1>Head</h1><p>some text</p>",
        JSON: b'{"a": "some text"}',
        "text/csv": b"a,b\nsome text,1\n",
        PDF: pdf(["some text"]),
        EPUB: epub([("Head", "<p>some text</p>")]),
    }
    for media_type, data in files.items():
        document = pool.read(data, name="a.file", media_type=media_type)
        assert document.media_type == media_type
        assert "some text" in document.text
        check_document(document)


def test_refusals_come_back_with_verdict_message_and_hint(pool: ReaderPool) -> None:
    error = refusal(pool, scanned_pdf(2), PDF, "scan.pdf")
    assert (error.verdict, error.message) == ("no_text_layer", "scan.pdf: 2 pages, no text layer")
    assert error.hint is not None
    assert refusal(pool, pdf(["x"], password="p"), PDF).verdict == "encrypted"
    assert refusal(pool, b" \n", PLAIN).verdict == "empty"
    assert refusal(pool, b"", PLAIN).message == "a.file: an empty file"
    assert refusal(pool, b"x", "image/png").verdict == "unsupported"


def test_a_name_with_control_characters_cannot_forge_a_message(pool: ReaderPool) -> None:
    error = refusal(pool, b" ", PLAIN, "a\nok: all good\x1b[2J\udcff.txt")
    assert error.message == "a ok: all good\ufffd.txt: no text in it"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("media_type", [PDF, EPUB])
def test_damaged_files_give_a_sound_document_or_a_verdict(pool: ReaderPool, media_type: str, seed: int) -> None:
    chance = random.Random(seed)
    pages = ["First page\nwith text", "", "Second heading\nmore text"]
    good = pdf(pages, outline=[(1, "Second heading", 3)]) if media_type == PDF else epub([("One", "<p>text</p>")] * 3)
    for _ in range(25):
        data = bytearray(good)
        for _ in range(chance.randint(1, 30)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)) :]
        outcome = attempt(partial(pool.read, bytes(data), name="a", media_type=media_type))
        check_outcome(outcome, "failed", "empty", "encrypted", "no_text_layer", "too_large", "unsupported")
