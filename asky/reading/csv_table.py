"""CSV: one line per row, every value with its column's name, so that row 900 can be read alone."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence

from asky.reading.charset import decode
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import one_line, scrub_counted
from asky.values import Document

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 20
_SAMPLE_CHARS = 64 * 1024
# A column's name is repeated in every row: a long one would multiply the text.
_NAME_CHARS = 60
_FIELD_CHARS = 2**31 - 1
_NUMBER_SIGNS = str.maketrans("", "", "+-.,% ")


def read(data: bytes, name: str) -> Document:  # noqa: ARG001 - every reader has this signature
    """Return the rows of a table, one per line: `name: value; name: value` below a line of names, or `value; value`.

    Comma, semicolon, tab and bar are recognised. The first row is a header if its cells are filled, distinct and not
    numbers. Empty cells and empty rows are left out; white space within a cell becomes one space.
    """
    text, invisible = scrub_counted(decode(data))
    csv.field_size_limit(_FIELD_CHARS)  # the default rejects cells above 128 KiB
    rows = csv.reader(io.StringIO(text), delimiter=_delimiter(text))
    builder = TextBuilder(invisible)
    add_rows(builder, rows)
    return builder.build("text/csv")


def add_rows(builder: TextBuilder, rows: Iterable[Sequence[str]]) -> None:
    """Add the rows of a table to `builder`, as `read` describes; the first filled row may be its header."""
    header: list[str] = []
    is_first = True
    for cells in rows:
        values = [" ".join(cell.split()) for cell in cells]
        if not any(values):
            continue
        if is_first and _is_header(values := _trimmed(values)):
            header = [one_line(value, _NAME_CHARS) for value in values]
            builder.add("; ".join(values) + "\n")
        else:
            builder.add(_row(header, values) + "\n")
        is_first = False


def _trimmed(values: Sequence[str]) -> list[str]:
    """Return `values` without the empty ones at the end: sheets are wider than their tables."""
    filled = [number for number, value in enumerate(values) if value]
    return list(values[: filled[-1] + 1])


def _row(header: Sequence[str], values: Sequence[str]) -> str:
    if not header:
        return "; ".join(value for value in values if value)
    names = [*header, *[""] * (len(values) - len(header))]
    return "; ".join(f"{name}: {value}" if name else value for name, value in zip(names, values, strict=False) if value)


def _is_header(values: Sequence[str]) -> bool:
    return (
        len(values) > 1
        and all(values)
        and len(set(values)) == len(values)
        and not any(value.translate(_NUMBER_SIGNS).isdigit() for value in values)
    )


def _delimiter(text: str) -> str:
    """Return the delimiter that gives most sample rows the same number of columns, over one; ties: more columns."""
    lines = text[:_SAMPLE_CHARS].split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES]
    return max(_DELIMITERS, key=lambda delimiter: _regularity(lines, delimiter))


def _regularity(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    counts = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if len(row) > 1)
    columns, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return rows, columns
