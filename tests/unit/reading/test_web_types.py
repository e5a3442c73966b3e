from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.reading.web_types import HEAD_BYTES, media_type_of_response
from tests.support.files import archive, epub, pdf

URL = "https://a.example/x"
PAGE = b"<!doctype html><html><body><p>words</p></body></html>"
RSS = b'<?xml version="1.0"?>\n<!-- feed --><rss version="2.0"><channel></channel></rss>'


@pytest.mark.parametrize(
    ("head", "declared", "expected"),
    [
        (PAGE, "text/html", "text/html"),
        (PAGE, None, "text/html"),
        (PAGE, "application/pdf", "text/html"),
        (PAGE, "text/plain", "text/html"),
        (PAGE, "application/octet-stream", "text/html"),
        (PAGE, "application/json", "text/html"),
        (b"\xef\xbb\xbf\n<!-- c -->\n<HTML lang=de>", None, "text/html"),
        (b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html xmlns="y">', "application/xhtml+xml", "text/html"),
        (b"<p>only a part</p>", None, "text/html"),
        (b"<p>only a part</p>", "text/html", "text/html"),
        (b"text before <b>markup</b>", "text/html", "text/html"),
        (b"no markup at all", "text/html", "text/plain"),
        (b"no markup at all", None, "text/plain"),
        (b"print('x')", "text/x-python", "text/plain"),
        (b"a,b\n1,2", "text/csv", "text/csv"),
        (b"# Head", "text/markdown", "text/markdown"),
        (b"[1] a reference", "text/plain", "text/plain"),
        (b"<b>not</b> a page, they say", "text/plain", "text/plain"),
        (b'{"a": 1}', "application/json", "application/json"),
        (b'{"a": 1}', "text/html", "application/json"),
        (b'[{"a": 1}]', None, "application/json"),
        (b"[1, 2", "application/ld+json", "application/json"),
        (b'"text"', "application/json", "application/json"),
        (RSS, "text/xml", "application/rss+xml"),
        (RSS, "text/html", "application/rss+xml"),
        (b'<rdf:RDF xmlns:rdf="x">', None, "application/rss+xml"),
        (b'<feed xmlns="http://www.w3.org/2005/Atom">', None, "application/atom+xml"),
        (b'<?xml version="1.0"?><urlset>', "application/xml", "application/xml"),
        (b"<article><p>JATS</p></article>", "application/xml", "application/xml"),
        (b'<svg xmlns="x">', "image/svg+xml", "image/svg+xml"),
        (b"\x89PNG\r\n\x1a\n\0\0", "text/html", "image/png"),
        (b"\xff\xd8\xff\xe0", None, "image/jpeg"),
        (b"RIFF\0\0\0\0WEBPVP8 ", None, "image/webp"),
        (b"\x1f\x8b\x08\0", "text/html", "application/gzip"),
        (b"{\\rtf1 x}", "text/plain", "application/rtf"),
        (b"\0\x01\x02\x03" * 99, "video/unheard-of", "video/unheard-of"),
        (b"\0\x01\x02\x03" * 99, "text/html", "application/octet-stream"),
        (b"\0\x01\x02\x03" * 99, None, "application/octet-stream"),
        (b"BM is how this text begins", None, "text/plain"),
        (b"", "text/html", "text/plain"),
    ],
)
def test_content_comes_first_and_the_declaration_second(head: bytes, declared: str | None, expected: str) -> None:
    assert media_type_of_response(URL, declared, None, head) == expected


def test_documents_are_known_whatever_they_are_called() -> None:
    book = epub([("One", "")])[:HEAD_BYTES]
    zipped = archive({"a.txt": "x"})[:HEAD_BYTES]
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    assert media_type_of_response(URL, "text/html", None, pdf(["x"])[:HEAD_BYTES]) == "application/pdf"
    assert media_type_of_response(URL, "text/html", None, b"\n" * 1000 + b"%PDF-1.4") == "application/pdf"
    assert media_type_of_response(URL, "application/zip", None, book) == "application/epub+zip"
    assert media_type_of_response(URL, "application/pdf", None, zipped) == "application/zip"
    assert media_type_of_response(URL, word, None, zipped) == word


@pytest.mark.parametrize(
    ("url", "declared", "expected"),
    [
        ("https://a.example/README.md?raw=1", "text/plain", "text/markdown"),
        ("https://a.example/t.CSV", None, "text/csv"),
        ("https://a.example/t.csv", "text/html", "text/plain"),
        ("https://a.example/v1.md/x", "text/plain", "text/plain"),
        ("http://[bad", "text/plain", "text/plain"),
    ],
)
def test_the_address_tells_kinds_of_text_apart_that_are_served_as_plain(url: str, declared: str, expected: str) -> None:
    assert media_type_of_response(url, declared, None, b"a, b") == expected


def test_text_of_two_bytes_a_character_needs_a_mark_or_a_declaration() -> None:
    wide = PAGE.decode().encode("utf-16-le")
    assert media_type_of_response(URL, "text/html", "utf-16le", wide) == "text/html"
    assert media_type_of_response(URL, None, None, b"\xff\xfe" + wide) == "text/html"
    assert media_type_of_response(URL, None, None, wide) == "application/octet-stream"


@given(
    st.binary(max_size=300), st.none() | st.text(max_size=30), st.none() | st.text(max_size=12), st.text(max_size=30)
)
def test_no_response_raises(head: bytes, declared: str | None, charset: str | None, url: str) -> None:
    assert media_type_of_response(url, declared, charset, head)
