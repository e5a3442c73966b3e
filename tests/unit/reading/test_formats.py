from __future__ import annotations

import importlib

import pytest

from asky.errors import SourceUnreadable
from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.reading.formats import FORMATS
from asky.reading.process.worker import read
from tests.support.files import archive, epub, pdf
from tests.support.office_files import open_document
from tests.support.word_files import p, word_file
from tests.support.workbook_files import row as sheet_row
from tests.support.workbook_files import workbook


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.txt", "text/plain"),
        ("a.md", "text/markdown"),
        ("A.MARKDOWN", "text/markdown"),
        ("a.html", "text/html"),
        ("b.c.HTM", "text/html"),
        ("a.json", "application/json"),
        ("a.csv", "text/csv"),
    ],
)
def test_text_is_known_by_its_suffix_in_any_case(name: str, media_type: str) -> None:
    assert media_type_of(name, b"some text") == media_type
    assert media_type_of(name, b"") == media_type


@pytest.mark.parametrize("name", ["a.exe", "a.PNG", "a.txt.gz", "library.min.js", "a.zip", "a.lock"])
def test_other_names_have_no_reader(name: str) -> None:
    assert media_type_of(name, b"some text") is None


@pytest.mark.parametrize(
    ("name", "head", "media_type"),
    [
        ("README", b"some text", "text/plain"),
        ("notes.xyz", b"some text", "text/plain"),
        ("run", b"#!/bin/sh\necho", "text/x-source"),
        ("page", b"\n<!DOCTYPE html><p>", "text/html"),
        ("notes.xyz", b"\x00\x01\x02" * 20, None),
        ("empty", b"", None),
        ("server", b"-----BEGIN RSA PRIVATE KEY-----\nMIIE", None),
        ("Makefile", b"all:", "text/x-source"),
        ("a.rs", b"fn main() {}", "text/x-source"),
        ("a.py", b"\x00\x01\x02" * 20, None),
        ("a.docx", b"no zip", None),
    ],
)
def test_other_names_are_told_by_the_content(name: str, head: bytes, media_type: str | None) -> None:
    assert media_type_of(name, head) == media_type


def test_pdf_and_epub_need_their_mark() -> None:
    assert media_type_of("a.pdf", pdf(["x"])[:HEAD_BYTES]) == "application/pdf"
    assert media_type_of("a.pdf", b"\n" * 1000 + b"%PDF-1.4") == "application/pdf"
    assert media_type_of("a.pdf", b"\n" * 1024 + b"%PDF-1.4") is None
    assert media_type_of("a.pdf", b"<html>not found</html>") is None
    assert media_type_of("a.epub", epub([("One", "")])[:HEAD_BYTES]) == "application/epub+zip"
    assert media_type_of("a.epub", b"not a zip") is None


def test_binary_files_with_the_name_of_a_text_are_refused() -> None:
    assert media_type_of("a.txt", archive({"a": "text " * 5000})[:HEAD_BYTES]) is None
    assert media_type_of("a.md", pdf(["x"])[:HEAD_BYTES]) is None
    assert media_type_of("a.csv", bytes(range(256)) * 4) is None
    assert media_type_of("a.json", b"\x00" * 100) is None
    assert media_type_of("a.txt", "plain".encode("utf-16-le")) is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "cp1252", "shift_jis"])
def test_text_in_other_encodings_is_text(encoding: str) -> None:
    text = "吾輩は猫である" if encoding == "shift_jis" else "Füße"
    assert media_type_of("a.txt", text.encode(encoding)) == "text/plain"


def test_a_stray_control_does_not_make_a_text_binary() -> None:
    assert media_type_of("a.txt", b"\x1b[31mred\x1b[0m and a NUL \x00 in " + b"a log line " * 20) == "text/plain"


def test_every_row_names_a_module_with_a_reader() -> None:
    for row in FORMATS:
        assert callable(getattr(importlib.import_module(row.module), row.function))


KINDS = {
    "html": b"<!DOCTYPE html><title>Boats</title><p>The boats of the bay are here.</p>",
    "rtf": b"{\\rtf1\\ansi The boats of the bay are here.\\par}",
    "ics": b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:The boats of the bay are here.\nEND:VEVENT\nEND:VCALENDAR\n",
    "docx": b"",
    "xlsx": b"",
    "odt": b"",
    "epub": b"",
    "pdf": b"",
}
SUFFIXES = (*KINDS, "txt", "md", "csv", "json", "xml", "eml", "pptx", "doc", "xls", "msg", "ipynb")
MARKUP = ("<p>", "<!DOCTYPE", "\\rtf1", "BEGIN:", "PK", "%PDF", "word/document", "endobj")


def of_kind(kind: str) -> bytes:
    if kind == "docx":
        return word_file(p("The boats of the bay are here."))
    if kind == "xlsx":
        return workbook(sheet_row("The boats of the bay are here."))
    if kind == "odt":
        return open_document("<text:p>The boats of the bay are here.</text:p>")
    if kind == "epub":
        return epub([("One", "The boats of the bay are here.")])
    return pdf(["The boats of the bay are here."]) if kind == "pdf" else KINDS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_under_a_wrong_suffix_a_file_is_read_as_what_it_is_or_not_at_all(kind: str) -> None:
    data = of_kind(kind)
    for suffix in SUFFIXES:
        name = f"a.{suffix}"
        media_type = media_type_of(name, data[:HEAD_BYTES])
        if media_type is None:
            continue
        try:
            text = read(data, name=name, media_type=media_type, max_chars=10_000).text
        except SourceUnreadable:
            continue
        assert "The boats of the bay are here." in text, suffix
        assert not any(sign in text for sign in MARKUP), (suffix, text)
