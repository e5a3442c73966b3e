from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.process.frames import BadFrame, pack_document, unpack_document
from asky.values import Document, Link, NoteLink, Page, Section

FIELDS = st.sampled_from(["media_type", "title", "sections", "pages", "links", "note_links", "metadata"])
LEAVES = st.none() | st.integers() | st.text(max_size=3)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4), max_leaves=8)
GOOD = Document(
    text="# One\ntwo\fthree 😀",
    media_type="application/pdf",
    title="One",
    sections=(Section("One", 1, 0, 16), Section("two", 2, 6, 9)),
    pages=(Page(1, "i", 0, 10), Page(2, None, 10, 16)),
    links=(Link("https://a.example/1", "One", 0), Link("http://a.example/2", "", 16)),
    note_links=(NoteLink("a", "b#c", "d", False, 0, 5), NoteLink("", "^e", "", True, 5, 9)),
    metadata={"author": "A"},
)


def through(header: dict[str, Any], payload: bytes) -> Document:
    return unpack_document(json.loads(json.dumps(header)), payload)


def test_a_document_comes_back_as_it_went() -> None:
    assert through(*pack_document(GOOD)) == GOOD


@pytest.mark.parametrize(
    "change",
    [
        {"sections": [["x", 1, 0, 99]]},
        {"sections": [["x", 1, 5, 2]]},
        {"sections": [["x", 1, 5, 6], ["y", 1, 2, 3]]},
        {"sections": [["x", 1, -1, 3]]},
        {"sections": [["x", "1", 0, 3]]},
        {"sections": [["x", 1, 0]]},
        {"sections": 5},
        {"pages": [["i", 0, 5], ["ii", 4, 9]]},
        {"pages": [[3, 0, 5]]},
        {"pages": {"i": 1}},
        {"links": [["https://a.example/", "a", 18]]},
        {"links": [["https://a.example/", "a", -1]]},
        {"links": [["https://a.example/", "a", "1"]]},
        {"links": [["https://a.example/", None, 1]]},
        {"links": [["file:///etc/passwd", "a", 1]]},
        {"links": [["https://a.example/\n", "a", 1]]},
        {"links": [["https://a.example/" + "x" * 2048, "a", 1]]},
        {"links": [["https://a.example/", "a", 1], ["https://a.example/", "b", 2]]},
        {"links": [[f"https://a.example/{n}", "a", 1] for n in range(2001)]},
        {"links": None},
        {"note_links": [["a", "", "", False, 0, 5], ["a", "", "", False, 4, 9]]},
        {"note_links": [["a", "", "", False, 10, 18]]},
        {"note_links": [["a", "", None, False, 0, 5]]},
        {"note_links": [["a", "", "", False, n, n] for n in [0] * 20_001]},
        {"title": 5},
        {"title": "\ud800"},
        {"media_type": None},
        {"metadata": {"a": 1}},
        {"metadata": []},
    ],
)
def test_an_answer_that_cannot_be_true_is_refused(change: dict[str, Any]) -> None:
    header, payload = pack_document(GOOD)
    with pytest.raises(BadFrame):
        through({**header, **change}, payload)


def test_a_missing_field_or_broken_text_is_refused() -> None:
    header, payload = pack_document(GOOD)
    with pytest.raises(BadFrame):
        through({"title": None}, payload)
    with pytest.raises(BadFrame):
        through(header, b"\xff\xfe")


@given(st.dictionaries(FIELDS, VALUES))
def test_no_answer_raises_anything_else(change: dict[str, Any]) -> None:
    header, payload = pack_document(GOOD)
    try:
        document = through({**header, **change}, payload)
    except BadFrame:
        return
    assert document.text == GOOD.text
