"""Cells in their places: which text each row and column of a table shows where cells span several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from asky.text.scrub import one_line

MAX_COLUMNS = 16_384
"""The most columns of a worksheet (Microsoft, Excel specifications and limits)."""

_REPEATED_CHARS = 200
"""The most characters of a cell over several rows that the rows below its first repeat: a note beside a list of
thousands would multiply the text."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell as its format states it: the text, and how many rows and columns it covers, from 1.

    `is_head` says that the format marks it as a name of its column or row. Cells that another covers are not listed.
    """

    text: str
    rows: int = 1
    columns: int = 1
    is_head: bool = False


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row of a table: the text that each column shows, each on one line, without the empty columns at its end.

    `merged` has the first column and the number of columns of each cell over several columns, in order; all of them
    show its text. `heads` are the columns whose cells are marked as names, and `below` those that show a cell of a row
    above.
    """

    values: tuple[str, ...]
    merged: tuple[tuple[int, int], ...] = ()
    heads: frozenset[int] = frozenset()
    below: frozenset[int] = frozenset()

    def cells(self) -> Iterator[tuple[int, int, str]]:
        """Yield the filled cells in order: the first column, the number of columns, the text."""
        return (cell for cell in self.all_cells() if cell[2])

    def all_cells(self) -> Iterator[tuple[int, int, str]]:
        """Yield the cells like `cells`, the empty ones before the last filled one too."""
        merged = dict(self.merged)
        column = 0
        while column < len(self.values):
            columns = merged.get(column, 1)
            yield column, columns, self.values[column]
            column += columns

    def lone(self) -> tuple[int, int, str] | None:
        """Return the only filled cell, as `cells` has it; `None` if there are more."""
        if not self.merged and len(self.values) > 1 and self.values[0] and self.values[1]:
            return None  # most rows, told in a tenth of the time
        found = list(islice(self.cells(), 2))
        return found[0] if len(found) == 1 else None


def row_of(values: Iterable[str]) -> GridRow:
    """Return a row of cells that span nothing."""
    return GridRow(tuple(_trimmed([" ".join(value.split()) for value in values])))


def _trimmed(values: list[str]) -> list[str]:
    """Drop the empty values at the end: sheets are wider than their tables."""
    while values and not values[-1]:
        values.pop()
    return values


def placed(rows: Iterable[Sequence[GridCell]]) -> Iterator[GridRow]:
    """Yield the rows of a table, as HTML places cells: each in the first column that no cell above extends to."""
    above: dict[int, tuple[int, int, GridCell]] = {}  # first column: how many more rows, columns, the cell
    for cells in rows:
        row = _Row()
        free = 0
        taken = sorted(above.items())
        for column, (left, columns, cell) in taken:
            row.put(column, columns, one_line(cell.text, _REPEATED_CHARS), cell, is_below=True)
            above[column] = (left - 1, columns, cell)
            if left <= 1:
                del above[column]
        for cell in cells:
            while free in row.values:
                free += 1
            columns = 0
            while columns < max(cell.columns, 1) and free + columns < MAX_COLUMNS and free + columns not in row.values:
                columns += 1
            if columns:
                row.put(free, columns, " ".join(cell.text.split()), cell, is_below=False)
                if cell.rows > 1:
                    above[free] = (cell.rows - 1, columns, cell)
        yield row.build()


class _Row:
    """A row whose cells are put in one by one."""

    def __init__(self) -> None:
        self.values: dict[int, str] = {}
        self._merged: list[tuple[int, int]] = []
        self._heads: set[int] = set()
        self._below: set[int] = set()

    def put(self, column: int, columns: int, text: str, cell: GridCell, *, is_below: bool) -> None:
        covered = range(column, column + columns)
        self.values.update(dict.fromkeys(covered, text))
        if columns > 1:
            self._merged.append((column, columns))
        if cell.is_head and text:
            self._heads.update(covered)
        if is_below:
            self._below.update(covered)

    def build(self) -> GridRow:
        width = max(self.values, default=-1) + 1
        values = _trimmed([self.values.get(column, "") for column in range(width)])
        return GridRow(tuple(values), tuple(sorted(self._merged)), frozenset(self._heads), frozenset(self._below))
