"""Files of Office before 2007, files behind a password, and others under their names."""

from __future__ import annotations

import struct

import pytest

from asky.errors import SourceUnreadable
from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.reading.formats import may_be_text
from asky.reading.office import old
from asky.reading.office.word import reader as word
from asky.reading.office.word.embedded import files_in
from tests.support.word_files import p, word_file

SECTOR, LEAST = 512, 4096  # bytes of a sector, and of a stream that is not kept in the small one
END, FAT, FREE = 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF


def container(**streams: bytes) -> bytes:
    """An OLE container with streams; an underscore stands for a space."""
    padded = {name.replace("_", " "): data + bytes(-max(len(data), LEAST) % SECTOR) for name, data in streams.items()}
    padded = {name: data + bytes(max(0, LEAST - len(data))) for name, data in padded.items()}
    names = ["Root Entry", *padded]
    directory_sectors = (len(names) + 3) // 4
    table = [FAT, *(n + 2 if n + 1 < directory_sectors else END for n in range(directory_sectors))]
    entries, contents = [], b""
    for place, name in enumerate(names):
        data = padded.get(name, b"")
        start = len(table) if place else END
        table += [len(table) + n + 1 for n in range(len(data) // SECTOR - 1)] + [END] * bool(data)
        contents += data
        coded = name.encode("utf-16-le")
        right = place + 1 if 0 < place < len(names) - 1 else FREE
        child = 1 if not place and padded else FREE
        head = coded.ljust(64, b"\0") + struct.pack("<HBB", len(coded) + 2, 2 if place else 5, 1)
        entries.append(
            head + struct.pack("<III", FREE, right, child) + bytes(36) + struct.pack("<IQ", start, len(data))
        )
    directory = b"".join(entries).ljust(directory_sectors * SECTOR, b"\0")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(10)
    header += struct.pack("<IIIIIIIII", 1, 1, 0, LEAST, END, 0, END, 0, 0) + struct.pack("<I", FREE) * 108
    listed = b"".join(struct.pack("<I", each) for each in table).ljust(SECTOR, b"\xff")
    return header + listed + directory + contents


def refused(data: bytes, name: str) -> tuple[str, str, str | None]:
    with pytest.raises(SourceUnreadable) as raised:
        old.read(data, name)
    return raised.value.verdict, raised.value.message, raised.value.hint


@pytest.mark.parametrize(
    ("stream", "program", "suffix"),
    [
        ("WordDocument", "Word", "docx"),
        ("PowerPoint_Document", "PowerPoint", "pptx"),
    ],
)
def test_an_old_document_is_named_with_a_way_to_convert_it(stream: str, program: str, suffix: str) -> None:
    verdict, message, _ = refused(container(**{stream: b"\xec\xa5"}), "a.doc")
    assert verdict == "unsupported"
    convert = f"soffice --headless --convert-to {suffix} FILE"
    assert message == f"a.doc: in the format of {program} before 2007; convert it: {convert}"


@pytest.mark.parametrize(
    "data",
    [container(EncryptedPackage=b"x", EncryptionInfo=b"y"), container(WordDocument=bytes(11) + b"\x01")],
    ids=["new", "old"],
)
def test_a_file_behind_a_password_is_said_to_be_one(data: bytes) -> None:
    verdict, message, hint = refused(data, "a.doc")
    assert (verdict, message, hint) == ("encrypted", "a.doc: needs a password", "save it without a password")
    with pytest.raises(SourceUnreadable) as raised:
        word.read(data, "a.docx")
    assert raised.value.verdict == "encrypted"


def test_a_damaged_container_is_no_other_error() -> None:
    whole = container(WordDocument=b"\xec\xa5")
    for size in range(8, len(whole), 97):
        for damaged in (whole[:size], whole[:size] + b"\xff" * 40 + whole[size + 40 :]):
            assert refused(damaged, "a.doc")[0] in ("encrypted", "unsupported")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (word_file(p("In a new format.")), "In a new format.\n\n"),
        (b"<html><body><p>A page of the web.</p></body></html>", "A page of the web."),
        (b"digraph { a -> b }", "digraph { a -> b }"),
    ],
)
def test_other_files_with_an_old_suffix_are_read_by_their_content(data: bytes, text: str) -> None:
    assert old.read(data, "folder/a.doc").text.strip() == text.strip()


def test_what_is_no_document_is_refused() -> None:
    assert refused(bytes(range(256)) * 4, "a.doc")[0] == "unsupported"


@pytest.mark.parametrize("name", ["a.doc", "a.DOT", "a.ppt", "a.wps"])
def test_old_suffixes_are_opened_so_that_the_reason_can_be_given(name: str) -> None:
    assert may_be_text(name)
    assert media_type_of(name, container(WordDocument=b"")[:HEAD_BYTES]) == "application/msword"


def native(name: bytes, data: bytes) -> bytes:
    inner = b"\x02\x00" + name + b"\0C:\\" + name + b"\0" + b"\0\0\x03\0" + struct.pack("<I", 4) + b"C:\\\0"
    inner += struct.pack("<I", len(data)) + data
    return struct.pack("<I", len(inner)) + inner


def test_the_files_in_objects_are_found() -> None:
    packed = container(**{"\x01Ole10Native": native(b"notes.txt", b"The rent is 9 francs.")})
    assert files_in(packed, "ole1.bin", "Package") == [("notes.txt", b"The rent is 9 francs.")]
    ((name, data),) = files_in(container(CONTENTS=b"%PDF-1.7"), "ole2.bin", "AcroExch.Document")
    assert (name, data[:8]) == ("ole2.pdf", b"%PDF-1.7")
    sheet = container(Workbook=b"x")
    assert files_in(sheet, "ole3.bin", "Excel.Sheet.8") == [("ole3.xls", sheet)]
    assert files_in(container(Equation_Native=b"x"), "ole4.bin", "Equation.3") == []
    assert files_in(container(**{"\x01Ole10Native": b"\xff" * 40}), "ole5.bin", "Package") == []
