"""What people have noted on a page of a PDF: comments as remarks, typed text as lines of the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.reading.pages.beside.objects import PdfObject, box, get, identity, items, name, said, shown_annotations
from asky.reading.pages.lines import Line
from asky.text.beside.remarks import remark

if TYPE_CHECKING:
    import pymupdf

_MARKED_UP = frozenset({"Highlight", "Underline", "Squiggly", "StrikeOut"})
_COMMENTS = frozenset(
    {"Text", "Stamp", "Caret", "Ink", "Line", "Square", "Circle", "Polygon", "PolyLine", "FileAttachment"} | _MARKED_UP
)
_TAG = re.compile(r"<[^>]*>")
_QUAD = 8
_ABOUT_CHARS = 80


@dataclass(frozen=True, slots=True)
class PageNotes:
    """The remarks on a page in the file's order, the lines typed onto it, how many were not read, and whether
    files are attached to it."""

    remarks: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    unread: int = 0
    has_files: bool = False


def page_notes(page: pymupdf.Page, text_page: pymupdf.TextPage) -> PageNotes:
    """Return what is noted on a page, without hidden notes, marks without words and proposed deletions."""
    remarks: list[str] = []
    lines: list[Line] = []
    words: list[Any] | None = None
    has_files = False
    for note in shown_annotations(page):
        kind = name(get(note, "Subtype"))
        has_files = has_files or kind == "FileAttachment"
        if kind == "FreeText":
            lines += _typed(note, page, len(lines))
        elif kind in _COMMENTS and get(note, "StateModel") is None:
            text = _text(note) or (_drawn_on(note, page) if kind == "Stamp" else "")
            if not text or text in (said(get(note, "FS", "UF")), said(get(note, "FS", "F"))):
                continue
            about = ""
            if (parent := get(note, "IRT")) is not None and identity(parent) != identity(note):
                about = _text(parent)
            elif kind in _MARKED_UP:
                words = text_page.extractWORDS() if words is None else words
                about = _marked_words(note, page, words)
            remarks.append(remark(text, author=said(get(note, "T")), about=about))
    return PageNotes(tuple(filter(None, remarks)), tuple(lines), has_files=has_files)


def _text(note: PdfObject) -> str:
    return said(get(note, "Contents")) or _TAG.sub(" ", said(get(note, "RC")))


def _marked_words(note: PdfObject, page: pymupdf.Page, words: list[Any]) -> str:
    """Return the words whose middle lies in one of the four-cornered areas of a mark."""
    import pymupdf

    corners = [float(pymupdf.mupdf.pdf_to_real(each)) for each in items(get(note, "QuadPoints"))]
    areas = []
    for start in range(0, len(corners) - _QUAD + 1, _QUAD):
        points = [
            pymupdf.Point(corners[at], corners[at + 1]) * page.transformation_matrix
            for at in range(start, start + _QUAD, 2)
        ]
        xs, ys = [point.x for point in points], [point.y for point in points]
        areas.append((min(xs), min(ys), max(xs), max(ys)))
    found: list[str] = []
    for x0, y0, x1, y1, word, *_ in words:
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        if any(left <= x <= right and upper <= y <= lower for left, upper, right, lower in areas):
            found.append(word)
            if sum(map(len, found)) > _ABOUT_CHARS:
                break
    return " ".join(found)


def _typed(note: PdfObject, page: pymupdf.Page, count: int) -> list[Line]:
    """Return the lines of a text that was typed onto the page, where it stands."""
    place = box(note, page)
    texts = [line for line in _text(note).split("\n") if line.strip()]
    if place is None or not texts:
        return []
    x0, y0, x1, y1 = place
    match = re.search(r"(\d+(?:\.\d+)?) +Tf", said(get(note, "DA")))
    size = min(float(match[1]) if match and float(match[1]) else 11.0, max(4.0, (y1 - y0) / len(texts)))
    return [
        Line(
            " ".join(text.split()),
            x0,
            y0 + row * 1.2 * size,
            min(x1, x0 + 0.5 * size * len(text)),
            y0 + (row + 1.2) * size,
            y0 + (row * 1.2 + 0.95) * size,
            size,
            False,
            False,
            -1 - count,
        )
        for row, text in enumerate(texts)
    ]


def _drawn_on(note: PdfObject, page: pymupdf.Page) -> str:
    """Return the words that a stamp shows, else its name."""
    for each in page.annots() or ():
        if each.xref == identity(note):
            shown = " ".join(each.get_text("text").split())
            if shown:
                return shown
    kind = name(get(note, "Name"))
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.removeprefix("SB").removeprefix("#"))
