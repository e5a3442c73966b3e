"""The sheets of an Office Open XML workbook, in the order of its tabs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING
from xml.parsers.expat import ExpatError

from asky.errors import SourceUnreadable
from asky.reading.office.archive import Package, parse_xml
from asky.reading.office.workbook.beside import drawn, notes_of, remarks_of
from asky.reading.office.workbook.cells import CellBudget, CellReader
from asky.reading.office.workbook.sheet import MAX_COLUMNS, NamedTable, Sheet, area
from asky.reading.office.workbook.styles import Styles
from asky.reading.office.workbook.texts import plain_bytes, prefix_of, shared_strings, unescaped
from asky.reading.text_builder import TextBuilder

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_DATA_START = re.compile(rb"<(?:[\w.-]{1,60}:)?sheetData(?=[\s/>])")
_NAME_BYTES = 100
_SHEETS = ("worksheet", "chartsheet", "dialogsheet")
_DAMAGED = (SyntaxError, ExpatError, ValueError, LookupError)  # lxml raises a SyntaxError
_TRUE = ("1", "true")


class OpenWorkbook:
    """A workbook of Excel since 2007 and of the programs that write its format.

    `main` is the path of its own part. Raises SourceUnreadable: unsupported if that is no workbook.
    """

    def __init__(self, package: Package, main: str, builder: TextBuilder, name: str) -> None:
        self._package, self._builder, self._main = package, builder, main
        root = package.xml(main)
        if root is None or not str(root.tag).endswith("}workbook"):
            raise SourceUnreadable(f"{name}: its content does not match its name", verdict="unsupported")
        settings = root.find("{*}workbookPr")
        since_1904 = settings is not None and settings.get("date1904") in _TRUE
        self._relations = package.relations(self._main)
        self._listed = [
            (
                unescaped(each.get("name", "")),
                each.get("state", "visible"),
                next((value for key, value in each.attrib.items() if key.endswith("}id")), ""),
            )
            for each in root.iterfind("{*}sheets/{*}sheet")
        ]
        texts = [path for path in package.related(self._main, "sharedStrings") if package.raw(path) is not None]
        styles = package.related(self._main, "styles")
        self._cells = CellReader(
            shared_strings(package.raw(texts[0]) or b"") if texts else [],
            Styles(package, styles[0] if styles else None, since_1904=since_1904),
            CellBudget(name),
            since_1904=since_1904,
            is_computed_later=any(each.get("fullCalcOnLoad") in _TRUE for each in root.iterfind("{*}calcPr")),
        )

    def sheets(self) -> Iterator[Sheet]:
        """Yield the sheets; what is not read of them is noted in the builder. Raises ValueError if all are damaged."""
        found = 0
        for name, state, number in self._listed:
            relation = self._relations.get(number)
            data = self._package.raw(relation.target) if relation is not None else None
            if relation is None or data is None:
                self._builder.skip(f"sheet {name}", "missing in the file")
            elif relation.kind not in _SHEETS:
                self._builder.skip(f"sheet {name}", "a sheet of macros")
            else:
                sheet = Sheet(name, state)
                if self._tried("sheet", name, partial(self._fill, sheet, relation.target, plain_bytes(data))):
                    found += 1
                    yield sheet
        if self._listed and not found:
            raise ValueError("no sheet of it can be read")

    def _fill(self, sheet: Sheet, path: str, data: bytes) -> None:
        """Read a sheet; the parts that belong to it cost only themselves if they are damaged."""
        before = self._cells.missing
        start, end = _extent(data)
        root = parse_xml(data[:start] + data[end:])
        if start < end:
            form = root.find("{*}sheetFormatPr")
            sheet.rows = self._cells.rows(
                memoryview(data)[start:end],
                prefix_of(data[start : start + _NAME_BYTES]),
                hides_rows=form is not None and form.get("zeroHeight") in _TRUE,
            )
        if missing := self._cells.missing - before:
            self._builder.skip(f"sheet {sheet.name}", f"the texts of {missing:,} cells are missing in the file")
        found = [area(each.get("ref", "")) for each in root.iterfind("{*}mergeCells/{*}mergeCell")]
        sheet.merged = [each for each in found if each is not None]
        sheet.heads = _heads(root)
        sheet.hidden_columns = list(_hidden_columns(root))
        self._tried("tables on", sheet.name, partial(self._add_tables, sheet, path))
        self._tried("drawings on", sheet.name, partial(self._add_drawn, sheet, path))
        self._tried("comments on", sheet.name, partial(self._add_notes, sheet, path))
        self._tried("objects on", sheet.name, partial(self._add_embedded, sheet, path))

    def _tried(self, what: str, name: str, read: Callable[[], None]) -> bool:
        """Return whether something could be read; if not, it is noted."""
        try:
            read()
        except _DAMAGED:
            self._builder.skip(f"{what} {name}", "damaged")
            return False
        return True

    def _add_tables(self, sheet: Sheet, path: str) -> None:
        sheet.tables = list(_tables(self._package, path))

    def _add_drawn(self, sheet: Sheet, path: str) -> None:
        sheet.beside = drawn(self._package, path, self._builder, sheet.name)

    def _add_notes(self, sheet: Sheet, path: str) -> None:
        notes = notes_of(self._package, path, self._main)
        shown = {row.number: row.cells for row in sheet.rows} if notes else {}
        sheet.beside = [*sheet.beside, *remarks_of(notes, shown)]

    def _add_embedded(self, sheet: Sheet, path: str) -> None:
        """Find the files of Office that stand as objects on a sheet; others are noted."""
        found = []
        for relation in self._package.relations(path).values():
            data = self._package.raw(relation.target) if relation.kind == "package" else None
            if data is not None:
                found.append((posixpath.basename(relation.target), data))
            elif relation.kind == "oleObject":
                self._builder.skip(f"object on {sheet.name}", "made by another program")
        sheet.embedded = found


def _extent(data: bytes) -> tuple[int, int]:
    """Return where the rows of a sheet begin and end; the same offset if there are none."""
    start = _DATA_START.search(data)
    end = data.rfind(b"</", 0, data.rfind(b"sheetData"))
    if start is None or end < start.end():
        return 0, 0
    return start.start(), data.index(b">", end) + 1


def _tables(package: Package, path: str) -> Iterator[NamedTable]:
    for part in package.related(path, "table"):
        root = package.xml(part)
        found = area(root.get("ref", "")) if root is not None else None
        if root is None or found is None:
            continue
        heads = root.get("headerRowCount", "1")
        name = unescaped(root.get("displayName") or root.get("name", ""))
        yield NamedTable(name, found, int(heads) if heads.isdecimal() else 1)


def _heads(root: Element) -> frozenset[int]:
    """Return the rows that a filter or frozen panes set apart as names."""
    heads = set()
    for each in root.iterfind("{*}autoFilter"):
        found = area(each.get("ref", ""))
        heads.add(found.top if found else 0)
    for pane in root.iterfind("{*}sheetViews/{*}sheetView/{*}pane"):
        rows = pane.get("ySplit", "").partition(".")[0]
        if (
            pane.get("state", "").startswith("frozen")
            and rows.isdecimal()
            and pane.getparent().get("topLeftCell") is None
        ):
            heads.add(int(rows))
    return frozenset(heads - {0})


def _hidden_columns(root: Element) -> Iterator[tuple[int, int]]:
    for each in root.iterfind("{*}cols/{*}col"):
        first, last = each.get("min", ""), each.get("max", "")
        is_hidden = each.get("hidden") in _TRUE or each.get("width") == "0"
        if is_hidden and first.isdecimal() and last.isdecimal():
            yield int(first), min(int(last), MAX_COLUMNS)
