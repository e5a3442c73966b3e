from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from asky.errors import SourceUnreadable
from asky.reading import scanned_pages
from asky.reading.process.pool import ReaderPool
from asky.values import Link
from tests.support.files import attempt, check_document, check_outcome, epub, pdf, scanned_pdf
from tests.support.web_pages import OBSTACLES, WebPage

PLAIN, PDF, EPUB, JSON = "text/plain", "application/pdf", "application/epub+zip", "application/json"
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def pool() -> Iterator[ReaderPool]:
    with ReaderPool(workers=1) as shared:
        shared.read(b"x", name="first", media_type=PLAIN)  # its child is no test's own
        yield shared


@pytest.fixture(autouse=True)
def no_recognition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanned_pages, "is_ocr_available", lambda: False)  # a scan would be read in another child


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


def test_a_page_of_the_web_comes_back_with_its_links_and_its_facts(pool: ReaderPool) -> None:
    page = '<title>T</title><link rel="canonical" href="/t"><p>Some words and <a href="x">a link</a> too.</p>'
    document = pool.read(
        page.encode("utf-16-le"),
        name="a.example",
        media_type="text/html",
        url="https://a.example/d/",
        charset="utf-16le",
    )
    assert document.text == "Some words and a link too."
    assert document.links == (Link("https://a.example/d/x", "a link", 0),)
    assert document.metadata["canonical_url"] == "https://a.example/t"


@pytest.mark.parametrize("page", OBSTACLES[::6], ids=lambda page: page.name)
def test_obstacles_of_the_web_come_back_as_verdicts(pool: ReaderPool, page: WebPage) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        pool.read(page.html.encode(), name="a", media_type="text/html", url="https://a.example/")
    assert caught.value.verdict == page.verdict


def test_a_feed_comes_back_with_its_entries(pool: ReaderPool) -> None:
    feed = b"<rss><channel><item><title>One</title><link>/1</link></item></channel></rss>"
    document = pool.read(feed, name="f", media_type="application/rss+xml", url="https://a.example/feed")
    assert document.links == (Link("https://a.example/1", "One", 0),)


@pytest.mark.extended
def test_large_pages_leave_the_parent_small(pool: ReaderPool) -> None:
    page = f"<body><h1>Manual</h1>{'<p>some words of a <a href=/x>manual</a></p>' * 230_000}</body>".encode()
    pool.read(page, name="a", media_type="text/html", url="https://a.example/")
    parent = psutil.Process()
    before = parent.memory_info().rss
    for _ in range(2):
        assert len(pool.read(page, name="a", media_type="text/html", url="https://a.example/").text) > 5_000_000
    assert parent.memory_info().rss - before < 64 * 1024 * 1024


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


@pytest.mark.few(6)
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
