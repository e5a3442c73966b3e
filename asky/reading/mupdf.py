"""PyMuPDF helpers shared by the modules that read PDFs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
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
    import pymupdf  # 0.1 s: only if a PDF is read

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
