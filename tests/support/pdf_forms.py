"""PDFs with fields, notes and files in them, made for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pymupdf

Box = tuple[float, float, float, float]


Draw = Callable[[pymupdf.Page], object]
Change = Callable[[pymupdf.Document], object]


def pdf_page(draw: Draw, change: Change | None = None) -> bytes:
    """A PDF of one page (595 by 842 points) as `draw` leaves it; then the file as `change` does."""
    with pymupdf.open() as document:
        draw(document.new_page(width=595, height=842))
        data: bytes = document.tobytes(no_new_id=True)
    if change is None:
        return data
    with pymupdf.open("pdf", data) as document:
        change(document)
        return bytes(document.tobytes(no_new_id=True))


def add_field(page: pymupdf.Page, kind: int, name: str, box: Box, value: object = None, **facts: object) -> None:
    """Add a field of one of PyMuPDF's kinds to a page."""
    widget = pymupdf.Widget()
    widget.field_type, widget.field_name, widget.rect = kind, name, pymupdf.Rect(box)
    for key, each in facts.items():
        setattr(widget, key, each)
    if value is not None:
        widget.field_value = value
    page.add_widget(widget)


def draw_grid(page: pymupdf.Page, xs: Sequence[float], ys: Sequence[float]) -> None:
    """Draw a line at each x and y."""
    for x in xs:
        page.draw_line((x, ys[0]), (x, ys[-1]))
    for y in ys:
        page.draw_line((xs[0], y), (xs[-1], y))
