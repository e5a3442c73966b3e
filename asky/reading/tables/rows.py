"""Rows of tables as lines that can be read alone: every value with the name of its column."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from asky.reading.tables.cells import GridCell, placed
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line
from asky.text.tables import NAME_CHARS, named_row

_NUMBER_SIGNS = str.maketrans("", "", "+-.,% ")
_YEAR = re.compile(r"(?:19|20)\d\d(?:[/-]\d\d(?:\d\d)?)?")


def add_table(builder: TextBuilder, rows: Iterable[Sequence[GridCell]], *, header_rows: int | None = None) -> None:  # noqa: ARG001
    """Add a table whose cells may span rows and columns.

    `header_rows` is how many of the first rows name the columns, `None` if the format does not say.
    """
    add_rows(builder, ([slot.text if slot.is_first else "" for slot in row] for row in placed(rows)))


def add_rows(builder: TextBuilder, rows: Iterable[Sequence[str]]) -> None:
    """Add the rows of a sheet to `builder`, as `read` describes; it may hold titles and several tables."""
    header: list[str] = []
    has_table = is_gap = False
    numbers: set[int] = set()  # the columns of the table that have held a number
    for cells in rows:
        values = _trimmed([" ".join(cell.split()) for cell in cells])
        if not values:
            is_gap = True
            continue
        if _is_header(values) and (not has_table or (is_gap and _is_above_numbers(values, numbers))):
            header = [one_line(value, NAME_CHARS) for value in values]
            builder.add("; ".join(filter(None, values)) + "\n")
            has_table, numbers = True, set()
        else:
            builder.add(named_row(header, values) + "\n")
            has_table = has_table or sum(map(bool, values)) > 1
            numbers.update(column for column, value in enumerate(values) if column not in numbers and _is_number(value))
        is_gap = False


def _trimmed(values: Sequence[str]) -> list[str]:
    """Return `values` without the empty ones at the end: sheets are wider than their tables."""
    filled = [number for number, value in enumerate(values) if value]
    return list(values[: filled[-1] + 1]) if filled else []


def _is_header(values: Sequence[str]) -> bool:
    """Return whether a row names columns: its cells are filled, but for the first, distinct, and words or years."""
    names = values if values[0] else values[1:]
    return (
        len(values) > 1
        and all(names)
        and len(set(names)) == len(names)
        and not any(_is_number(name) and not _YEAR.fullmatch(name) for name in names)
        and not all(map(_is_number, values))
    )


def _is_above_numbers(values: Sequence[str], numbers: Collection[int]) -> bool:
    """Return whether a row has words where the rows before it have numbers: it begins another table."""
    return any(column < len(values) and values[column] and not _is_number(values[column]) for column in numbers)


def _is_number(value: str) -> bool:
    return value.translate(_NUMBER_SIGNS).isdigit()
