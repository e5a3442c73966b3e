"""Sheets of OpenDocument: the rows as shown, what is hidden marked, then shapes, charts and remarks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from asky.reading.office.odf.inline import RemarkWords
from asky.reading.office.odf.names import DRAW, FO, OFFICE, TABLE, TEXT, count
from asky.reading.office.odf.styles import OpenStyles
from asky.reading.office.odf.tables import MAX_REPEATS, MAX_ROWS, OpenRow, TableRows, rows_of
from asky.reading.office.odf.text import OpenText
from asky.reading.office.workbook.layout import add_sheet
from asky.reading.office.workbook.sheet import Area, Sheet, SheetRow, area, letters
from asky.reading.tables.cells import MAX_COLUMNS

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_PARAGRAPH = f"{TEXT}p"
_HIDDEN = ("collapse", "filter")
_DURATION = re.compile(r"PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})(?:[.,]\d{1,9})?S)?")
_STATED = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d))?")
_FIGURES = re.compile(r"\d{1,4}([./-]) ?\d{1,2}\1 ?\d{1,4}(,? \d{1,2}[:.]\d\d.{0,12})?")
_VALUES = {"date": "date-value", "time": "time-value", "boolean": "boolean-value", "string": "string-value"}


def write_sheets(body: Element, text: OpenText) -> None:
    """Write the sheets of a workbook, each with its heading."""
    filtered = _filtered(body)
    for number, table in enumerate(body.iterchildren(f"{TABLE}table"), start=1):
        sheet = _sheet(table, text, f"Sheet {number}")
        sheet.heads |= filtered.get(sheet.name, frozenset())
        add_sheet(text.blocks.builder, sheet)
        shapes = table.find(f"{TABLE}shapes")
        if shapes is not None:
            text.write(shapes)
        for frame in text.anchored.frames:
            text.write_one(frame)
        text.anchored.frames = []
        for line in text.remarks():
            text.blocks.item(line)
        text.blocks.close()


def _sheet(table: Element, text: OpenText, unnamed: str) -> Sheet:
    is_hidden = text.styles.is_hidden("table", table.get(f"{TABLE}style-name", ""))
    sheet = Sheet(table.get(f"{TABLE}name") or unnamed, "hidden" if is_hidden else "visible")
    sheet.hidden_columns = list(_hidden_columns(table))
    reader = TableRows(lambda cell: _shown(cell, text))
    bold = _Bold(text.styles)
    merged: list[Area] = []
    heads: set[int] = set()
    number = 0
    for element, is_head in rows_of(table):
        remarked = len(text.anchored.remarks)
        row = reader.read(element)
        _name_cells(text.anchored.remarks[remarked:], element, row, number + 1)
        repeated = count(element, f"{TABLE}number-rows-repeated", 1, MAX_ROWS)
        if row.cells:
            cells = {column + 1: cell.text for column, cell in row.cells.items() if cell.text}
            hides = element.get(f"{TABLE}visibility") in _HIDDEN
            is_bold = bold.is_bold(element)
            for each in range(number + 1, number + 1 + min(repeated, MAX_REPEATS)):
                if cells:
                    sheet.rows.append(SheetRow(each, dict(cells), hides, is_bold))
            merged += [
                Area(number + 1, column + 1, min(number + cell.rows, MAX_ROWS), column + cell.columns)
                for column, cell in row.cells.items()
                if cell.rows > 1 or cell.columns > 1
            ]
            if is_head:
                heads.update(range(number + 1, number + 1 + min(repeated, MAX_REPEATS)))
            if repeated > MAX_REPEATS:
                what = f"{repeated - MAX_REPEATS:,} rows of {sheet.name}"
                text.blocks.builder.skip(what, "they repeat the row above them")
        number += repeated
    sheet.merged, sheet.heads = merged, frozenset(heads)
    return sheet


def _name_cells(remarks: Sequence[tuple[Element, RemarkWords]], element: Element, row: OpenRow, number: int) -> None:
    """Set what the remarks on a row's cells are on: each its cell, by its name and what it shows."""
    waiting = {remark.getparent(): words for remark, words in remarks}
    column = 0
    for cell in element if waiting else ():
        words = waiting.get(cell)
        if words is not None:
            shown = row.cells[column].text if column in row.cells else ""
            place = f"{letters(column + 1)}{number}"
            words.text, words.has_end = f"{place}: {shown}" if shown else place, True
        column += count(cell, f"{TABLE}number-columns-repeated", 1, MAX_COLUMNS)


