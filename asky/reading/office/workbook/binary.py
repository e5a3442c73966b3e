"""The sheets of a workbook of Excel before 2007 (`.xls`, BIFF 2 to 8), by xlrd."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from asky.errors import SourceUnreadable
from asky.reading.office.digits import general
from asky.reading.office.number_formats import number_format
from asky.reading.office.workbook.beside import Notes, note_on, remarks_of
from asky.reading.office.workbook.cells import CellBudget
from asky.reading.office.workbook.sheet import Area, Sheet, SheetRow
from asky.reading.office.workbook.texts import HIDDEN_ROW
from asky.reading.raised.exponents import spelled_runs
from asky.reading.text_builder import TextBuilder

_STATES = {0: "visible", 1: "hidden", 2: "veryHidden"}
_RAISED = {1: True, 2: False}
_CHART = bytes.fromhex("0908100000062000")  # the beginning of the records of a chart
_EMPTY, _TEXT, _NUMBER, _DATE, _BOOLEAN, _ERROR, _BLANK = range(7)


class _Nowhere(io.TextIOBase):
    """Takes what the library has to say about a file."""

    def write(self, text: str) -> int:
        """Forget a text."""
        return len(text)


class BinaryWorkbook:
    """A workbook whose bytes are a container of OLE with a stream `Workbook` or `Book`, or BIFF itself."""

    def __init__(self, data: bytes, builder: TextBuilder, name: str) -> None:
        import xlrd  # 60 ms: only if there is one to read

        try:
            self._book = xlrd.open_workbook(
                file_contents=data, formatting_info=True, on_demand=True, ragged_rows=True, logfile=_Nowhere()
            )
        except xlrd.XLRDError as error:
            if "encrypted" in str(error).lower():
                raise SourceUnreadable(f"{name}: needs a password", verdict="encrypted") from None
            raise
        if _CHART in (self._book.mem or b""):  # it keeps nothing of the versions before 5
            builder.skip("charts", "not read in workbooks of before 2007")
        self._errors: dict[int, str] = xlrd.error_text_from_code
        self._budget = CellBudget(name)
        self._codes: dict[int, str] = {}
        self._bold: dict[int, bool] = {}

    def sheets(self) -> Iterator[Sheet]:
        """Yield the sheets in the order of their tabs."""
        for number in range(self._book.nsheets):
            sheet = self._book.sheet_by_index(number)
            yield self._sheet(sheet)
            self._book.unload_sheet(number)

    def _sheet(self, sheet: Any) -> Sheet:
        rows = [row for number in range(sheet.nrows) if (row := self._row(sheet, number)).cells]
        notes: Notes = {}
        for (row, column), note in sheet.cell_note_map.items():
            note_on(notes, row + 1, column + 1, note.author or "", note.text or "")
        shown = {row.number: row.cells for row in rows} if notes else {}
        return Sheet(
            sheet.name,
            _STATES.get(sheet.visibility, "visible"),
            rows,
            merged=[Area(top + 1, left + 1, bottom, right) for top, bottom, left, right in sheet.merged_cells],
            heads=frozenset({sheet.horz_split_pos} if sheet.panes_are_frozen and sheet.horz_split_pos else ()),
            hidden_columns=[(each + 1, each + 1) for each, info in sheet.colinfo_map.items() if info.hidden],
            beside=remarks_of(notes, shown),
        )

    def _row(self, sheet: Any, number: int) -> SheetRow:
        cells: dict[int, str] = {}
        types, values = sheet.row_types(number), sheet.row_values(number)
        styles = sheet._cell_xf_indexes[number]
        bolds = 0
        for column, kind in enumerate(types):
            if kind in (_EMPTY, _BLANK):
                continue
            text = self._shown(sheet, number, column, kind, values[column], styles[column])
            if text and not text.isspace():
                cells[column + 1] = text
                bolds += self._is_bold(styles[column])
        self._budget.spend(len(cells))
        info = sheet.rowinfo_map.get(number)
        return SheetRow(number + 1, cells, bool(info is not None and info.hidden), is_bold=bolds == len(cells))

    def _shown(self, sheet: Any, row: int, column: int, kind: int, value: Any, style: int) -> str:
        if kind == _BOOLEAN:
            return "TRUE" if value else "FALSE"
        if kind == _ERROR:
            return self._errors.get(value, "#ERROR!")
        code = self._code(style)
        if kind in (_NUMBER, _DATE):
            return number_format(code, since_1904=bool(self._book.datemode)).number(value) if code else general(value)
        text = str(value)
        runs = sheet.rich_text_runlist_map.get((row, column))
        text = (self._raised(text, runs) if runs else text).replace(HIDDEN_ROW, "")
        return number_format(code).text(text) if code else text

    def _raised(self, text: str, runs: Any) -> str:
        """Return a text of runs with exponents as `^...`."""
        pieces: list[tuple[str, bool | None]] = [(text[: runs[0][0]], None)]
        ends = [offset for offset, _ in runs[1:]] + [len(text)]
        for (start, font), end in zip(runs, ends, strict=True):
            fonts = self._book.font_list
            raised = _RAISED.get(fonts[font].escapement) if font < len(fonts) else None
            pieces.append((text[start:end], raised))
        return spelled_runs(pieces)

    def _code(self, style: int) -> str:
        """Return the format code of a style; "" for the general one."""
        if style not in self._codes:
            found = self._book.xf_list[style] if 0 <= style < len(self._book.xf_list) else None
            stated = self._book.format_map.get(found.format_key) if found is not None else None
            code = stated.format_str if stated is not None else ""
            self._codes[style] = "" if code.lower() in ("general", "standard", "@") else code
            self._bold[style] = found is not None and self._has_weight(found.font_index)
        return self._codes[style]

    def _is_bold(self, style: int) -> bool:
        self._code(style)
        return self._bold[style]

    def _has_weight(self, font: int) -> bool:
        return font < len(self._book.font_list) and bool(self._book.font_list[font].bold)
