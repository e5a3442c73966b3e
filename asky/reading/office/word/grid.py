"""Tables of Word: which cells are there, and what they cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.reading.office.word.names import W, elements, number, switch, value
from asky.reading.office.word.styles import WordStyles
from asky.reading.office.word.tree import WordBlock, WordCell, WordTable

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_MAX_EDGES = 256  # between columns; Word allows 63 columns, and each edge costs every row that crosses it
_NO_FILL = ("auto", "none", "ffffff", "")


@dataclass(slots=True)
class _Placed:
    start: int
    end: int
    continues: bool | None
    """True for a cell that the one above covers, False for one that may cover those below."""
    blocks: list[WordBlock]
    is_head: bool = False


def read_table(
    table: Element,
    content: Callable[[Element], Element | None],
    blocks: Callable[[Element], list[WordBlock]],
    styles: WordStyles,
) -> WordTable:
    """Return a table without deleted and hidden rows.

    `content` returns what a content control holds that is shown, and `blocks` what is in a cell.
    """

    rows = [each for each in elements(table, f"{W}tr", content) if _is_shown(each)]
    header_rows = 0
    while header_rows < len(rows) and switch(rows[header_rows].find(f"{W}trPr"), "tblHeader"):
        header_rows += 1
    is_marked = not header_rows and _marks_first_row(table, rows, styles)
    placed = [
        list(_placed(row, content, blocks, is_head=number_ < header_rows or (is_marked and not number_)))
        for number_, row in enumerate(rows)
    ]
    return WordTable(list(_covering(placed)), header_rows if 0 < header_rows < len(rows) else None)


def _is_shown(row: Element) -> bool:
    properties = row.find(f"{W}trPr")
    if properties is None:
        return True
    is_deleted = properties.find(f"{W}del") is not None or properties.find(f"{W}moveFrom") is not None
    return not is_deleted and not switch(properties, "hidden")


def _placed(
    row: Element,
    content: Callable[[Element], Element | None],
    blocks: Callable[[Element], list[WordBlock]],
    *,
    is_head: bool,
) -> Iterator[_Placed]:
    column = max(0, number(value(row.find(f"{W}trPr"), "gridBefore")))
    last: _Placed | None = None
    for cell in elements(row, f"{W}tc", content):
        properties = cell.find(f"{W}tcPr")
        if properties is not None and properties.find(f"{W}cellDel") is not None:
            continue
        span = max(1, number(value(properties, "gridSpan"), 1))
        if last is not None and _merge(properties, "hMerge") is True:
            last.end = column = column + span
            continue
        if last is not None:
            yield last
        last = _Placed(column, column + span, _merge(properties, "vMerge"), blocks(cell), is_head)
        column += span
    if last is not None:
        yield last


def _merge(properties: Element | None, name: str) -> bool | None:
    """Return whether a cell goes on with the one before (True), or may be gone on with (False)."""
    merged = properties.find(W + name) if properties is not None else None
    if merged is not None:
        return bool(merged.get(f"{W}val") != "restart")
    tracked = properties.find(f"{W}cellMerge") if properties is not None and name == "vMerge" else None
    return bool(tracked.get(f"{W}vMerge") != "rest") if tracked is not None else None


def _covering(rows: list[list[_Placed]]) -> Iterator[list[WordCell]]:
    """Yield the cells of each row with what they cover, in columns that some cell begins or ends at."""
    edges = sorted({edge for row in rows for cell in row for edge in (cell.start, cell.end)} | {0})
    if len(edges) > _MAX_EDGES:
        yield from ([WordCell(cell.blocks, is_head=cell.is_head) for cell in row] for row in rows)
        return
    place = {edge: index for index, edge in enumerate(edges)}
    above: dict[tuple[int, int], WordCell] = {}
    for row in rows:
        cells: list[WordCell] = []
        below: dict[tuple[int, int], WordCell] = {}
        position = 0
        for cell in row:
            start, end = place[cell.start], place[cell.end]
            covering = above.get((start, end)) if cell.continues else None
            if start > position:
                cells.append(WordCell([], columns=start - position))
            position = end
            if covering is not None:
                covering.rows += 1
                below[start, end] = covering
                continue
            made = WordCell(cell.blocks, columns=end - start, is_head=cell.is_head)
            cells.append(made)
            if cell.continues is not None:
                below[start, end] = made
        above = below
        yield cells


def _marks_first_row(table: Element, rows: list[Element], styles: WordStyles) -> bool:
    """Return whether the first row looks like the head of columns: bold or shaded, and the second is not.

    That a table may have a special first row (`tblLook`) is what Word says of all; only a style that uses it counts.
    """
    if len(rows) < 2:
        return False
    properties = table.find(f"{W}tblPr")
    look = properties.find(f"{W}tblLook") if properties is not None else None
    if look is not None and styles.get(value(properties, "tblStyle") or "").marks_first_row:
        try:
            flags = int(look.get(f"{W}val", "0"), 16)
        except ValueError:
            flags = 0
        if look.get(f"{W}firstRow", "1" if flags & 0x20 else "0") in ("1", "true", "on"):
            return True
    return _stands_out(rows[0], styles) and not _stands_out(rows[1], styles)


def _stands_out(row: Element, styles: WordStyles) -> bool:
    cells = list(row.iter(f"{W}tc"))
    return bool(cells) and all(_is_shaded(cell) or _is_bold(cell, styles) for cell in cells)


def _is_shaded(cell: Element) -> bool:
    shading = cell.find(f"{W}tcPr/{W}shd")
    return shading is not None and (shading.get(f"{W}fill") or "").lower() not in _NO_FILL


def _is_bold(cell: Element, styles: WordStyles) -> bool:
    runs = [run for run in cell.iter(f"{W}r") if run.find(f"{W}t") is not None]
    for run in runs:
        properties = run.find(f"{W}rPr")
        stated = switch(properties, "b")
        if stated is None and (style := value(properties, "rStyle")) is not None:
            stated = styles.get(style).is_bold
        if stated is None:
            paragraph = run.getparent()
            style = value(paragraph.find(f"{W}pPr") if paragraph is not None else None, "pStyle")
            stated = styles.of_paragraph(style).is_bold
        if not stated:
            return False
    return bool(runs)