class _Bold:
    """Knows which rows are written in bold letters as a whole, by the styles of their cells."""

    def __init__(self, styles: OpenStyles) -> None:
        self._styles = styles
        self._known: dict[str, bool] = {}

    def is_bold(self, row: Element) -> bool:
        """Return whether all cells with text are bold."""
        default = row.get(f"{TABLE}default-cell-style-name", "")
        filled = [cell for cell in row.iterchildren(f"{TABLE}table-cell") if len(cell)]
        return bool(filled) and all(self._is(cell.get(f"{TABLE}style-name") or default) for cell in filled)

    def _is(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = self._styles.property("table-cell", name, f"{FO}font-weight") in ("bold", "700")
        return self._known[name]


def _hidden_columns(table: Element) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of the columns that are hidden together, from 1."""
    column = 1
    for each in table.iter(f"{TABLE}table-column", f"{TABLE}table-row"):
        if each.tag == f"{TABLE}table-row":
            return
        repeated = count(each, f"{TABLE}number-columns-repeated", 1, MAX_COLUMNS)
        if each.get(f"{TABLE}visibility") in _HIDDEN and column <= MAX_COLUMNS:
            yield column, min(column + repeated - 1, MAX_COLUMNS)
        column += repeated


def _filtered(body: Element) -> dict[str, frozenset[int]]:
    """Return the row of names of each sheet that has a filter with buttons there."""
    found: dict[str, frozenset[int]] = {}
    for each in body.iterfind(f"{TABLE}database-ranges/{TABLE}database-range"):
        if each.get(f"{TABLE}display-filter-buttons") == "true" and each.get(f"{TABLE}contains-header") != "false":
            name, _, first = each.get(f"{TABLE}target-range-address", "").partition(":")[0].rpartition(".")
            place = area(first)
            if place is not None:
                sheet = name.removeprefix("$").strip("'").replace("''", "'")
                found[sheet] = found.get(sheet, frozenset()) | {place.top}
    return found


def _shown(cell: Element, text: OpenText) -> str:
    """Return what a cell shows: its text, or its value if the program that made the file has written no text."""
    if len(cell):
        first = cell[0]
        if len(cell) == 1 and first.tag == _PARAGRAPH:
            return _with_clear_date(cell, text.written(cell))
        for shape in [each for each in cell if isinstance(each.tag, str) and each.tag.startswith(DRAW)]:
            text.anchored.frames.append(shape)  # stands over the cells, and is read after them
            cell.remove(shape)
        shown = _with_clear_date(cell, text.written(cell))
        if shown or cell.find(_PARAGRAPH) is not None:
            return shown
    kind = cell.get(f"{OFFICE}value-type", "")
    value = str(cell.get(f"{OFFICE}{_VALUES.get(kind, 'value')}", ""))
    if kind == "percentage" and value:
        return _percent(value)
    if kind == "currency" and value:
        return f"{value} {cell.get(f'{OFFICE}currency', '')}".strip()
    if kind == "time" and (time := _DURATION.fullmatch(value)):
        return ":".join((time[1] or "0", *(each.zfill(2) for each in (time[2] or "0", time[3] or "0"))))
    if kind == "boolean":
        return value.upper()
    return value.replace("T", " ") if kind == "date" else value or _formula(cell)


def _with_clear_date(cell: Element, shown: str) -> str:
    """Return what a cell shows, a date in figures as in other workbooks: `02/03/26` can be read in two ways."""
    stated = _STATED.match(cell.get(f"{OFFICE}date-value", ""))
    figures = _FIGURES.fullmatch(shown) if stated else None
    if stated is None or figures is None:
        return shown
    time = stated[2] or "00:00:00"
    return f"{stated[1]} {time.removesuffix(':00')}" if figures[2] else stated[1]


def _percent(value: str) -> str:
    try:
        return f"{float(value) * 100:.10g}%"
    except ValueError:
        return value


def _formula(cell: Element) -> str:
    """Return the formula of a cell that nothing has computed: `=SUM([.A1:.A3])`."""
    formula = cell.get(f"{TABLE}formula", "")
    return f"={formula.partition(':=')[2]}" if ":=" in formula else formula
