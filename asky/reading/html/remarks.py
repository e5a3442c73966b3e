"""Remarks on the cells of a sheet that LibreOffice saved as a page: lines after the table, and no part of the values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.reading.html.plain import empty
from asky.text.beside.remarks import remark

if TYPE_CHECKING:
    from lxml.html import HtmlElement


def part_remarks(tree: HtmlElement) -> None:
    """Move the `comment` elements of the tables in `tree` after these, each as a line that says it is one.

    They show only where the mouse is on their cell.
    """
    waiting: list[tuple[HtmlElement, str, str]] = []
    for element in list(tree.iter("comment")):
        cell = next(element.iterancestors("td", "th"), None)
        table = next(element.iterancestors("table"), None)
        if cell is None or table is None:
            continue
        said = element.text_content()
        empty(element)
        waiting.append((table, said, cell.text_content()))
    for table, said, about in reversed(waiting):
        line = table.makeelement("p")
        line.text = remark(said, about=about)
        line.tail, table.tail = table.tail, None
        table.addnext(line)
