"""Files within files: each by its own reader, to a depth, in a share of the time of the file that holds them."""

from __future__ import annotations

import base64
import time

from asky.reading.embedded.file import FileReader, add_file
from asky.reading.mail.message import read
from asky.reading.text_builder import UNREAD_PARTS, TextBuilder
from tests.support.mails import joined, mail, part, whole

NAMED = 'Content-Disposition: attachment; filename="{}"\n'


def unread(builder: TextBuilder) -> str:
    return builder.build("text/plain").metadata.get(UNREAD_PARTS, "")


def test_a_file_is_read_below_its_name() -> None:
    builder = TextBuilder()
    builder.add("Above.\n\n")
    add_file(builder, b"# Plan\n\nThe dock.\n", "plan.md", level=2)
    document = builder.build("text/plain")
    assert document.text == "Above.\n\nAttachment: plan.md\n\n# Plan\n\nThe dock.\n\n\n"
    assert [(each.level, each.heading) for each in document.sections] == [(2, "Attachment: plan.md"), (3, "Plan")]


def test_what_cannot_be_read_is_named_with_the_reason() -> None:
    builder = TextBuilder()
    add_file(builder, b"x", "photo.jpg")
    add_file(builder, b"", "empty.txt")
    add_file(builder, b"%PDF-1.4 broken", "plan.pdf")
    assert unread(builder).startswith("photo.jpg: no reader for it; empty.txt: no text in it; plan.pdf: ")


def test_files_get_no_more_time_and_text_than_they_have_together() -> None:
    slow = ("<p>word " + "<table><tr><td>x" * 60).encode() * 4_000
    builder, reader = TextBuilder(), FileReader(cpu_s=0.3)
    began = time.process_time()
    assert reader.add(builder, slow, "slow.html") is None
    assert reader.add(builder, b"Later.", "later.txt") is None
    assert time.process_time() - began < 5
    assert unread(builder).startswith("slow.html: reading it takes too long; later.txt: the files before it took")
    reader = FileReader(chars=10)
    assert reader.add(builder, b"Ten words. and more", "long.txt") is None
    assert reader.add(builder, b"Five.", "short.txt") is not None


def test_files_are_read_to_a_depth() -> None:
    data = mail("The innermost.")
    for number in range(6):
        fields = f"{NAMED.format(f'{number}.mbox')}Content-Transfer-Encoding: base64\n"
        data = whole(joined(part(base64.encodebytes(data), "application/octet-stream", fields)))
    document = read(data, "a.mbox")
    assert document.metadata[UNREAD_PARTS] == "2.mbox: too deep within other files"
