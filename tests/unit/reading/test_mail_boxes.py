"""Files of mails: mailboxes, messages of Apple Mail, files whose name says nothing."""

from __future__ import annotations

import time

import pytest

from asky.reading.detection import media_type_of
from asky.reading.mail.boxes import messages_in
from asky.reading.mail.message import read
from tests.support.mails import mail

LINE = b"From ada@x.test Mon Mar  2 09:00:00 2026\n"
ONE, TWO = mail("First.\n"), mail("Second.\n")


@pytest.mark.parametrize(
    "line",
    [
        b"From ada@x.test Mon Mar  2 09:00:00 2026",
        b"From - Mon Mar 02 09:00:00 2026",
        b"From 1700000000000000000@xxx Mon Mar 02 09:00:00 +0000 2026",
        b"From MAILER-DAEMON Fri Jul  8 12:08:34 2011",
        b'From "Ada Byrne" Mon, 2 Mar 2026 09:00:00 +0100',
        b"From ada@x.test 2026-03-02T09:00:00",
        b"From ",
        b"From - ",
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_messages_are_parted_by_the_lines_that_programs_write(line: bytes, end: bytes) -> None:
    box = b"".join(line + b"\n" + each + b"\n" for each in (ONE, TWO)).replace(b"\n", end)
    assert len(messages_in(box, "a.mbox")) == 2
    assert "Second." in read(box, "a.mbox").text


@pytest.mark.parametrize(
    "text",
    [
        "From here it is far.\nTo: nobody\n",
        "\nFrom Monday on we are closed.\nNote: yes\n",
        "\nFrom Mon Mar 2 on, we are closed.\n\nAda\n",
        "x\nFrom ada@x.test Mon Mar  2 09:00:00 2026\nSubject: no\n",
    ],
)
def test_other_lines_that_begin_so_part_nothing(text: str) -> None:
    assert len(messages_in(LINE + mail(text) + b"\n" + LINE + TWO, "a.mbox")) == 2


def test_what_the_mailbox_added_before_from_is_left_out() -> None:
    text = read(LINE + mail("Go.\n\n>From here it is far.\n>>From quoted.\n"), "a.mbox").text
    assert "\nFrom here it is far.\n" in text
    assert ">From here" not in text


def test_a_stated_length_is_not_believed() -> None:
    box = b"".join(LINE + mail("Text.\n", fields="Content-Length: 99999\n") + b"\n" for _ in range(3))
    assert len(messages_in(box, "a.mbox")) == 3


def test_one_message_may_begin_like_a_mailbox() -> None:
    document = read(LINE + ONE, "a.eml")
    assert (document.title, document.metadata["published"]) == ("Dock", "2026-03-02")


@pytest.mark.parametrize("length", [len(ONE), 5, 10**9])
def test_a_message_of_apple_mail_ends_before_its_property_list(length: int) -> None:
    plist = b'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist>\n<plist version="1.0"><dict/></plist>\n'
    document = read(b"%d\n" % length + ONE + plist, "1234.emlx")
    assert document.text.endswith("First.\n\n")
    assert document.title == "Dock"


@pytest.mark.parametrize(
    ("name", "head", "wanted"),
    [
        (
            "1712345678.M1P2.host,S=99:2,S",
            b"Return-Path: <a@x>\nReceived: by x\nDate: y\nSubject: z\n\nHi",
            "message/rfc822",
        ),
        ("Inbox", LINE + b"X-Mozilla-Status: 0001\nDate: y\nFrom: a\nMessage-ID: <1>\n\nHi", "message/rfc822"),
        ("Sent", b"From \nX-Mozilla-Status: 0001\nDate: y\nFrom: a\n\nHi", "message/rfc822"),
        ("note", b"From: me\nTo: you\nSubject: a\n\nNo program wrote this.", "text/plain"),
        ("note", b"Date: today\nWeather: fine\n\nReceived: a letter", "text/plain"),
        ("note", b"From here on\n", "text/plain"),
        ("a.txt", b"Return-Path: <a@x>\nReceived: by x\nDate: y\nSubject: z\n\nHi", "text/plain"),
    ],
)
def test_mails_whose_name_says_nothing_are_known_by_their_fields(name: str, head: bytes, wanted: str) -> None:
    assert media_type_of(name, head) == wanted


def test_a_mailbox_of_thousands_takes_linear_time() -> None:
    def seconds(count: int) -> float:
        data = (LINE + mail("It is far.\n" * 40) + b"\n") * count
        began = time.process_time()
        read(data, "a.mbox")
        return time.process_time() - began

    seconds(10)
    assert seconds(2_000) < 4
