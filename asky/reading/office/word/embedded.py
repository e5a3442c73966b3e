"""Objects that other programs have put into a document: the files in them."""

from __future__ import annotations

import io
import struct
from dataclasses import replace

from asky.reading.embedded.file import add_file
from asky.reading.formats import format_of
from asky.reading.office.old import OLE_MAGIC
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_PACKAGES = {"word.document": "docx", "word.template": "dotx", "excel.sheet": "xlsx", "powerpoint.show": "pptx"}
_STREAMS = (("WordDocument", "doc"), ("Workbook", "xls"), ("Book", "xls"), ("PowerPoint Document", "ppt"))
_NATIVE = "\x01Ole10Native"
_CONTENTS = ("CONTENTS", "Package")
_MAX_NAME = 260


def files_in(data: bytes, name: str, program: str) -> list[tuple[str, bytes]]:
    """Return the names and bytes of the files in an object; none if it holds the data of a program that nobody knows.

    `name` is that of the part, and `program` the name of the program in the document, such as `Excel.Sheet.12`.
    """
    if not data.startswith(OLE_MAGIC):
        return [(name, data)] if not name.endswith(".bin") else [(_named(name, data, program), data)]
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            return _contained(container, data, name, program)
    except Exception:  # noqa: BLE001 - the library raises whatever a damaged container makes it meet
        return []


def _contained(container: object, data: bytes, name: str, program: str) -> list[tuple[str, bytes]]:
    exists, opened = container.exists, container.openstream  # type: ignore[attr-defined]
    if exists(_NATIVE):
        return _native(opened(_NATIVE).read())
    for stream in _CONTENTS:
        if exists(stream):
            inner = opened(stream).read()
            return [(_named(name, inner, program), inner)]
    for stream, suffix in _STREAMS:
        if exists(stream):
            return [(f"{name.rpartition('.')[0]}.{suffix}", data)]
    return []


def _native(data: bytes) -> list[tuple[str, bytes]]:
    """Return the file in an `Ole10Native` stream: sizes, label, two paths, and the bytes."""
    label, _, rest = data[6:].partition(b"\0")
    _, _, rest = rest.partition(b"\0")
    if len(rest) < 8:
        return []
    (path_size,) = struct.unpack_from("<I", rest, 4)
    if path_size > len(rest) - 12:
        return []
    (size,) = struct.unpack_from("<I", rest, 8 + path_size)
    inner = rest[12 + path_size : 12 + path_size + size]
    name = label[:_MAX_NAME].decode("utf-8", "replace").replace("\\", "/").rpartition("/")[2]
    return [(name or "object", inner)] if inner else []


def _named(name: str, data: bytes, program: str) -> str:
    stem = name.rpartition(".")[0] or name
    if data.startswith(b"%PDF-"):
        return f"{stem}.pdf"
    lower = program.lower()
    return next((f"{stem}.{suffix}" for start, suffix in _PACKAGES.items() if lower.startswith(start)), name)


def inserted(data: bytes, name: str) -> Document:
    """Return the text of a file that is shown as a part of a document: without the heading of an attachment."""
    builder = TextBuilder()
    known = name if format_of(name) is not None else f"{name.partition('.')[0]}.doc"  # which is told by its content
    add_file(builder, data, known, level=0)
    whole = builder.build("")
    start = whole.text.find("\n\n") + 2 if whole.sections else 0
    sections = tuple(
        replace(each, start=each.start - start, end=each.end - start) for each in whole.sections if each.start >= start
    )
    return replace(whole, text=whole.text[start:], sections=sections)
