"""CSV: one line per row, every value with its column's name, so that row 900 can be read alone."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator

from asky.reading.charset import decode
from asky.reading.tables.dialect import find_dialect, records
from asky.reading.tables.kinds import kind_of
from asky.reading.tables.rows import add_rows
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import scrub_counted
from asky.values import Document

_FIELD_CHARS = 2**31 - 1
_TAB_SUFFIXES = (".tsv", ".tab")
_RULE = re.compile(r"[ :+|=-]*[-=]{2,}[ :+|=-]*")
_COMMENT = "#"


def read(data: bytes, name: str) -> Document:
    """Return the rows of a table, one per line: `name: value; name: value` below a line of names, or `value; value`.

    See `find_dialect` for the delimiters that are recognised, and `add_rows` for titles, names and several tables. A
    comment keeps its line. Bars around a row and rules between rows are left out.
    """
    text, invisible = scrub_counted(decode(data, "utf-16"))
    csv.field_size_limit(_FIELD_CHARS)  # the default rejects cells above 128 KiB
    dialect = find_dialect(text, tabs=name.lower().endswith(_TAB_SUFFIXES))
    rows = _without_comments(records(text, dialect), dialect.delimiter)
    builder = TextBuilder(invisible)
    add_rows(builder, _without_frame(rows) if dialect.delimiter == "|" else rows)
    return builder.build("text/csv")


def _without_comments(rows: Iterable[list[str]], delimiter: str) -> Iterator[list[str]]:
    """Yield comments as single cells, but for one that names the columns of the row below it."""
    held: list[str] | None = None
    for row in rows:
        if held is not None:
            yield _names_or_comment(held, row, delimiter)
            held = None
        if len(row) > 1 and row[0].lstrip().startswith(_COMMENT) and row[0].strip() != _COMMENT:
            held = row
        else:
            yield row
    if held is not None:
        yield [delimiter.join(held)]


def _names_or_comment(comment: list[str], below: list[str], delimiter: str) -> list[str]:
    has_values = any(kind_of(cell.strip()) in ("number", "date", "time") for cell in below)
    if len(comment) == len(below) and has_values and not below[0].lstrip().startswith(_COMMENT):
        return [comment[0].lstrip().lstrip(f"{_COMMENT} "), *comment[1:]]
    return [delimiter.join(comment)]


def _without_frame(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    for row in rows:
        framed = len(row) > 2 and not row[0].strip() and not row[-1].strip()
        inner = row[1:-1] if framed else row
        if not _RULE.fullmatch("|".join(inner)):
            yield inner
