"""Markup languages and mail."""

from __future__ import annotations

import pytest

from asky.reading.mail import message as mail
from asky.reading.markup import markup_text


@pytest.mark.parametrize(
    ("name", "text", "headings"),
    [
        ("a.rst", "Mills\n=====\n\nOld\n---\n\ntext\n\nNew\n---\n", [(1, "Mills"), (2, "Old"), (2, "New")]),
        ("a.org", "#+TITLE: All mills\n* Mills\n** Old\ntext\n", [(1, "Mills"), (2, "Old")]),
        ("a.tex", "\\section{Mills}\ntext\n\\subsection*{Old}\n", [(3, "Mills"), (4, "Old")]),
        ("a.adoc", "= Mills\n\n== Old\n", [(1, "Mills"), (2, "Old")]),
    ],
)
def test_headings_of_markup_languages_are_sections(name: str, text: str, headings: list[tuple[int, str]]) -> None:
    document = markup_text.read(text.encode(), name)
    assert document.text == text
    assert [(section.level, section.heading) for section in document.sections] == headings


def test_latex_and_org_say_who_wrote_what() -> None:
    document = markup_text.read(b"\\title{On Mills}\n\\author{Ada Byrne}\n\\section{One}\n", "a.tex")
    assert (document.title, document.metadata["author"]) == ("On Mills", "Ada Byrne")
    assert markup_text.read(b"#+TITLE: Mills\n* One\n", "a.org").title == "Mills"


MESSAGE = (
    b"From: Ada Byrne <ada@x.test>\r\nTo: bob@x.test\r\nDate: Fri, 01 Mar 2024 10:00:00 +0000\r\n"
    b"Subject: =?utf-8?q?The_m=C3=BChle?=\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nIt burned.\r\n"
)


def test_a_mail_has_its_headers_above_its_text() -> None:
    document = mail.read(MESSAGE, "a.eml")
    assert document.text.startswith(
        "From: Ada Byrne <ada@x.test>\nTo: bob@x.test\nDate: Fri, 01 Mar 2024 10:00:00 +0000\n"
        "Subject: The mühle\n\nIt burned."
    )
    assert document.title == "The mühle"
    assert (document.metadata["author"], document.metadata["published"]) == ("Ada Byrne", "2024-03-01")


def test_a_mailbox_has_a_section_for_each_message() -> None:
    box = b"From ada Fri Mar  1\n" + MESSAGE + b"\nFrom bob Sat Mar  2\nSubject: Two\n\nSecond.\n"
    document = mail.read(box, "a.mbox")
    assert [section.heading for section in document.sections] == ["The mühle", "Two"]
    assert "Second." in document.text


def test_html_mail_is_read_as_text_and_attachments_are_named_only() -> None:
    data = (
        b'Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'
        b"--b\nContent-Type: text/html\n\n"
        b"<p>It <b>burned</b> in 1911, all of it.</p>\n--b\nContent-Type: application/pdf\n"
        b'Content-Disposition: attachment; filename="plan.pdf"\n\n%PDF-secret\n--b--\n'
    )
    text = mail.read(data, "a.eml").text
    assert "It burned in 1911" in text
    assert "Attachments: plan.pdf" in text
    assert "secret" not in text


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe\x00", b"Subject: \xff\nContent-Type: text/plain; charset=nope\n\nHi \xff"]
)
def test_a_broken_mail_is_read_as_far_as_it_goes(data: bytes) -> None:
    assert mail.read(data, "a.eml").media_type == "message/rfc822"
