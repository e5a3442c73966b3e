"""Sheets of OpenDocument: the rows as shown, what is hidden marked, then remarks, charts and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asky.reading.office.odf.names import DRAW, OFFICE, TABLE, TEXT, count
from asky.reading.office.odf.tables import MAX_REPEATS, MAX_ROWS, OpenRow, TableRows, header_rows, rows_of
from asky.reading.office.odf.text import OpenText
from asky.reading.tables.cells import MAX_COLUMNS, GridCell
from asky.reading.tables.rows import add_table
from asky.reading.text_builder import TextBuilder

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_PARAGRAPH = f"{TEXT}p"
_HIDDEN = ("collapse", "filter")
_HIDDEN_COLUMN = " [hidden column]"
_HIDDEN_ROW = "[hidden row] "
_ROW_SIGN = "\ufdd1"  # stands in the values of a hidden row until its line is written; no text of a file contains it


class MarkedRows(TextBuilder):
    """A builder that begins the lines of hidden rows with `[hidden row] `."""

    def add(self, text: str) -> None:
        """Append `text`, scrubbed."""
        if _ROW_SIGN in text:
            lines = text.splitlines(keepends=True)
            text = "".join(_HIDDEN_ROW + line.replace(_ROW_SIGN, "") if _ROW_SIGN in line else line for line in lines)
        super().add(text)


def write_sheets(body: Element, text: OpenText) -> None:
    """Write the sheets of a workbook, each with its heading."""
    for table in body.iterchildren(f"{TABLE}table"):
        _write_sheet(table, text)


def _write_sheet(table: Element, text: OpenText) -> None:
    name = table.get(f"{TABLE}name", "")
    is_hidden = text.styles.is_hidden("table", table.get(f"{TABLE}style-name", ""))
    heading = f"{name} (hidden sheet)" if is_hidden else name
    text.blocks.builder.mark_heading(heading, 1)
    text.blocks.builder.add(f"{heading}\n")
    rows = list(_rows(table, text))
    columns = sorted(set().union(*(row.cells for row in rows)))
    named = header_rows(table)
    text.blocks.rows(
        lambda builder: add_table(builder, _grid(rows, columns, _hidden_columns(table)), header_rows=named)
    )
    text.blocks.close()
    shapes = table.find(f"{TABLE}shapes")
    if shapes is not None:
        text.write(shapes)
    for frame in text.anchored.frames:
        text.write_one(frame)
    text.anchored.frames = []
    for line in text.remarks():
        text.blocks.item(line)
    text.blocks.close()


def _rows(table: Element, text: OpenText) -> Iterator[OpenRow]:
    """Yield the rows up to the last one that shows something; empty rows part tables, as far as one does."""
    reader = TableRows(lambda cell: _shown(cell, text))
    gap: OpenRow | None = None
    for element, _ in rows_of(table):
        row = reader.read(element)
        if not row.cells:
            gap = row
            continue
        if gap is not None:
            yield gap
            gap = None
        if element.get(f"{TABLE}visibility") in _HIDDEN:
            first = min(row.cells)
            cell = row.cells[first]
            marked = GridCell(f"{cell.text}{_ROW_SIGN}", rows=cell.rows, columns=cell.columns)
            row = OpenRow({**row.cells, first: marked}, row.covered)
        stated = count(element, f"{TABLE}number-rows-repeated", 1, MAX_ROWS)
        yield from [row] * min(stated, MAX_REPEATS)
        if stated > MAX_REPEATS:
            what = f"{stated - MAX_REPEATS:,} rows of {table.get(f'{TABLE}name', 'a sheet')}"
            text.blocks.builder.skip(what, "they repeat the row above them")


def _grid(rows: list[OpenRow], columns: list[int], hidden: frozenset[int]) -> Iterator[list[GridCell]]:
    """Yield the rows with the columns that show something; the first filled row says which of them are hidden."""
    place = {column: number for number, column in enumerate(columns)}
    waits = hidden
    for row in rows:
        cells = dict(row.cells)
        if waits and len(cells) > 1:
            for column in waits & cells.keys():
                cells[column] = GridCell(f"{cells[column].text}{_HIDDEN_COLUMN}")
            waits = frozenset()
        for column, cell in cells.items():
            if cell.columns > 1:
                inside = sum(column <= each < column + cell.columns for each in columns[place[column] :])
                cells[column] = GridCell(cell.text, rows=cell.rows, columns=max(inside, 1))
        last = place[max(cells)] + 1 if cells else 0
        yield OpenRow(cells, row.covered).listed(columns[:last])


def _hidden_columns(table: Element) -> frozenset[int]:
    """Return the columns that are hidden, from 0."""
    found: set[int] = set()
    column = 0
    for each in table.iter(f"{TABLE}table-column", f"{TABLE}table-row"):
        if each.tag == f"{TABLE}table-row":
            break
        repeated = count(each, f"{TABLE}number-columns-repeated", 1, MAX_COLUMNS)
        if each.get(f"{TABLE}visibility") in _HIDDEN:
            found.update(range(column, min(column + repeated, MAX_COLUMNS)))
        column += repeated
    return frozenset(found)


def _shown(cell: Element, text: OpenText) -> str:
    """Return what a cell shows: its text, or its value if the program that made the file has written no text."""
    if len(cell):
        first = cell[0]
        if len(cell) == 1 and first.tag == _PARAGRAPH:
            return text.written(cell)
        for shape in [each for each in cell if isinstance(each.tag, str) and each.tag.startswith(DRAW)]:
            text.anchored.frames.append(shape)  # stands over the cells, and is read after them
            cell.remove(shape)
        shown = text.written(cell)
        if shown or cell.find(_PARAGRAPH) is not None:
            return shown
    kind = cell.get(f"{OFFICE}value-type", "")
    value = cell.get(f"{OFFICE}{_VALUES.get(kind, 'value')}", "")
    if kind == "percentage" and value:
        return _percent(value)
    if kind == "currency" and value:
        return f"{value} {cell.get(f'{OFFICE}currency', '')}".strip()
    return value or _formula(cell)


def _percent(value: str) -> str:
    try:
        return f"{float(value) * 100:.10g}%"
    except ValueError:
        return value


def _formula(cell: Element) -> str:
    """Return the formula of a cell that nothing has computed: `=SUM([.A1:.A3])`."""
    formula = cell.get(f"{TABLE}formula", "")
    return f"={formula.partition(':=')[2]}" if ":=" in formula else formula


_VALUES = {"date": "date-value", "time": "time-value", "boolean": "boolean-value", "string": "string-value"}
