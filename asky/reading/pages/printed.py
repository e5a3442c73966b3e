"""Tables as they are printed: which rows name the columns, and the text that is stored of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_NAME_CHARS = 60
"""The most characters of a cell over several rows that is repeated in each, and of a name without other signs."""

_MAX_HEADER_ROWS = 3
_YEAR = re.compile(r"(?:19|20)\d\d(?:\s?[/–-]\s?\d\d(?:\d\d)?)?")
_NUMBER = re.compile(r"(?:[A-Z]{3}\s|[A-Z]{0,2}[$€£¥])?[\s(±<>≤≥~≈*-]{0,4}[−–+-]?\s?(?:[$€£¥]\s?)?[.,]?\d|[-–—−]$")
_BAR = re.compile(r"(?<!\\)\|")
_MOST = 0.6  # of the cells below a name, that are numbers
_SAME_PLACE = 12.0  # points by which the columns of a table may move overleaf


@dataclass(slots=True)
class PrintedTable:
    """A table as rows of equally many cells; the first `header` rows name the columns, whose edges are `bands`.

    `title` are rows above them that hold one text over all columns. `styled` says that the header looks like one.
    """

    rows: list[list[str]]
    bands: list[tuple[float, float]]
    header: int = 0
    title: list[str] = field(default_factory=list)
    styled: bool = False

    def text(self) -> str:
        """Return a line for each row with ` | ` between cells; a line of dashes below the names of the columns."""
        written = [*self.title]
        if self.header:
            names = [
                " ".join(dict.fromkeys(filter(None, column))) for column in zip(*self.rows[: self.header], strict=True)
            ]
            written += [_row(names), " | ".join("---" for _ in names)]
        written += [_row(row) for row in self.rows[self.header :]]
        return "\n".join(written)

    def continue_in(self, other: PrintedTable) -> bool:
        """Return whether `other`, which begins the next page, goes on with this table; it then loses its header."""
        if len(self.bands) != len(other.bands) or other.title != self.title[: len(other.title)]:
            return False
        near = (
            abs(a[0] - b[0]) < _SAME_PLACE or abs(a[1] - b[1]) < _SAME_PLACE or (a[0] < b[1] and b[0] < a[1])
            for a, b in zip(self.bands, other.bands, strict=True)
        )
        if not all(near):
            return False
        own = self.rows[: self.header]
        repeated = bool(own) and [_plain(row) for row in own] == [_plain(row) for row in other.rows[: len(own)]]
        if repeated:
            other.rows = other.rows[len(own) :]
        elif other.title or (other.header and (other.styled or not self.header)):
            return False
        other.title, other.header = [], 0
        return True


def _plain(row: Sequence[str]) -> list[str]:
    return ["".join(cell.split()).casefold() for cell in row]


def _row(cells: Sequence[str]) -> str:
    """Return a row with bars; an empty first cell has one before it, so that the others keep their columns."""
    written = " | ".join(_BAR.sub(r"\\|", cell) for cell in cells).rstrip()
    return f"| {written.lstrip()}" if not cells[0] else written


def is_number(text: str) -> bool:
    """Return whether a cell holds a number, an amount, a date, or the dash that stands for none."""
    return _NUMBER.match(text) is not None


def header_rows(
    rows: Sequence[Sequence[str]],
    bold: Sequence[bool],
    *,
    above_rule: int = 0,
    spanned: int = 1,
    is_ruled: bool = False,
) -> tuple[int, bool]:
    """Return how many of the first rows name the columns, and whether they look like it.

    `above_rule` counts the rows above a line across the table, `spanned` those that cells of the first row with others
    below them need. A table that is drawn in full has names if they are all there, or stand above numbers. A table of
    two columns needs more than that, since it may be a list of names and values.
    """
    if len(rows) < 2:
        return 0, False
    if 0 < above_rule < len(rows) and above_rule <= _MAX_HEADER_ROWS and _filled(rows[above_rule - 1]) > 1:
        return above_rule, True
    count = min(spanned, len(rows) - 1, _MAX_HEADER_ROWS)
    names = [next((row[column] for row in reversed(rows[:count]) if row[column]), "") for column in range(len(rows[0]))]
    if _filled(names) < 2 or any(is_number(name) and not _YEAR.fullmatch(name) for name in names if name):
        return 0, False
    if all(bold[:count]) and not all(bold[count:]):
        return count, True
    if len(names) < 3 or any(name.endswith(":") for name in names):
        return 0, False
    if any(name and _is_of_numbers(rows, column, count) for column, name in enumerate(names)):
        return count, False
    distinct = len(set(names)) == len(names) and all(names[1:])
    short = all(len(name) <= MAX_NAME_CHARS and not name.endswith(".") for name in names)
    return (count, False) if is_ruled and distinct and short and len(rows) > 2 else (0, False)


def _filled(row: Sequence[str]) -> int:
    return sum(map(bool, row))


def _is_of_numbers(rows: Sequence[Sequence[str]], column: int, start: int) -> bool:
    below = [row[column] for row in rows[start:] if row[column]]
    return len(below) > 1 and sum(map(is_number, below)) >= _MOST * len(below)
