"""EPUB: the chapters of a book in reading order."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import PurePosixPath

from asky.errors import SourceUnreadable
from asky.reading.limits import MIB
from asky.reading.mupdf import mark_outline, open_document, outline, page_blocks
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import scrub_counted
from asky.values import Document

# Generous for a book, and small for a child that may use 1 GiB.
_MAX_ENTRIES = 2000
_MAX_UNPACKED_BYTES = 100 * MIB
_MAX_RATIO = 100
# Below this any ratio is harmless, and an image of one colour compresses better than 1,000 to 1.
_RATIO_COUNTS_FROM = 10 * MIB
_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_ENCRYPTION_BYTES = 4 * MIB
_METHOD = re.compile(r"<[\w:]*EncryptionMethod\b[^>]*\bAlgorithm\s*=\s*[\"']([^\"']*)")
# These obfuscate fonts only; the text is readable.
_FONT_METHODS = {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
# A page so wide that a paragraph is one line, so that line ends are the book's own.
_SHEET_POINTS = (100_000, 1_000_000)
_FONT_POINTS = 10


def read(data: bytes, name: str) -> Document:
    """Return the text of a book: a line per paragraph, a blank line after it, a section per entry of the contents.

    Books have no pages: those of a reader depend on its screen. Raises SourceUnreadable: too_large (a zip bomb),
    encrypted (DRM), unsupported (another kind of zip), empty, failed.
    """
    _check_archive(data, name)
    with open_document(data, "epub", name) as document:
        document.layout(width=_SHEET_POINTS[0], height=_SHEET_POINTS[1], fontsize=_FONT_POINTS)
        builder = TextBuilder()
        sheets, starts = [], []
        for sheet in document:
            text, invisible = scrub_counted("\n\n".join(page_blocks(sheet)))
            builder.invisible += invisible
            if text and len(builder):
                builder.add("\n\n")
            sheets.append(text)
            starts.append(len(builder))
            builder.add(text)
        mark_outline(builder, list(outline(document)), sheets, starts)
        facts = document.metadata or {}
        return builder.build("application/epub+zip", title=facts.get("title"), metadata={"author": facts.get("author")})


def _check_archive(data: bytes, name: str) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check_entries(entries, len(data), name)
            _check_encryption(archive, name)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
        raise SourceUnreadable(f"{name}: not a readable zip archive ({error})") from None


def _check_entries(entries: Sequence[zipfile.ZipInfo], packed: int, name: str) -> None:
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > _MAX_ENTRIES:
        raise SourceUnreadable(
            f"{name}: {len(entries):,} files in it, the limit is {_MAX_ENTRIES:,}", verdict="too_large"
        )
    if unpacked > _MAX_UNPACKED_BYTES or (unpacked > _RATIO_COUNTS_FROM and unpacked > _MAX_RATIO * packed):
        raise SourceUnreadable(
            f"{name}: unpacks from {packed:,} to {unpacked:,} bytes, which is too much for a book",
            verdict="too_large",
        )
    for entry in entries:
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise SourceUnreadable(f"{name}: a file in it has a path outside the book")
    if any(entry.flag_bits & 1 for entry in entries):
        raise SourceUnreadable(f"{name}: needs a password", verdict="encrypted")
    if not any(entry.filename == _CONTAINER for entry in entries):
        raise SourceUnreadable(
            f"{name}: a zip archive, but not an EPUB ({_CONTAINER} is missing)", verdict="unsupported"
        )


def _check_encryption(archive: zipfile.ZipFile, name: str) -> None:
    if _ENCRYPTION not in archive.namelist():
        return
    with archive.open(_ENCRYPTION) as file:
        methods = _METHOD.findall(file.read(_ENCRYPTION_BYTES).decode("utf-8", "replace"))
    if any(method not in _FONT_METHODS for method in methods):
        raise SourceUnreadable(f"{name}: locked by DRM", verdict="encrypted")
