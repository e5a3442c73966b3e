"""CSV: one line per row, every value with its column's name, so that row 900 can be read alone."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from asky.reading.charset import decode
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line, scrub_counted
from asky.text.tables import NAME_CHARS, named_row
from asky.values import Document

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 20
_SAMPLE_CHARS = 64 * 1024
_FIELD_CHARS = 2**31 - 1
_NUMBER_SIGNS = str.maketrans("", "", "+-.,% ")
_YEAR = re.compile(r"(?:19|20)\d\d(?:[/-]\d\d(?:\d\d)?)?")


def read(data: bytes, name: str) -> Document:  # noqa: ARG001 - every reader has this signature
    """Return the rows of a table, one per line: `name: value; name: value` below a line of names, or `value; value`.

    Comma, semicolon, tab and bar are recognised. Rows of one cell above a table are its title. The first row of several
    cells is a header if these are filled, but for the first, distinct, and no numbers but years; another header may
    follow an empty row. Empty cells and empty rows are left out; white space within a cell becomes one space.
    """
    text, invisible = scrub_counted(decode(data))
    csv.field_size_limit(_FIELD_CHARS)  # the default rejects cells above 128 KiB
    rows = csv.reader(io.StringIO(text), delimiter=_delimiter(text))
    builder = TextBuilder(invisible)
    add_rows(builder, rows)
    return builder.build("text/csv")


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


def _delimiter(text: str) -> str:
    """Return the delimiter that gives most sample rows the same number of columns, over one; ties: more columns."""
    lines = text[:_SAMPLE_CHARS].split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES]
    return max(_DELIMITERS, key=lambda delimiter: _regularity(lines, delimiter))


def _regularity(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    counts = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if len(row) > 1)
    columns, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return rows, columns
