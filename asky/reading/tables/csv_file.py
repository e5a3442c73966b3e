"""CSV: one line per row, every value with its column's name, so that row 900 can be read alone."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence

from asky.reading.charset import decode
from asky.reading.tables.rows import add_rows
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import scrub_counted
from asky.values import Document

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 20
_SAMPLE_CHARS = 64 * 1024
_FIELD_CHARS = 2**31 - 1


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


def _delimiter(text: str) -> str:
    """Return the delimiter that gives most sample rows the same number of columns, over one; ties: more columns."""
    lines = text[:_SAMPLE_CHARS].split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES]
    return max(_DELIMITERS, key=lambda delimiter: _regularity(lines, delimiter))


def _regularity(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    counts = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if len(row) > 1)
    columns, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return rows, columns
