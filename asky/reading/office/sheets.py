"""Workbooks: a section for each sheet, tables as rows."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from asky.errors import SourceUnreadable
from asky.reading.office.archive import UnreadableOffice, check_archive, file_facts, media_type
from asky.reading.tables.rows import add_rows
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_MAX_CELLS = 2_000_000
_SHEETS = "xl/workbook.xml"
_FORMULA = re.compile(rb"<(?:\w{1,20}:)?f[ />]")
_SIGN_BYTES = 24  # more than any text that `_FORMULA` matches
_BLOCK_BYTES = 1 << 20


def read(data: bytes, name: str) -> Document:
    """Return the cells of an `.xlsx` file: a section for each sheet, formulas as their last computed value.

    A formula that no program has computed yet is shown itself. Raises SourceUnreadable: too_large beyond two million
    cells.
    """
    check_archive(data, name, _SHEETS)
    import openpyxl  # 220 ms: only if there is one to read

    with UnreadableOffice(name):
        values = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        has_formulas = _has_formulas(data)
        written = openpyxl.load_workbook(io.BytesIO(data), read_only=True, keep_links=False) if has_formulas else None
        builder = TextBuilder()
        budget = iter(range(_MAX_CELLS))
        for sheet in values.worksheets:
            builder.mark_heading(sheet.title, 1)
            builder.add(f"{sheet.title}\n")
            rows = sheet.iter_rows(values_only=True)
            add_rows(builder, _within(_shown(rows, written[sheet.title] if written else None), budget, name))
            builder.add("\n")
        return builder.build(
            media_type("spreadsheetml.sheet"), title=values.properties.title, metadata=file_facts(values.properties)
        )


def _within(rows: Iterable[Sequence[str]], budget: Iterator[int], name: str) -> Iterator[Sequence[str]]:
    for row in rows:
        for _ in row:
            if next(budget, None) is None:
                raise SourceUnreadable(f"{name}: more than {_MAX_CELLS:,} cells", verdict="too_large")
        yield row


def _has_formulas(data: bytes) -> bool:
    """Return whether a workbook has a formula: only then is it worth reading a second time, for what was written."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.namelist():
            if not entry.startswith("xl/worksheets/"):
                continue
            with archive.open(entry) as stream:
                before = b""
                while block := stream.read(_BLOCK_BYTES):
                    if _FORMULA.search(before + block):
                        return True
                    before = block[-_SIGN_BYTES:]
    return False


def _shown(rows: Iterable[Sequence[object]], written: Any) -> Iterator[list[str]]:
    """Yield the cells of a sheet as text; `written` is the sheet with its formulas, if it may have any."""
    if written is None:
        yield from ([_cell(value) for value in row] for row in rows)
        return
    for row, other in zip(rows, written.iter_rows(values_only=True), strict=False):
        yield [_cell(value, formula) for value, formula in zip(row, other, strict=False)]


def _cell(value: object, formula: object = None) -> str:
    if value is None:
        return str(formula) if isinstance(formula, str) and formula.startswith("=") else ""
    if isinstance(value, str):
        return value
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
