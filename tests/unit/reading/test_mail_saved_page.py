"""Web pages that a browser saved in one file."""

from __future__ import annotations

import quopri

import pytest

from asky.errors import SourceUnreadable
from asky.reading.detection import media_type_of
from asky.reading.mail.saved_page import read
from tests.support.mails import joined, part, whole

HEAD = "From: <Saved by Blink>\nSnapshot-Content-Location: https://x.test/ferry\nSubject: Ferry\n"
PAGE = (
    "<html><head><title>Ferry times</title></head><body><h1>Ferry</h1><p>It takes 35 minutes to Skår.</p>"
    "{}</body></html>"
)
CODED = "Content-Transfer-Encoding: quoted-printable\n"


def html(
    text: str, address: str = "https://x.test/ferry", content: str = "text/html", encoding: str = "utf-8"
) -> bytes:
    fields = f"{CODED}Content-Location: {address}\nContent-ID: <{address[-5:]}@x>\n"
    return part(quopri.encodestring(text.encode(encoding)), content, fields)


def saved(*parts: bytes, more: str = "") -> bytes:
    return whole(joined(*parts, kind="related", more=more), head=HEAD)


def test_the_page_is_read_and_not_its_encoding() -> None:
    style = part("p {color: red}", "text/css", "Content-ID: <css@x>\n")
    document = read(saved(html(PAGE.format('<a href="/fares">Fares of the ferry</a>')), style), "a.mhtml")
    assert "It takes 35 minutes to Skår." in document.text
    assert "color" not in document.text
    assert document.title == "Ferry times"
    assert [section.heading for section in document.sections] == ["Ferry"]
    assert [link.url for link in document.links] == ["https://x.test/fares"]


def test_the_charset_of_the_part_counts() -> None:
    page = html(PAGE.format(""), content="text/html; charset=windows-1252", encoding="cp1252")
    assert "to Skår." in read(saved(page), "a.mht").text


def test_the_frames_come_after_the_page() -> None:
    frame = html("<title>News</title><p>The pier is closed on Monday for repairs.</p>", "https://x.test/frame")
    document = read(saved(frame, html(PAGE.format("")), html("<p> </p>", "https://x.test/empty")), "a.mhtml")
    assert document.text.index("35 minutes") < document.text.index("The pier is closed")
    assert "News" in [section.heading for section in document.sections]


def test_the_file_says_which_part_is_the_page() -> None:
    other = html("<p>Another page of the site.</p>", "https://x.test/other")
    data = saved(other, html(PAGE.format(""), "https://x.test/start"), more='; start="<start@x>"').replace(
        b"/ferry", b"/none"
    )
    assert read(data, "a.mhtml").text.startswith("Ferry")


def test_a_page_without_text_and_a_file_without_a_page_are_said() -> None:
    with pytest.raises(SourceUnreadable, match="no visible text"):
        read(saved(html("<p></p>")), "a.mhtml")
    with pytest.raises(SourceUnreadable, match="no page in it"):
        read(saved(part("x", "text/css")), "a.mhtml")


def test_saved_pages_are_known_by_their_suffix() -> None:
    assert media_type_of("page.mhtml", b"From: <Saved by Blink>\n") == "multipart/related"
    assert media_type_of("page.mht", b"From: <Saved by Blink>\n") == "multipart/related"
    assert media_type_of("page.webarchive", b"bplist00") is None
