"""Slides of OpenDocument: title, shapes, footers, notes and remarks of each page, which is a section."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asky.reading.office.odf.names import DRAW, SLIDE
from asky.reading.office.odf.text import OpenText

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_MARGINS = {"footer": "footer-decl", "date-time": "date-time-decl", "header": "header-decl"}
_NOT_WITHIN = (*_MARGINS, "page-number", "placeholder")


class OpenSlides:
    """Writes the pages of a presentation or a drawing, one after the other."""

    def __init__(self, body: Element, text: OpenText) -> None:
        self._body = body
        self._text = text
        self._declared = {
            (kind, each.get(f"{SLIDE}name", "")): " ".join("".join(each.itertext()).split())
            for kind, tag in _MARGINS.items()
            for each in body.iterchildren(f"{SLIDE}{tag}")
        }
        self._on_margins: set[str] = set()
        self.title = ""  # of the presentation: what its first page shows, if that is a title slide

    def write(self) -> None:
        """Write all pages."""
        for number, page in enumerate(self._body.iterchildren(f"{DRAW}page"), start=1):
            self._page(page, number)

    def _page(self, page: Element, number: int) -> None:
        blocks = self._text.blocks
        head = next((each for each in page.iter(f"{DRAW}frame", f"{DRAW}custom-shape") if _kind(each) == "title"), None)
        title = " ".join(self._text.written(head).split()) if head is not None else ""
        if number == 1 and any(_kind(each) == "subtitle" for each in page.iterchildren(f"{DRAW}frame")):
            self.title = title
        style = page.get(f"{DRAW}style-name", "")
        is_hidden = self._text.styles.is_hidden("drawing-page", style)
        heading = f"{title or f'Slide {number}'}{' (hidden slide)' if is_hidden else ''}"
        blocks.builder.start_page(None)
        if title or is_hidden:
            blocks.heading(heading, 1)
        else:
            blocks.builder.mark_heading(heading, 1)
        notes = None
        for shape in page:
            if shape.tag == f"{SLIDE}notes":
                notes = shape
            elif shape is not head and isinstance(shape.tag, str) and _kind(shape) not in _NOT_WITHIN:
                self._text.write_one(shape)
        for line in self._margins(page, style):
            if line not in self._on_margins:
                self._on_margins.add(line)
                blocks.paragraph(line)
        if notes is not None and (said := self._notes(notes)):
            blocks.paragraph(f"Notes: {said}")
        for line in self._text.remarks():
            blocks.item(line)
        blocks.close()

    def _margins(self, page: Element, style: str) -> Iterator[str]:
        """Yield what the page shows on its margins: shapes of its own, or declared headers, footers and dates."""
        for shape in page.iterchildren(f"{DRAW}frame", f"{DRAW}custom-shape"):
            if _kind(shape) in _MARGINS:
                yield from filter(None, self._text.written(shape).split("\n"))
        for kind in _MARGINS:
            text = self._declared.get((kind, page.get(f"{SLIDE}use-{kind}-name", "")), "")
            if text and self._text.styles.property("drawing-page", style, f"{SLIDE}display-{kind}") == "true":
                yield text

    def _notes(self, notes: Element) -> str:
        lines = [
            self._text.written(each)
            for each in notes
            if isinstance(each.tag, str) and (_kind(each) == "notes" or not _kind(each)) and each.tag != _THUMBNAIL
        ]
        return "\n".join(line for line in lines if line)


_THUMBNAIL = f"{DRAW}page-thumbnail"


def _kind(shape: Element) -> str:
    """Return what a shape stands for: "title", "outline", "notes"; "" for an empty place and for other shapes."""
    if shape.get(f"{SLIDE}placeholder") == "true":
        return "placeholder"
    return str(shape.get(f"{SLIDE}class", ""))
