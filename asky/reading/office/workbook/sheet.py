"""A sheet of a workbook, as every format of workbooks states it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_CELLS = 2_000_000
"""The most cells with a value of one workbook."""
MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9]\d{0,6})")
_HIDDEN = {"hidden": "hidden sheet", "veryHidden": "very hidden sheet"}


@dataclass(slots=True)
class SheetRow:
    """A row from 1, its shown texts by column from 1 in any order; empty cells are not in it."""

    number: int
    cells: dict[int, str]
    is_hidden: bool = False
    is_bold: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, by its rows and columns from 1, the last ones included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table that has a name, with the number of its header rows."""

    name: str
    area: Area
    header_rows: int = 1


@dataclass(slots=True)
class Sheet:
    """The content of a sheet, in the order of its rows.

    `heads` are the rows that the file sets apart as names of columns, by a filter or by frozen panes. `beside` are
    the lines after the rows, and `embedded` are files by name.
    """

    name: str
    state: str = "visible"
    rows: list[SheetRow] = field(default_factory=list)
    merged: Sequence[Area] = ()
    tables: Sequence[NamedTable] = ()
    heads: frozenset[int] = frozenset()
    hidden_columns: Sequence[tuple[int, int]] = ()
    beside: Sequence[str] = ()
    embedded: Sequence[tuple[str, bytes]] = ()

    @property
    def heading(self) -> str:
        """The name of the sheet, and whether it is hidden."""
        kind = _HIDDEN.get(self.state)
        return f"{self.name} ({kind})" if kind else self.name


def place(reference: str) -> tuple[int, int] | None:
    """Return row and column of a reference such as `B4`, from 1; `None` if it is none."""
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        return None
    column = 0
    for letter in match[1].upper():
        column = column * 26 + ord(letter) - 64
    row = int(match[2])
    return (row, column) if column <= MAX_COLUMNS and row <= MAX_ROWS else None


def area(reference: str) -> Area | None:
    """Return the cells of a reference such as `A1:C5` or `B4`; `None` if it is none."""
    first, _, last = reference.partition(":")
    begin, end = place(first), place(last or first)
    if begin is None or end is None:
        return None
    (top, bottom), (left, right) = sorted((begin[0], end[0])), sorted((begin[1], end[1]))
    return Area(top, left, bottom, right)


def letters(column: int) -> str:
    """Return the name of a column from 1: `A`, `XFD`."""
    name = ""
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name
