"""Tables of a page: cells in every column that they cover, one row of names, and no rows of names among the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from asky.reading.html.plain import SKIPPED
from asky.reading.tables.cells import GridCell, GridRow, placed
from asky.reading.tables.layout import TableLayout, lay_out, names_part
from asky.text.scrub import one_line
from asky.text.tables import NAME_CHARS

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_CELLS = ("td", "th")
_PARTS = ("thead", "tbody", "tfoot")
_BLOCKS = ("p", "div", "center", "br", "ul", "ol", "li", "dl", "dt", "dd", "section", "article", "blockquote")
_NOT_IN_CELLS = ("h1", "h2", "h3", "h4", "h5", "h6", "form", "pre", "hr", "figure")  # of a table of values
_BOLD = ("b", "strong")
_MAX_CELL_CHARS = 300  # of a cell in a table that marks no heads; longer ones are columns of a page
_MAX_CELLS = 200_000  # of a table once its cells stand in all their columns
_SAMPLE_ROWS = 100
# Source: HTML Standard, 4.9.11 "Attributes common to td and th elements".
_MAX_COLUMNS, _MAX_ROWS = 1_000, 65_534
_NUMBER = re.compile(r"\s*\+?(\d{1,6})")


def arrange_tables(tree: HtmlElement) -> None:
    """Rewrite the tables of values in `tree`, so that each row has a cell in every column.

    A cell over several columns or rows is repeated in all of them, shortened; one over the whole width becomes a row of
    one cell. The header becomes one row, and its cells are the only `th` of `tree`. Tables that hold tables or blocks
    of a page are left as they are, but for that.
    """
    from lxml import etree  # 25 ms: only if a page is read

    for table in list(tree.iter("table")):
        for foot in list(table.iterchildren("tfoot")):
            table.append(foot)  # shown last, wherever it is written
        rows = list(_rows(table))
        if not _is_layout(table, rows):
            for part in _parts(rows):
                if part[0] is not rows[0]:
                    table = _moved(part, table)
                _Arranged(table, part, etree.SubElement).write()
        else:
            is_large = _size(rows) > _MAX_CELLS
            for cell in (cell for row in rows for cell in row.iterchildren(*_CELLS)):
                cell.tag = "td"
                if is_large:  # the extractor writes a cell for each place: 190 rows of large spans took it 20 s
                    cell.attrib.pop("colspan", None)
                    cell.attrib.pop("rowspan", None)


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for part in table.iterchildren(*_PARTS, "tr"):
        yield from [part] if part.tag == "tr" else part.iterchildren("tr")


def _parts(rows: Sequence[HtmlElement]) -> list[list[HtmlElement]]:
    """Return the rows of each table in a table: another begins with a row of other names, of nothing but `th`."""
    parts: list[list[HtmlElement]] = []
    names: list[list[str]] = []
    for row in rows:
        cells = list(row.iterchildren(*_CELLS))
        is_head = len(cells) > 1 and all(cell.tag == "th" for cell in cells)
        texts = [_text(cell) for cell in cells] if is_head else []
        if is_head and parts and texts in names and parts[-1][-1].find("td") is not None:
            row.clear(keep_tail=True)  # names that are repeated further down
        elif not parts or (is_head and names and parts[-1][-1].find("td") is not None):
            parts.append([row])
        else:
            parts[-1].append(row)
        names += [texts] if is_head else []
    return parts


def _moved(rows: Sequence[HtmlElement], table: HtmlElement) -> HtmlElement:
    """Move rows into a table of their own behind `table`."""
    other = table.makeelement("table")
    other.tail, table.tail = table.tail, None
    table.addnext(other)
    other.extend(rows)
    return other


def _is_layout(table: HtmlElement, rows: Sequence[HtmlElement]) -> bool:
    """Return whether a table only places the parts of a page: one of one column, or of blocks without a head."""
    if (table.get("role") or "").strip().lower() in ("presentation", "none") or table.find(".//table") is not None:
        return True
    cells = [list(row.iterchildren(*_CELLS)) for row in rows]
    if max(map(len, cells), default=0) < 2 or _size(rows) > _MAX_CELLS:
        return True
    if next(table.iterdescendants(*_NOT_IN_CELLS), None) is not None:
        return True
    if any(cell.tag == "th" for row in cells if len(row) > 1 for cell in row):
        return False
    return any(len(cell.text_content()) > _MAX_CELL_CHARS for row in cells for cell in row)


def _size(rows: Sequence[HtmlElement]) -> int:
    spans = ((_span(cell, "colspan"), _span(cell, "rowspan")) for row in rows for cell in row.iterchildren(*_CELLS))
    return sum(columns * min(high or len(rows), len(rows)) for columns, high in spans)


def _span(cell: HtmlElement, name: str) -> int:
    """Return how many columns or rows a cell covers; 0 rows are all that follow."""
    found = _NUMBER.match(cell.get(name) or "")
    if found is None:
        return 1
    number = int(found[1])
    return min(number, _MAX_ROWS) if name == "rowspan" else min(max(number, 1), _MAX_COLUMNS)


class _Arranged:
    """A table of values, and where its cells stand."""

    def __init__(self, table: HtmlElement, rows: Sequence[HtmlElement], add: type) -> None:
        self._table, self._add = table, add
        self._elements = rows
        self._cells = [list(row.iterchildren(*_CELLS)) for row in rows]
        for cell in (cell for row in self._cells for cell in row):
            _flatten(cell)
        self._rows = list(placed([self._grid(number) for number in range(len(rows))]))
        self._layout, self._numbers = self._lay_out()

    def _grid(self, number: int) -> list[GridCell]:
        cells = []
        for cell in self._cells[number]:
            text = _text(cell)
            is_head = cell.tag == "th" or (bool(text) and any(_text(bold) == text for bold in cell.iter(*_BOLD)))
            high = _span(cell, "rowspan") or len(self._cells) - number
            cells.append(GridCell(text, min(high, len(self._cells) - number), _span(cell, "colspan"), is_head))
        return cells

    def _lay_out(self) -> tuple[TableLayout, list[int]]:
        """Return the layout, and the numbers of the rows that it counts: those with several cells."""
        in_head = [number for number, element in enumerate(self._elements) if _part_of(element) == "thead"]
        named = [row for number in in_head if (row := self._rows[number]).values and row.lone() is None]
        is_unnamed = bool(named) and not any(row.values[0] for row in named)
        own = {number for number in in_head if named and names_part(self._rows[number], is_unnamed=is_unnamed)}
        numbers = [n for n, row in enumerate(self._rows) if row.values and (n in own or row.lone() is None)]
        sample = [self._rows[number] for number in numbers[:_SAMPLE_ROWS]]
        if not sample:
            return TableLayout(), numbers
        in_head = [number for number in in_head if number in numbers[:_SAMPLE_ROWS]]
        header_rows = len(in_head) if 0 < len(in_head) < len(numbers) else None
        layout = lay_out(sample, header_rows=header_rows, is_list=False)
        return (layout if layout.is_sure else TableLayout()), numbers

    def write(self) -> None:
        """Rewrite the rows; the header is the last row that the layout counts to it."""
        head = self._numbers[self._layout.first : self._layout.end]
        joined = len(head) > 1
        for number, (element, row) in enumerate(zip(self._elements, self._rows, strict=True)):
            if number in head[:-1]:
                element.clear(keep_tail=True)
                continue
            is_head = number in head
            names: list[tuple[HtmlElement | None, str]] = [(None, name) for name in self._layout.names]
            cells = names if is_head and joined else self._placed(number, row)
            self._fill(element, cells, "th" if is_head else "td")

    def _placed(self, number: int, row: GridRow) -> list[tuple[HtmlElement | None, str]]:
        own = iter(self._cells[number])
        found: list[tuple[HtmlElement | None, str]] = []
        is_lone = row.lone() is not None
        for column, columns, text in row.all_cells():
            shown = one_line(text, NAME_CHARS)
            is_below = column in row.below
            if is_lone and not text:
                next(own, None)
                continue
            found.append((None, shown) if is_below else (next(own, None), shown))
            covered = shown if self._layout.names else ""  # the values of no column but their own
            found += [(None, covered)] * (0 if is_lone else columns - 1)
        return found

    def _fill(self, element: HtmlElement, cells: Sequence[tuple[HtmlElement | None, str]], tag: str) -> None:
        for child in list(element):
            element.remove(child)
        element.text = None
        for cell, text in cells:
            if cell is None:
                self._add(element, tag).text = _escaped(text)
                continue
            for name in ("colspan", "rowspan"):
                cell.attrib.pop(name, None)
            cell.tag, cell.tail = tag, None
            if self._layout.names:
                _escape(cell)
            element.append(cell)


def _part_of(row: HtmlElement) -> str:
    parent = row.getparent()
    return str(parent.tag) if parent is not None else ""


def _text(element: HtmlElement) -> str:
    pieces = [element.text or ""]
    for child in element.iterdescendants("*"):
        pieces += ["" if child.tag in SKIPPED else child.text or "", child.tail or ""]
    return " ".join("".join(pieces).split())


def _flatten(cell: HtmlElement) -> None:
    """Make the blocks of a cell inline, parted by spaces: a block within a cell must not end its row."""
    for block in cell.iterdescendants(*_BLOCKS):
        block.text = f" {block.text or ''}"
        block.tail = f" {block.tail or ''}"
        block.tag = "span"


def _escape(cell: HtmlElement) -> None:
    for each in cell.iter():
        each.text = _escaped(each.text) if each.text else each.text
        if each is not cell:
            each.tail = _escaped(each.tail) if each.tail else each.tail


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
