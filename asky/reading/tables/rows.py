"""Rows of tables as lines that can be read alone: every value with the name of its column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from asky.reading.tables.cells import GridCell, GridRow, placed, row_of
from asky.reading.tables.forms import pairs_of
from asky.reading.tables.kinds import kind_of
from asky.reading.tables.layout import TableLayout, is_marked, lay_out
from asky.reading.text_builder import TextBuilder
from asky.text.tables import column_letters, joined_name, named_row

_SAMPLE_ROWS = 100  # that decide what names the values of a table
_WIDE = 3  # columns, from which on a text that stands alone in the first one is a line and not its value
_FEW_ROWS = 2
_EMPTY = "–"  # the value of a field that is not filled in
_TOTAL = re.compile(
    r"(?:grand |sub-?)?totals?|sub-?sum|sum|gesamt\w*|(?:zwischen|del)?summ?[ae]?|totaux?|sous-total|totales?|totali?"
    r"|(?:sub)?totaal|i alt|sammanlagt",
    re.IGNORECASE,
)


def add_table(builder: TextBuilder, rows: Iterable[Sequence[GridCell]], *, header_rows: int | None = None) -> None:
    """Add a table whose cells may span rows and columns, a line for each row, as `add_rows` does.

    `header_rows` is how many of the first rows name the columns, `None` if the format does not say; cells that are
    marked as heads tell it then. A cell over several rows is shown in each of them, one over several columns once,
    under all their names, and one over the whole width on a line of its own.
    """
    _add(builder, placed(rows), header_rows, is_list=False)


def add_rows(builder: TextBuilder, rows: Iterable[Sequence[str]]) -> None:
    """Add the rows of a list: `name: value; name: value` below a line of names, or `value; value` if there are none.

    A list may have titles, notes and several tables, parted by empty rows. What names the values is decided for each
    table from its first 100 rows (see `lay_out`); the rows are not held. Empty cells and rows are left out, a row that
    repeats the names as well. White space within a cell becomes one space.
    """
    _add(builder, map(row_of, rows), None, is_list=True)


def _add(builder: TextBuilder, rows: Iterator[GridRow], header_rows: int | None, *, is_list: bool) -> None:
    table = _Table(builder, is_list=is_list)
    if header_rows:
        header = list(islice(rows, header_rows))
        sample = list(islice(rows, _SAMPLE_ROWS))
        table.add_headed(header, sample)
        rows = chain(sample, rows)
    elif header_rows == 0:
        table.has_header = False
    for row in rows:
        table.add(row)
    table.finish()


class _Table:
    """Adds rows one by one; the first ones of each table are held until its layout is known."""

    def __init__(self, builder: TextBuilder, *, is_list: bool) -> None:
        self._builder = builder
        self._is_list = is_list
        self._layout: TableLayout | None = None
        self._held: list[GridRow] = []
        self._holds = True
        self._is_soft = False  # what is held follows a line, and no empty row
        self.has_header = True

    def add_headed(self, header: Sequence[GridRow], sample: Sequence[GridRow]) -> None:
        """Begin a table with the header that the format states."""
        named = [row for row in header if row.values and not row.lone()]
        for row in header:
            if row.lone() and (named or row.merged):
                self._line(row.values[-1])
        named = named or [row for row in header if row.values and not row.merged]
        below = [row for row in sample if row.values and not row.lone()]
        if named:
            self._begin(lay_out([*named, *below], header_rows=len(named), is_list=self._is_list))
            self._holds = False

    def add(self, row: GridRow) -> None:
        """Add the next row."""
        if not row.values:
            self._decide()
            self._holds, self._is_soft = True, False
        elif self._holds:
            if self._parts_tables(row) or (self._held and self._is_marked_again(row, self._held[0], self._held[-1])):
                self._decide()
                self._holds = self._is_soft = True
            if not self._held and self._is_line(row):
                self._line(row.values[-1])
                return
            self._held.append(row)
            if len(self._held) == _SAMPLE_ROWS:
                self._decide()
        elif self._layout and self._layout.names and self._names_others(row):
            self._held, self._holds, self._is_soft = [row], True, True
        else:
            self._write(row)
            if self._is_line(row):
                self._holds = self._is_soft = True

    def finish(self) -> None:
        """Write what is held."""
        self._decide()

    def _decide(self) -> None:
        """Write the rows that are held: below the names known so far, or as a new table.

        Without an empty row before them, only what is sure to be a header begins one.
        """
        rows, self._held, self._holds = self._held, [], False
        if not rows:
            return
        layout = lay_out(rows, header_rows=None if self.has_header else 0, is_list=self._is_list)
        known = self._layout
        fit = [known.takes(row) for row in rows] if known is not None and known.names else []
        goes_on = any(fit) and (all(fit) or not layout.names)
        if known is not None and known.names:
            goes_on = known.header >= layout.header if layout.is_sure else goes_on or self._is_soft
        if not goes_on:
            for row in rows[: layout.first]:
                self._write_above(row)
            self._begin(layout)
            rows = rows[layout.end :]
        for row in rows:
            self._write(row)

    def _begin(self, layout: TableLayout) -> None:
        self._layout = layout
        if layout.line:
            self._line(layout.line)

    def _names_others(self, row: GridRow) -> bool:
        """Return whether a row seems to begin another table within the rows of this one."""
        layout = self._layout
        return (
            layout is not None
            and not row.merged
            and (
                layout.contradicts(row, several=2)
                or (layout.is_marked and is_marked(row) and len(list(row.cells())) > 1)
            )
        )

    def _is_marked_again(self, row: GridRow, first: GridRow, last: GridRow) -> bool:
        """Return whether a row is marked as the header of the rows that are held is, and none of these names."""
        is_like = is_marked(first) or (self._layout is not None and self._layout.is_marked)
        return is_like and is_marked(row) and not is_marked(last) and row.lone() is None

    def _is_line(self, row: GridRow) -> bool:
        """Return whether a row is a title, the heading of a group or a note, and not the value of its column."""
        lone = row.lone()
        if lone is None:
            return False
        column, columns, text = lone
        names = self._layout.names if self._layout else ()
        if columns > 1:
            return column == 0 or columns > len(names) // 2
        return column == 0 and (len(names) != _WIDE - 1 and (not names or kind_of(text) == "text"))

    def _parts_tables(self, row: GridRow) -> bool:
        """Return whether a line stands below rows that are held and tell their layout: another table may follow."""
        lone = row.lone()
        if lone is None or lone[0] or len(self._held) < _FEW_ROWS or kind_of(lone[2]) != "text":
            return False
        return lone[1] > 1 or all(len(held.values) >= _WIDE for held in self._held)

    def _write(self, row: GridRow) -> None:
        layout = self._layout
        if layout is None or not layout.names:
            self._write_unnamed(row)
        elif self._is_line(row):
            self._line(row.values[-1])
        elif row.values in layout.header:
            pass
        elif len(row.values) < len(layout.names) and not layout.takes(row):
            self._write_unnamed(row)
        elif row.merged:
            self._line("; ".join(self._named_cells(row, layout.names)))
        else:
            self._line(named_row(layout.names, row.values))

    def _named_cells(self, row: GridRow, names: Sequence[str]) -> Iterator[str]:
        for column, columns, text in row.cells():
            covered = [
                names[number] if number < len(names) else f"column {column_letters(number)}"
                for number in range(column, column + columns)
            ]
            name = "" if columns > 1 and column == 0 and _TOTAL.match(text) else joined_name(covered)
            yield f"{name}: {text}" if name else text

    def _write_above(self, row: GridRow) -> None:
        """Write a row above a header: `Station: Larkhaven`, or several texts."""
        texts = [text for _, _, text in row.cells()]
        is_pair = len(texts) == 2 and kind_of(texts[0]) == "text"
        self._line(_pair(*texts) if is_pair else "; ".join(texts))

    def _write_unnamed(self, row: GridRow) -> None:
        """Write a row that no header names: its first cell names the others if it is marked, or the table is a form."""
        texts = [text for _, _, text in row.cells()]
        if self._layout is not None and self._layout.is_form and len(texts) > 1:
            self._line("; ".join(_pair(name, value) for name, value in pairs_of(row)))
        elif len(texts) > 1 and (0 in row.heads and not row.heads.issuperset(range(1, len(row.values)))):
            self._line(f"{_as_name(texts[0])}: {'; '.join(texts[1:])}")
        elif len(texts) == 2 and texts[0].endswith((":", "：")):
            self._line(_pair(*texts))
        else:
            self._line("; ".join(texts))

    def _line(self, text: str) -> None:
        self._builder.add(f"{text}\n")


def _pair(name: str, value: str) -> str:
    return f"{_as_name(name)}: {value or _EMPTY}" if name else value


def _as_name(text: str) -> str:
    return text.rstrip(":： ")
