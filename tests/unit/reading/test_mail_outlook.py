"""Messages that Outlook saved."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from asky.errors import SourceUnreadable
from asky.reading.mail.outlook import read
from asky.reading.mail.packed_rtf import unpacked
from asky.reading.text_builder import UNREAD_PARTS
from tests.support.compound_file import compound_file
from tests.support.outlook_message import Value, attached_file, attached_message, message_folder, outlook_message

SUBJECT, BODY, HTML, RTF, SENDER, SMTP, SENT = 0x37, 0x1000, 0x1013, 0x1009, 0x0C1A, 0x5D01, 0x39
TICKS = int((datetime(2026, 3, 2, 8, tzinfo=timezone.utc).timestamp() + 11_644_473_600) * 10_000_000)
ADA: dict[int, Value] = {SUBJECT: "Dock", SENDER: "Ada Byrne", SMTP: "ada@x.test"}
# Source: MS-OXRTFCP, 3.1.1 and 3.1.2: what a writer makes of two texts.
HELLO = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
)
CROSSED = bytes.fromhex("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0")


def test_a_message_has_the_fields_and_texts_that_outlook_shows() -> None:
    recipients: list[dict[int, Value]] = [
        {0x3001: "Bob", 0x39FE: "bob@x.test", 0x0C15: 1},
        {0x3001: "Eve", 0x3003: "/o=Firm/cn=eve", 0x0C15: 2},
    ]
    data = outlook_message({**ADA, BODY: "The dock is long.\r\n"}, times={SENT: TICKS}, recipients=recipients)
    document = read(data, "a.msg")
    assert document.text == (
        "From: Ada Byrne <ada@x.test>\nTo: Bob <bob@x.test>\nCc: Eve\n"
        "Date: Mon, 02 Mar 2026 08:00:00 +0000 (2026-03-02)\n"
        "Subject: Dock\n\nThe dock is long.\n\n"
    )
    assert document.title == "Dock"
    assert document.metadata == {
        "author": "Ada Byrne",
        "published": "2026-03-02",
        "subject": "Dock",
        "from": "Ada Byrne <ada@x.test>",
        "to": "Bob <bob@x.test>",
        "date": "2026-03-02T08:00:00+00:00",
    }


def test_the_header_lines_as_they_were_sent_come_first() -> None:
    headers = "From: Ada Byrne <ada@home.test>\r\nDate: Sun, 1 Mar 2026 09:00:00 +0100\r\nTo: crew@x.test\r\n"
    text = read(outlook_message({**ADA, BODY: "Hi", 0x7D: headers}), "a.msg").text
    assert text.startswith("From: Ada Byrne <ada@home.test>\nTo: crew@x.test\nDate: Sun, 1 Mar 2026 09:00:00 +0100")


def test_html_is_read_if_it_says_more() -> None:
    html = "<p>Größe: 24 metres, at the pier.</p>"
    values: dict[int, Value] = {**ADA, HTML: html.encode("cp1252"), 0x3FDE: 1252}
    assert "Größe: 24 metres" in read(outlook_message(values), "a.msg").text
    assert "\n\nSee HTML.\n" not in read(outlook_message({**values, BODY: "See HTML."}), "a.msg").text


def test_packed_rtf_is_unpacked() -> None:
    assert unpacked(HELLO) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert unpacked(CROSSED) == b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"
    assert unpacked(b"") == unpacked(b"x" * 20) == b""
    assert unpacked(HELLO[:30]).startswith(b"{\\rtf1")


def test_a_text_that_is_only_rtf_is_read_or_named() -> None:
    document = read(outlook_message({**ADA, RTF: HELLO}), "a.msg")
    assert "hello world" in document.text or "RTF" in document.metadata[UNREAD_PARTS]


def test_files_and_messages_in_it_are_read() -> None:
    inner = message_folder(24, {SUBJECT: "Crane", BODY: "It comes at noon.", SENDER: "Leif Aas"})
    small = {"p3712": "logo@x", "p370E": "image/png"}
    data = outlook_message(
        {**ADA, BODY: "See below."},
        attachments=[
            attached_file("plan.txt", b"The plan. " * 900),
            attached_message(inner),
            attached_file("logo.png", b"x", **small),
            attached_file("photo.jpg", b"x" * 20_000),
        ],
    )
    document = read(data, "a.msg")
    assert [each.heading for each in document.sections] == ["Dock", "Attachment: plan.txt", "Attached message: Crane"]
    assert document.text.count("The plan.") == 900
    assert "From: Leif Aas\nSubject: Crane\n\nIt comes at noon." in document.text
    assert document.metadata[UNREAD_PARTS] == "photo.jpg: no reader for it"


def test_what_is_sealed_is_said_to_be_encrypted() -> None:
    with pytest.raises(SourceUnreadable) as raised:
        read(outlook_message({**ADA, 0x1A: "IPM.Note.SMIME"}, attachments=[attached_file("smime.p7m", b"x")]), "a.msg")
    assert raised.value.verdict == "encrypted"


def test_other_compound_files_and_damaged_ones_are_refused() -> None:
    with pytest.raises(SourceUnreadable, match="no mail in it"):
        read(compound_file({"WordDocument": b"x"}), "a.msg")
    whole = outlook_message({**ADA, BODY: "The dock."})
    for size in (8, 100, 512, 600, 1_000, len(whole) - 600):
        with pytest.raises(SourceUnreadable):
            read(whole[:size], "a.msg")


def test_messages_in_messages_end_somewhere() -> None:
    folder = message_folder(24, {SUBJECT: "Innermost", BODY: "Deep."})
    for number in range(30):
        folder = message_folder(24, {SUBJECT: f"At {number}"}, attachments=[attached_message(folder)])
    document = read(outlook_message(ADA, attachments=[attached_message(folder)]), "a.msg")
    assert "too deep within other messages" in document.metadata[UNREAD_PARTS]
