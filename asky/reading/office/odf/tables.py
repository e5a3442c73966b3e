"""Tables of OpenDocument as cells in their places, and what repeats without its weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.office.odf.names import TABLE, count
from asky.reading.tables.cells import MAX_COLUMNS, GridCell

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

MAX_ROWS = 1_048_576
MAX_CELLS = 2_000_000
"""The most cells with text of one file, and places that merged cells cover; 100,000 take half a second."""
MAX_REPEATS = 1_000
"""How often a row with text is written where a file repeats it."""

_ROW, _CELL, _COVERED = f"{TABLE}table-row", f"{TABLE}table-cell", f"{TABLE}covered-table-cell"
_GROUPS = frozenset(f"{TABLE}{name}" for name in ("table-rows", "table-row-group", "table-header-rows"))


@dataclass(frozen=True, slots=True)
class OpenRow:
    """A row of a table: what its cells show, by column from 0, and the places that other cells cover."""

    cells: dict[int, GridCell]
    covered: frozenset[int]

    def listed(self, columns: range | list[int]) -> list[GridCell]:
        """Return the cells in some columns, in order, without the covered ones."""
        return [self.cells.get(each, _EMPTY) for each in columns if each not in self.covered]


_EMPTY = GridCell("")


def rows_of(table: Element) -> Iterator[tuple[Element, bool]]:
    """Yield the rows of a table, and whether each is one of its headers; those of tables within it are not its own."""
    waiting = [(each, False) for each in reversed(table)]
    while waiting:
        element, is_head = waiting.pop()
        if element.tag == _ROW:
            yield element, is_head
        elif element.tag in _GROUPS:
            head = is_head or element.tag == f"{TABLE}table-header-rows"
            waiting += [(each, head) for each in reversed(element)]


def header_rows(table: Element) -> int | None:
    """Return how many of the first rows a table sets apart as headers, `None` if it sets none apart, or all."""
    number = 0
    for row, is_head in rows_of(table):
        if not is_head:
            return number or None
        number += count(row, f"{TABLE}number-rows-repeated", 1, MAX_REPEATS)
    return None


def grid_rows(
    table: Element, written: Callable[[Element], str], is_bold: Callable[[Element], bool]
) -> Iterator[list[GridCell]]:
    """Yield the rows of a table of a text; `written` returns what a cell shows.

    Names are the cells of the first row if all of it is bold and not all of the second.
    """
    reader = TableRows(written)
    elements = [element for element, _ in rows_of(table)]
    is_named = len(elements) > 1 and _all_bold(elements[0], is_bold) and not _all_bold(elements[1], is_bold)
    for number, element in enumerate(elements):
        row = reader.read(element)
        last = max(row.cells, default=-1)
        listed = row.listed(range(last + 1))
        if is_named and not number:
            listed = [replace(cell, is_head=True) for cell in listed]
        for _ in range(count(element, f"{TABLE}number-rows-repeated", 1, MAX_REPEATS) if row.cells else 1):
            yield listed


def _all_bold(row: Element, is_bold: Callable[[Element], bool]) -> bool:
    filled = [cell for cell in row.iterchildren(_CELL) if "".join(cell.itertext()).strip()]
    return bool(filled) and all(map(is_bold, filled))


class TableRows:
    """Reads the rows of a table from the first to the last, and knows which places the cells above extend to.

    A file lists covered cells in their places, with what they showed before. One that nothing covers is an empty cell,
    and one that is not listed is covered all the same.
    """

    def __init__(self, written: Callable[[Element], str]) -> None:
        self._written = written
        self._below: dict[int, int] = {}  # column: for how many more rows
        self._places = 0

    def read(self, row: Element) -> OpenRow:
        """Return the next row. Raises SourceUnreadable: too_large if the rows so far have too many cells."""
        covered = set(self._below)
        self._below = {column: left - 1 for column, left in self._below.items() if left > 1}
        found: dict[int, GridCell] = {}
        column = 0
        for cell in row:
            if cell.tag not in (_CELL, _COVERED):
                continue
            repeated = count(cell, f"{TABLE}number-columns-repeated", 1, MAX_COLUMNS)
            if cell.tag == _CELL:
                while column in covered:
                    column += 1
                repeated = max(min(repeated, MAX_COLUMNS - column), 0)
                made = self._cell(cell, MAX_COLUMNS - column)
                if repeated and (made.text or made.rows > 1 or made.columns > 1):
                    found.update((each, made) for each in range(column, column + repeated))
                    self._places += repeated + self._cover(covered, column, made)
            column += repeated
        self._places += len(covered)
        if self._places > MAX_CELLS:
            raise SourceUnreadable(f"too large: more than {MAX_CELLS:,} cells", verdict="too_large")
        return OpenRow(found, frozenset(covered))

    def _cell(self, cell: Element, room: int) -> GridCell:
        columns = count(cell, f"{TABLE}number-columns-spanned", 1, max(room, 1))
        rows = count(cell, f"{TABLE}number-rows-spanned", 1, MAX_ROWS)
        return GridCell(self._written(cell) if len(cell) or len(cell.attrib) else "", rows=rows, columns=columns)

    def _cover(self, covered: set[int], column: int, cell: GridCell) -> int:
        """Note the places that a cell extends to, and return how many there are in its row."""
        if cell.columns > 1:
            covered.update(range(column + 1, column + cell.columns))
        if cell.rows > 1:
            self._below.update((each, cell.rows - 1) for each in range(column, column + cell.columns))
        return cell.columns
