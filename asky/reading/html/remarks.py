"""Remarks on the cells of a sheet that was saved as a page: lines after the table, and no part of the values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.reading.html.plain import empty
from asky.text.beside.remarks import remark
from asky.text.scrub import one_line

if TYPE_CHECKING:
    from lxml.html import HtmlElement


def part_remarks(tree: HtmlElement) -> None:
    """Move the `comment` elements of the tables in `tree` after these, each as a line that says it is one.

    LibreOffice writes them so, and shows them where the mouse is on their cell.
    """
    waiting: list[tuple[HtmlElement, HtmlElement, str]] = []
    for element in list(tree.iter("comment")):
        cell = next(element.iterancestors("td", "th"), None)
        table = next(element.iterancestors("table"), None)
        if cell is not None and table is not None:
            waiting.append((table, cell, element.text_content()))
            empty(element)
    shown: dict[HtmlElement, str] = {}
    for table, cell, said in reversed(waiting):
        if cell not in shown:
            shown[cell] = one_line(cell.text_content())
        line = table.makeelement("p")
        line.text = remark(said, about=shown[cell])
        line.tail, table.tail = table.tail, None
        table.addnext(line)
