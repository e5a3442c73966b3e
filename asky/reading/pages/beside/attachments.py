"""The files within a PDF: attached to it, to a place on a page, or gathered in it as a portfolio."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING

from asky.reading.embedded.file import add_file
from asky.reading.limits import MIB
from asky.reading.mupdf import mupdf_errors, refuse_memory_errors
from asky.reading.pages.beside.objects import PdfObject, get, identity, items, name, root, said, shown_annotations
from asky.reading.text_builder import TextBuilder

if TYPE_CHECKING:
    import pymupdf

MAX_FILES = 100
"""The most files within a PDF, and those within them, that are read."""
_MAX_BYTES = 64 * MIB
_MAX_OPAQUE = 256 * 1024  # of a stream that is packed otherwise than by Flate: its size is known only afterwards
_MAX_NODES = 10_000
_left = ContextVar("_left", default=(MAX_FILES, _MAX_BYTES))


def is_portfolio(document: pymupdf.Document) -> bool:
    """Return whether a PDF is a cover sheet round other files, which programs show in its place."""
    collection = get(root(document), "Collection")
    return collection is not None and name(get(collection, "View")) != "H" and document.page_count == 1


def add_attachments(builder: TextBuilder, document: pymupdf.Document, pages: Sequence[int]) -> int:
    """Add the files within a PDF, each under a heading, and return how many there are.

    `pages` are those, from 0, to which files are attached. What is not read is named by `builder.skip`: files of other
    kinds, too deep, too many or too large. They share one limit with the files within them, so that a file within
    itself costs little.
    """
    seen: set[int] = set()
    count = 0
    token = _left.set(_left.get())
    try:
        for file in _files(document, pages):
            stream = next((each for key in ("UF", "F", "DOS", "Unix") if (each := get(file, "EF", key))), None)
            if stream is None or (number := identity(stream)) in seen or not number:
                continue
            seen.add(number)
            count += 1
            _add(builder, document, number, stream, _file_name(file, count))
    finally:
        left = _left.get()
        _left.reset(token)
        if _left.get() != (MAX_FILES, _MAX_BYTES):
            _left.set(left)  # within another file: what was used here is missing there
    return count


def _add(builder: TextBuilder, document: pymupdf.Document, number: int, stream: PdfObject, title: str) -> None:
    files, size = _left.get()
    if files <= 0:
        builder.skip(title, f"more than {MAX_FILES} files within files")
        return
    try:
        data = unpacked(document, number, stream, size)
    except zlib.error:
        builder.skip(title, "damaged")
        return
    except mupdf_errors() as error:
        refuse_memory_errors(error)
        builder.skip(title, "damaged")
        return
    if data is None:
        builder.skip(title, "too large")
        return
    _left.set((files - 1, size - len(data)))
    add_file(builder, data, title)


def unpacked(document: pymupdf.Document, number: int, stream: PdfObject, most: int) -> bytes | None:
    """Return the bytes of a file; `None` if they are more than `most`."""
    filters = [name(each) for each in items(get(stream, "Filter"))] or [name(get(stream, "Filter"))]
    raw: bytes = document.xref_stream_raw(number)
    if all(each in ("FlateDecode", "Fl", "") for each in filters) and get(stream, "DecodeParms") is None:
        for each in filters:
            if each:
                packed = zlib.decompressobj()
                raw = packed.decompress(raw, most + 1)
        return raw if len(raw) <= most else None
    if len(raw) > _MAX_OPAQUE:
        return None
    data: bytes = document.xref_stream(number)
    return data if len(data) <= most else None


def _files(document: pymupdf.Document, pages: Sequence[int]) -> Iterator[PdfObject]:
    """Yield the descriptions of the files: those of the whole PDF, then those on its pages, in the file's order."""
    yield from _in_tree(get(root(document), "Names", "EmbeddedFiles"), set())
    yield from items(get(root(document), "AF"))
    for number in pages:
        for note in shown_annotations(document.load_page(number)):
            if name(get(note, "Subtype")) == "FileAttachment" and (file := get(note, "FS")) is not None:
                yield file


def _in_tree(node: PdfObject | None, seen: set[int]) -> Iterator[PdfObject]:
    """Yield the values of a name tree in order; each node once."""
    waiting = [node]
    while waiting and len(seen) < _MAX_NODES:
        current = waiting.pop()
        if current is None or (number := identity(current)) in seen:
            continue
        if number:
            seen.add(number)
        yield from list(items(get(current, "Names")))[1::2]
        waiting += reversed(list(items(get(current, "Kids"))))


def _file_name(file: PdfObject, number: int) -> str:
    full = said(get(file, "UF")) or said(get(file, "F")) or said(get(file, "Desc"))
    last = re.split(r"[/\\]", full)[-1]
    return " ".join(last.split())[:200] or f"attachment {number}"
