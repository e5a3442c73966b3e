"""What is stored about mails beside their text: subject, sender, recipients, date, id and thread."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import pytest

from asky.reading.mail.message import read
from asky.reading.mail.outlook import read as read_outlook
from asky.reading.mail.threads import Threads
from asky.reading.mail.values import Mail
from asky.reading.mail.writer import MailWriter
from asky.reading.process.frames import pack_document, unpack_document
from asky.reading.text_builder import TextBuilder
from tests.support.outlook_message import outlook_message

INDEX = bytes(range(22))


def message(number: int, subject: str, *fields: str, body: str = "Text.") -> bytes:
    lines = (
        "From: Ada Byrne <ada@x.test>",
        "To: Bob <bob@x.test>",
        f"Date: Mon, {number} Mar 2026 09:00:00 +0100",
        f"Subject: {subject}",
        f"Message-ID: <{number}@x.test>",
        *fields,
    )
    return "\n".join((*lines, "", body, "")).encode()


def box(*mails: bytes) -> list[Mapping[str, str]]:
    """Return the metadata of the mails in a mailbox."""
    data = b"\n".join(b"From a@x.test Mon Mar  2 09:00:00 2026\n" + each for each in mails)
    return [each.metadata for each in read(data, "a.mbox").sections if each.level == 1]


def test_each_mail_of_a_mailbox_has_its_own() -> None:
    first, second = box(message(2, "Dock"), message(3, "Re: Dock", "In-Reply-To: <2@x.test>"))
    assert first == {
        "subject": "Dock",
        "from": "Ada Byrne <ada@x.test>",
        "to": "Bob <bob@x.test>",
        "date": "2026-03-02T09:00:00+01:00",
        "message_id": "<2@x.test>",
        "thread": "<2@x.test>",
    }
    assert second == {
        **first,
        "subject": "Re: Dock",
        "date": "2026-03-03T09:00:00+01:00",
        "message_id": "<3@x.test>",
        "topic": "Dock",
    }


@pytest.mark.parametrize(
    ("fields", "thread"),
    [
        ((), "<9@x.test>"),
        (("In-Reply-To: <8@x.test>",), "<8@x.test>"),
        (("References: <1@x.test>\n <5@x.test>", "In-Reply-To: <5@x.test>"), "<1@x.test>"),
        (("In-Reply-To: message of Ada <8@x.test>, Monday",), "<8@x.test>"),
        (("In-Reply-To: your message of Monday",), "<9@x.test>"),
        ((f"Thread-Index: {base64.b64encode(INDEX + b'later').decode()}",), INDEX.hex()),
        (("References: <1@x.test>", f"Thread-Index: {base64.b64encode(INDEX).decode()}"), "<1@x.test>"),
        (("Thread-Index: AQ==",), "<9@x.test>"),
    ],
)
def test_the_thread_of_a_mail_is_called_by_its_first_mail(fields: tuple[str, ...], thread: str) -> None:
    document = read(message(9, "Dock", *fields), "a.eml")
    assert document.metadata["thread"] == document.sections[0].metadata["thread"] == thread


def test_answers_that_only_say_what_they_answer_are_in_one_thread() -> None:
    chain = [message(2, "Dock")] + [message(n, f"News {n}", f"In-Reply-To: <{n - 1}@x.test>") for n in range(3, 30)]
    found = box(*reversed(chain))
    assert {each["thread"] for each in found} == {"<2@x.test>"}
    assert {each["topic"] for each in found if each["message_id"] != "<2@x.test>"} == {"Dock"}


def test_a_circle_of_answers_is_one_thread() -> None:
    ring = [message(n, "Dock", f"In-Reply-To: <{2 + (n - 1) % 5}@x.test>") for n in range(2, 7)]
    assert len({each["thread"] for each in box(*ring)}) == 1


def test_a_message_of_outlook_has_the_same() -> None:
    values: dict[int, str | bytes | int] = {
        0x37: "RE: Dock", 0x1000: "Yes.", 0x42: "Ada Byrne", 0x5D02: "ada@x.test", 0x1035: "<3@x.test>", 0x70: "Dock",
    }  # fmt: skip
    alone = read_outlook(outlook_message(values), "a.msg").metadata
    assert (alone["message_id"], alone["thread"], alone["topic"]) == ("<3@x.test>", "<3@x.test>", "Dock")
    for more, thread in [
        ({0x1039: "<1@x.test> <2@x.test>", 0x1042: "<2@x.test>"}, "<1@x.test>"),
        ({0x1042: "<2@x.test>"}, "<2@x.test>"),
        ({0x71: INDEX + b"later"}, INDEX.hex()),
    ]:
        assert read_outlook(outlook_message({**values, **more}), "a.msg").metadata["thread"] == thread


def test_it_survives_the_way_from_the_reader() -> None:
    document = read(message(2, "Dock"), "a.eml")
    assert unpack_document(*pack_document(document)) == document


def test_of_a_mailbox_with_very_many_mails_the_first_have_it() -> None:
    builder = TextBuilder()
    writer = MailWriter(builder, Threads([]))
    for _ in range(4_500):
        many = ", ".join(f"p{n}@x.test" for n in range(200))
        writer.write(Mail({"From": many, "To": many}, "Dock " * 400), "Dock")
    sections = builder.build("message/rfc822").sections
    assert all(len(value) < 420 for value in sections[0].metadata.values())
    assert sections[0].metadata["to"].endswith("@x.test, and 166 more")
    assert not sections[-1].metadata
