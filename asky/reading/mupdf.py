"""PyMuPDF helpers shared by the PDF and the EPUB reader."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from asky.errors import SourceUnreadable
from asky.reading.raised.exponents import spelled
from asky.reading.raised.shifts import may_be_shifted, shifts_in
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line

if TYPE_CHECKING:
    import pymupdf

_MAX_LEVEL = 32
_TITLE_CHARS = 200


@contextmanager
def open_document(data: bytes, filetype: str, name: str) -> Iterator[pymupdf.Document]:
    """Open a document, and close it afterwards.

    Raises SourceUnreadable: encrypted if it requires a password, failed if MuPDF cannot read it.
    """
    import pymupdf  # 0.1 s: only if a PDF or EPUB is read

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        with pymupdf.open(stream=data, filetype=filetype) as document:
            if document.needs_pass:
                raise SourceUnreadable(f"{name}: needs a password", verdict="encrypted")
            yield document
    except mupdf_errors() as error:
        raise _unreadable(error, filetype, name) from None
    finally:
        pymupdf.TOOLS.store_shrink(100)


def mupdf_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that PyMuPDF raises for an unreadable file: the library's and its own."""
    import pymupdf

    return pymupdf.mupdf.FzErrorBase, RuntimeError, ValueError


def refuse_memory_errors(error: Exception) -> None:
    """Raise MemoryError if MuPDF ran out of memory: the file is not at fault and must not be read in part."""
    if "alloc" in str(error):
        raise MemoryError from error


def _unreadable(error: Exception, filetype: str, name: str) -> SourceUnreadable:
    refuse_memory_errors(error)
    reason = one_line(str(error)) or type(error).__name__
    return SourceUnreadable(f"{name}: not a readable {filetype.upper()} ({reason})")


def page_blocks(page: pymupdf.Page) -> list[str]:
    """Return the page's text blocks in file order, with line ends kept, without blank ones; exponents are `^...`.

    Ligatures are spelled out (`ﬁ` becomes `fi`), so that a word search finds them. A glyph without a known character is
    U+FFFD, not a guess. Text outside the page's box is left out. Hyphens at line ends stay.
    """
    import pymupdf

    flags = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
    text_page = page.get_textpage(flags=flags)
    if not may_be_shifted(text_page.extractHTML()):
        blocks = [text for *_, text, _, kind in text_page.extractBLOCKS() if kind == 0]
    else:
        blocks = [_spelled(block) for block in text_page.extractDICT()["blocks"] if block["type"] == 0]
    return [text.strip("\n") for text in blocks if text.strip()]


def _spelled(block: Mapping[str, Any]) -> str:
    shifted = shifts_in([block])
    texts = ["".join(span["text"] for span in line["spans"]) for line in block["lines"]]
    return "\n".join(
        spelled(text, shifted[number][1], {}) if number in shifted else text for number, text in enumerate(texts)
    )


def outline(document: pymupdf.Document) -> Iterator[tuple[int, str, int]]:
    """Yield the outline's entries that lead to a page, in order: level from 1, title, page index from 0.

    A damaged outline yields none: the text can be read without it.
    """
    try:
        entries = document.get_toc(simple=True)
    except mupdf_errors() as error:
        refuse_memory_errors(error)
        return
    for level, title, number, *_ in entries:
        if 1 <= number <= document.page_count:
            yield min(level, _MAX_LEVEL), title, number - 1


def mark_outline(
    builder: TextBuilder, entries: Sequence[tuple[int, str, int]], pages: Sequence[str], starts: Sequence[int]
) -> None:
    """Mark the outline's titles as headings: at their position on the page, else at the page's start.

    `pages` are the pages' texts and `starts` the offsets at which they were added.
    """
    after: dict[int, int] = {}  # per page: the start of its last title, so that equal titles are distinguished
    for level, title, number in entries:
        found = find_title(pages[number], title, after.get(number, 0))
        if found is None:
            found = find_title(pages[number], title, 0) or 0
        after[number] = min(found + 1, len(pages[number]))
        builder.mark_heading(title, level, starts[number] + found)


def find_title(text: str, title: str, start: int) -> int | None:
    """Return the position of `title` in `text[start:]`, ignoring case and white space; `None` if it is not there.

    A separate line, possibly numbered, is preferred to the start of a line, and that to any other position.
    """
    words = title[:_TITLE_CHARS].split()
    if not words:
        return None
    spaced = r"\s+".join(re.escape(word) for word in words)
    numbered = rf"^[ \t]*(?:(?:\d+|[IVXLC]+|[A-Z])(?:\.\d+)*\.?[ \t]*\n?[ \t]*)?{spaced}"
    for pattern in (rf"{numbered}[ \t]*$", numbered, spaced):
        if found := re.compile(pattern, re.MULTILINE | re.IGNORECASE).search(text, start):
            return found.start()
    return None
