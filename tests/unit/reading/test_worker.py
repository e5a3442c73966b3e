from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import SourceUnreadable
from asky.reading.process.worker import read
from tests.support.files import attempt, check_document, check_outcome, epub, pdf

TEXT_TYPES = ["text/plain", "text/markdown", "text/html", "application/json", "text/csv"]
LINES = [
    "# Head",
    "text, more",
    "---",
    "===",
    "```",
    '"quoted',
    "{",
    "}",
    "[1, 2]",
    '{"a": "b"}',
    "<p>x",
    "</p>",
    "\r",
    "\x00",
    "\ud7ff",
    "é",
]


@pytest.mark.parametrize("media_type", TEXT_TYPES)
@given(data=st.binary() | st.lists(st.sampled_from(LINES)).map("\n".join).map(str.encode) | st.text().map(str.encode))
def test_any_bytes_give_a_sound_document_or_a_verdict(media_type: str, data: bytes) -> None:
    outcome = attempt(lambda: read(data, name="a", media_type=media_type, max_chars=1000))
    check_outcome(outcome, "empty", "failed", "too_large")
    assert getattr(outcome, "media_type", media_type) == media_type


@pytest.mark.parametrize("data", [b" \n\t\n", b"\xef\xbb\xbf", "\u3000\u00a0".encode()])
def test_only_white_space_is_empty(data: bytes) -> None:
    with pytest.raises(SourceUnreadable, match="a: no text in it") as caught:
        read(data, name="a", media_type="text/plain", max_chars=10)
    assert caught.value.verdict == "empty"


def test_text_above_the_limit_is_refused_and_not_cut() -> None:
    assert len(read(b"x" * 10, name="a", media_type="text/plain", max_chars=10).text) == 10
    with pytest.raises(SourceUnreadable, match="a: 11 characters of text, the limit is 10") as caught:
        read(b"x" * 11, name="a", media_type="text/plain", max_chars=10)
    assert caught.value.verdict == "too_large"


def test_of_a_long_text_the_beginning_can_be_kept_with_all_that_lies_within() -> None:
    prose = "A mill stood here. " * 5
    sections = "".join(f"<h2>Head {at}</h2><p>{prose}<a href='/{at}'>on</a></p>" for at in range(99))
    data = f"<html><head><title>Mills</title></head><body>{sections}</body></html>".encode()
    whole = read(data, name="a", media_type="text/html", max_chars=99_999, url="http://a.test/")
    cut = read(data, name="a", media_type="text/html", max_chars=5_000, url="http://a.test/", keep_chars=5_000)
    check_document(cut)
    assert whole.text.startswith(cut.text)
    assert 4_800 < len(cut.text) <= 5_000
    assert whole.text[len(cut.text)] == "\n"
    assert cut.metadata["omitted_characters"] == str(len(whole.text) - len(cut.text))
    assert cut.sections[:-1] == whole.sections[: len(cut.sections) - 1]
    assert [link.url for link in cut.links] == [link.url for link in whole.links]
    assert "omitted_characters" not in whole.metadata


def test_a_long_line_is_cut_where_it_must_be() -> None:
    for kept in (1, 10, 5_000):
        cut = read(b"x" * 9_000, name="a", media_type="text/plain", max_chars=9_000, keep_chars=kept)
        assert cut.text == "x" * kept


@pytest.mark.parametrize(
    ("media_type", "text"), [("text/plain", "{}"), ("text/html", "<meta charset=utf-8><p>{}</p>"), ("text/csv", "{}")]
)
def test_the_charset_of_the_header_counts_where_it_makes_sense(media_type: str, text: str) -> None:
    words = "Съешь ещё этих мягких французских булок, да выпей чаю. " * 3
    data = text.format(words).encode("koi8-r")
    assert "французских" in read(data, name="a", media_type=media_type, max_chars=9999, charset="KOI8-R").text
    for trick in ("rot13", "utf-7", "idna", "undefined", "x" * 999):
        assert read(data, name="a", media_type=media_type, max_chars=9999, charset=trick).text


def test_text_needs_no_parser_of_other_formats() -> None:
    program = (
        "import sys\n"
        "from asky.reading.process.worker import read\n"
        "for kind in ('text/plain', 'text/markdown', 'text/csv', 'application/json'):\n"
        "    read(b'1', name='a', media_type=kind, max_chars=10)\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    for heavy in ("pymupdf", "lxml", "trafilatura", "charset_normalizer", "numpy", "multiprocessing", "asyncio"):
        assert f"'{heavy}'" not in loaded


def test_nothing_but_answers_reaches_the_parent() -> None:
    program = (
        "import os, sys\n"
        "from asky.reading.process.worker import take_pipes\n"
        "requests, replies = take_pipes()\n"
        "print('noise'); sys.stdout.flush(); os.write(1, b'noise')\n"
        "assert sys.stdin.read() == ''\n"
        "replies.write(requests.read()); replies.flush()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], input=b"frame", capture_output=True, check=True)
    assert done.stdout == b"frame"


MESSAGE = "The tide\u200b rises.\U000e0100\U000e0101 Re\u00adal."
ENTITIES = "The tide&#x200b; rises.&#xe0100;&#xe0101; Re&shy;al."
ITEM = f"<rss><channel><item><title>a</title><description>{MESSAGE}</description></item></channel></rss>"


@pytest.mark.parametrize(
    ("media_type", "data"),
    [
        ("text/plain", MESSAGE.encode()),
        ("text/markdown", MESSAGE.encode()),
        ("text/html", f"<meta charset=utf-8><p>{MESSAGE}</p>".encode()),
        ("text/html", f"<p>{ENTITIES}</p>".encode()),
        ("application/json", json.dumps({"a": MESSAGE}).encode()),
        ("text/csv", f"a,b\n1,{MESSAGE}\n".encode()),
        ("application/rss+xml", ITEM.encode()),
        ("application/rss+xml", ITEM.replace(MESSAGE, ENTITIES.replace("&", "&amp;")).encode()),
        ("application/epub+zip", epub([("One", f"<p>{MESSAGE}</p>")])),
    ],
)
def test_invisible_characters_are_removed_and_the_document_tells_how_many(media_type: str, data: bytes) -> None:
    document = read(data, name="a", media_type=media_type, max_chars=1000)
    assert "The tide rises. Real." in " ".join(document.text.split())
    assert document.metadata["invisible_characters"] == "3"


def test_a_document_without_invisible_characters_tells_of_none() -> None:
    for media_type, data in (
        ("text/plain", b"a tide"),
        ("text/html", b"<p>a tide</p>"),
        ("application/pdf", pdf(["x"])),
    ):
        assert "invisible_characters" not in read(data, name="a", media_type=media_type, max_chars=99).metadata
