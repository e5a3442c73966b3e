"""Cells in their places: which text each row and column of a table shows where cells span several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MAX_COLUMNS = 16_384
"""The most columns of a worksheet (Microsoft, Excel specifications and limits)."""


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
class Slot:
    """A place of a table, and the text that is shown there. `is_first` is false where a cell only extends to it."""

    text: str
    is_first: bool = True
    is_head: bool = False


_EMPTY = Slot("")


def placed(rows: Iterable[Sequence[GridCell]]) -> Iterator[list[Slot]]:
    """Yield the slots of each row, as HTML places cells: each in the first column that no cell above extends to."""
    below: dict[int, tuple[int, Slot]] = {}  # column: for how many more rows, and what is shown there
    for cells in rows:
        slots: dict[int, Slot] = {}
        for column, (left, slot) in list(below.items()):
            slots[column] = slot
            if left > 1:
                below[column] = (left - 1, slot)
            else:
                del below[column]
        column = 0
        for cell in cells:
            while column in slots:
                column += 1
            for number in range(min(max(cell.columns, 1), MAX_COLUMNS - column)):
                slots[column] = Slot(cell.text, is_first=number == 0, is_head=cell.is_head)
                if cell.rows > 1:
                    below[column] = (cell.rows - 1, Slot(cell.text, is_first=False, is_head=cell.is_head))
                column += 1
        yield [slots.get(column, _EMPTY) for column in range(max(slots, default=-1) + 1)]
