"""EPUB: the chapters of a book in reading order."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from asky.errors import SourceUnreadable
from asky.reading.epub_package import package_metadata
from asky.reading.limits import MIB
from asky.reading.mupdf import mark_outline, open_document, outline, page_blocks
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line, scrub_counted
from asky.values import Document, Section

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
# A title page stands within this; Project Gutenberg puts a licence of 1,000 characters before it.
_TITLE_PAGE_CHARS = 3_000
_NAME = re.compile(r"[^\W\d_]{3,}")  # in any order and without initials: "Crane, Thomas" is Thomas Crane
TITLE_LINES = "Title and authors"
"""The heading of the section, of level 0, with what the text lacks of its own title page."""


def read(data: bytes, name: str) -> Document:
    """Return the text of a book: a line per paragraph, a blank line after it, a section per entry of the contents.

    Books have no pages: those of a reader depend on its screen. If the first pages do not name the book and its
    authors, the text begins with a line for each, from the package, so that an answer can cite them. The metadata is
    the package's. Raises SourceUnreadable: too_large (a zip bomb), encrypted (DRM), unsupported (another kind of zip),
    empty, failed.
    """
    _check_archive(data, name)
    package = package_metadata(data)
    with open_document(data, "epub", name) as document:
        document.layout(width=_SHEET_POINTS[0], height=_SHEET_POINTS[1], fontsize=_FONT_POINTS)
        builder = TextBuilder()
        sheets = []
        for sheet in document:
            text, invisible = scrub_counted("\n\n".join(page_blocks(sheet)))
            builder.invisible += invisible
            sheets.append(text)
        facts = {key: value for key in ("title", "author") if (value := (document.metadata or {}).get(key))}
        metadata: dict[str, str | None] = {**facts, **package}
        title = metadata.pop("title", None)
        has_text = any(text.strip() for text in sheets)
        lines = _title_lines(title, metadata.get("author"), "\n".join(sheets)[:_TITLE_PAGE_CHARS]) if has_text else ""
        builder.add(lines)
        starts = []
        for text in sheets:
            if text and len(builder):
                builder.add("\n\n")
            starts.append(len(builder))
            builder.add(text)
        # A cover that is a picture has no text, and so no section.
        entries = [entry for entry in outline(document) if sheets[entry[2]].strip()]
        mark_outline(builder, entries, sheets, starts)
        book = builder.build("application/epub+zip", title=title, metadata=metadata)
        own = (Section(TITLE_LINES, 0, 0, len(lines)),) if lines else ()
        return replace(book, sections=own + book.sections)


def _title_lines(title: str | None, author: str | None, beginning: str) -> str:
    """Return the title, and the authors after "by", one below the other; empty if `beginning` names both."""
    names = author.split("; ") if author else []
    is_titled = not title or _letters(title) in _letters(beginning)
    first_page = beginning.casefold()
    is_signed = not names or all(word in first_page for word in _NAME.findall(names[0].casefold()))
    if is_titled and is_signed:
        return ""
    parts = [one_line(title)] if title else []
    return "\n".join([*parts, *([f"by {one_line(', '.join(names))}"] if names else [])])


def _letters(text: str) -> str:
    """Return the letters and digits of `text`, casefolded."""
    return re.sub(r"[\W_]+", "", text).casefold()


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
