"""The sheets of an XML Spreadsheet 2003, which programs also save as `.xls`.

Source: Microsoft, "XML Spreadsheet Reference" (Office XP and 2003), with the names that it gives to number formats.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from asky.reading.office.digits import general
from asky.reading.office.number_formats import NumberFormat, number_format
from asky.reading.office.workbook.beside import Notes, note_on, remarks_of
from asky.reading.office.workbook.cells import CellBudget
from asky.reading.office.workbook.sheet import MAX_COLUMNS, MAX_ROWS, Area, Sheet, SheetRow
from asky.reading.office.workbook.texts import HIDDEN_ROW
from asky.reading.tables.kinds import NOT_COMPUTED

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

NAMESPACE = b"urn:schemas-microsoft-com:office:spreadsheet"
"""What the beginning of such a file contains."""
_OWN = f"{{{NAMESPACE.decode()}}}"
_NAMED = {
    "general number": "General",
    "general date": "yyyy-mm-dd hh:mm",
    "long date": "yyyy-mm-dd",
    "medium date": "yyyy-mm-dd",
    "short date": "yyyy-mm-dd",
    "long time": "h:mm:ss",
    "medium time": "h:mm AM/PM",
    "short time": "h:mm",
    "currency": "$#,##0.00",
    "euro currency": "€#,##0.00",
    "fixed": "0.00",
    "standard": "#,##0.00",
    "percent": "0.00%",
    "scientific": "0.00E+00",
    "yes/no": '"Yes";"Yes";"No"',
    "true/false": '"True";"True";"False"',
    "on/off": '"On";"On";"Off"',
}
_STATES = {"SheetHidden": "hidden", "SheetVeryHidden": "veryHidden"}
_DAY_ZERO = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}


class FlatWorkbook:
    """A workbook in one XML file."""

    def __init__(self, data: bytes, name: str) -> None:
        self._data, self._budget = data, CellBudget(name)
        self._codes: dict[str, str] = {}
        self._bold: set[str] = set()
        self._since_1904 = False

    def sheets(self) -> Iterator[Sheet]:
        """Yield the sheets in order."""
        from lxml import etree

        sheet, merged, notes, hidden = Sheet(""), list[Area](), Notes(), list[tuple[int, int]]()
        row_number = column_number = 0
        events = etree.iterparse(
            io.BytesIO(self._data),
            events=("start", "end"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
        )
        for event, element in events:
            tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
            if event == "start":
                if tag == "Worksheet":
                    sheet, merged, notes, hidden = Sheet(element.get(f"{_OWN}Name", "")), [], {}, []
                    row_number = column_number = 0
                continue
            if tag == "Style":
                self._take_style(element)
            elif tag == "Date1904":
                self._since_1904 = True
            elif tag == "Column":
                column_number = _number(element, "Index", column_number + 1)
                last = column_number + _number(element, "Span", 0)
                if element.get(f"{_OWN}Hidden") == "1" and last <= MAX_COLUMNS:
                    hidden.append((column_number, last))
                column_number = last
            elif tag == "Row":
                row_number = _number(element, "Index", row_number + 1)
                row = self._row(element, row_number, merged, notes)
                if row.cells and row_number <= MAX_ROWS:
                    self._budget.spend(len(row.cells))
                    sheet.rows.append(row)
                row_number += _number(element, "Span", 0)
                element.clear()
            elif tag == "Visible" and element.text:
                sheet.state = _STATES.get(element.text.strip(), "visible")
            elif tag == "Worksheet":
                sheet.merged, sheet.hidden_columns = merged, hidden
                sheet.rows.sort(key=lambda each: each.number)
                sheet.beside = remarks_of(notes, {each.number: each.cells for each in sheet.rows} if notes else {})
                yield sheet
                element.clear()

    def _take_style(self, element: Element) -> None:
        number = element.get(f"{_OWN}ID", "")
        for each in element:
            if each.tag == f"{_OWN}NumberFormat":
                code = each.get(f"{_OWN}Format", "General")
                self._codes[number] = _NAMED.get(code.lower(), code)
            elif each.tag == f"{_OWN}Font" and each.get(f"{_OWN}Bold") == "1":
                self._bold.add(number)

    def _row(self, element: Element, number: int, merged: list[Area], notes: Notes) -> SheetRow:
        cells: dict[int, str] = {}
        column = bolds = 0
        for cell in element.iterchildren(f"{_OWN}Cell"):
            column = _number(cell, "Index", column + 1)
            wide, tall = _number(cell, "MergeAcross", 0), _number(cell, "MergeDown", 0)
            if column > MAX_COLUMNS:
                break
            if wide or tall:
                merged.append(Area(number, column, number + tall, min(column + wide, MAX_COLUMNS)))
            style = cell.get(f"{_OWN}StyleID") or element.get(f"{_OWN}StyleID") or "Default"
            text = self._shown(cell, style)
            if text and not text.isspace():
                cells[column] = text
                bolds += style in self._bold
            for note in cell.iterchildren(f"{_OWN}Comment"):
                note_on(notes, number, column, note.get(f"{_OWN}Author", ""), "".join(note.itertext()))
            column += wide
        is_hidden = element.get(f"{_OWN}Hidden") == "1" or element.get(f"{_OWN}Height") == "0"
        return SheetRow(number, cells, is_hidden, is_bold=bolds == len(cells))

    def _shown(self, cell: Element, style: str) -> str:
        data = cell.find(f"{_OWN}Data")
        text = "".join(data.itertext()).replace(HIDDEN_ROW, "") if data is not None else ""
        if data is None or not text:
            formula = cell.get(f"{_OWN}Formula", "")
            is_number = data is None or data.get(f"{_OWN}Type") == "Number"  # a text may be empty
            return f"{formula} {NOT_COMPUTED}" if formula and is_number else ""
        kind = data.get(f"{_OWN}Type", "String")
        code = self._format(style)
        if kind == "Boolean":
            return "TRUE" if text.strip() == "1" else "FALSE"
        try:
            if kind == "Number":
                return code.number(float(text)) if code else general(float(text))
            if kind == "DateTime":
                moment = datetime.fromisoformat(text.strip().removesuffix("Z")).replace(tzinfo=None)
                days = (moment - _DAY_ZERO[self._since_1904]).total_seconds() / 86_400
                return code.number(days) if code else text.replace("T", " ").partition(".")[0]
        except ValueError:
            return text
        return code.text(text) if code and kind == "String" else text

    def _format(self, style: str) -> NumberFormat | None:
        code = self._codes.get(style, "")
        is_general = code.lower() in ("", "general", "@")
        return None if is_general else number_format(code, since_1904=self._since_1904)


def _number(element: Element, name: str, otherwise: int) -> int:
    stated = element.get(f"{_OWN}{name}", "")
    return min(int(stated), MAX_ROWS) if stated.isdecimal() else otherwise
