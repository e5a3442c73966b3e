"""The text of a sheet: its tables as rows, with what is hidden marked in words, then what stands beside them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from asky.reading.embedded.file import add_file
from asky.reading.office.workbook.blocks import CellBlock, columns_of, continues, is_amount, pieces
from asky.reading.office.workbook.sheet import Area, Sheet, SheetRow, letters
from asky.reading.office.workbook.texts import HIDDEN_ROW
from asky.reading.tables.cells import GridCell
from asky.reading.tables.rows import add_table
from asky.reading.text_builder import TextBuilder

_HIDDEN_ROW = "[hidden row] "
_HIDDEN_COLUMN = " [hidden column]"
_EMPTY = GridCell("")
_MAX_REACH = 2_000_000  # rows that merged areas go down, together; beyond it they are their first rows
_MAX_ROOM, _ROOM_FOR_CELL = 1_000_000, 20  # places of a table that may be empty; beyond it, rows name their columns


class RowMarks(TextBuilder):
    """A builder that begins the lines of hidden rows with `[hidden row] `: values in them carry a sign until then."""

    def add(self, text: str) -> None:
        """Append `text`, scrubbed."""
        if HIDDEN_ROW in text:
            lines = text.splitlines(keepends=True)
            text = "".join(_HIDDEN_ROW + each.replace(HIDDEN_ROW, "") if HIDDEN_ROW in each else each for each in lines)
        super().add(text)


def add_sheet(builder: TextBuilder, sheet: Sheet) -> None:
    """Add a sheet with its heading; its rows are used up."""
    builder.mark_heading(sheet.heading, 1)
    builder.add(f"{sheet.heading}\n")
    spans = _Spans(sheet)
    hidden = _covered(sheet.hidden_columns)
    pending: list[CellBlock] = []
    for piece in pieces(sheet):
        if isinstance(piece, CellBlock):
            if pending and not continues(pending[-1], piece, sheet):
                _add(builder, pending, spans, hidden, sheet)
                pending = []
            pending.append(piece)
            continue
        if pending:
            _add(builder, pending, spans, hidden, sheet)
            pending = []
        name, blocks = piece
        if name:
            builder.add(f"{name}\n")
        for block in blocks:
            _add(builder, [block], spans, hidden, sheet)
    if pending:
        _add(builder, pending, spans, hidden, sheet)
    for line in sheet.beside:
        builder.add(f"{line}\n")
    builder.add("\n")
    for name, data in sheet.embedded:
        add_file(builder, data, name, level=2, kind="Embedded file")
    sheet.rows.clear()


class _Spans:
    """The merged areas of a sheet, by their first rows."""

    def __init__(self, sheet: Sheet) -> None:
        last = sheet.rows[-1].number if sheet.rows else 0
        areas = [Area(each.top, each.left, min(each.bottom, last), each.right) for each in sheet.merged]
        if sum(each.bottom - each.top for each in areas) > _MAX_REACH:
            areas = [Area(each.top, each.left, each.top, each.right) for each in areas]
        self._areas = sorted(areas, key=lambda each: (each.top, each.left))
        self._tops = [each.top for each in self._areas]

    def over(self, rows: Sequence[SheetRow]) -> Iterator[tuple[SheetRow, list[Area]]]:
        """Yield each row with the areas that reach into it, from left to right."""
        place = bisect_left(self._tops, rows[0].number) if rows else 0
        open_: list[Area] = []
        for row in rows:
            end = bisect_right(self._tops, row.number, place)
            if open_ or end > place:
                open_ = [each for each in [*open_, *self._areas[place:end]] if each.bottom >= row.number]
                open_.sort(key=lambda each: each.left)
            place = end
            yield row, open_


def _add(
    builder: TextBuilder, blocks: Sequence[CellBlock], spans: _Spans, hidden: frozenset[int], sheet: Sheet
) -> None:
    if blocks[0].rows[0].is_hidden:
        builder.add(_HIDDEN_ROW)
    columns = columns_of(row for block in blocks for row in block.rows)
    places = {column: place for place, column in enumerate(columns)}
    rows = [row for block in blocks for row in block.rows]
    room = sum(places[max(row.cells)] + 1 for row in rows)
    if room > _MAX_ROOM + _ROOM_FOR_CELL * sum(len(row.cells) for row in rows):
        add_table(builder, map(_scattered, rows), header_rows=0)
        return
    cells = _grid(blocks, columns, places, spans, hidden, sheet)
    add_table(builder, cells, header_rows=blocks[0].head_rows if len(blocks) == 1 else None)


def _scattered(row: SheetRow) -> list[GridCell]:
    """Return the cells of a row with the letters of their columns."""
    marked = _marked(row.cells, ()) if row.is_hidden else row.cells
    return [GridCell(f"{letters(column)}: {text}") for column, text in sorted(marked.items())]


def _grid(
    blocks: Sequence[CellBlock],
    columns: Sequence[int],
    places: Mapping[int, int],
    spans: _Spans,
    hidden: frozenset[int],
    sheet: Sheet,
) -> Iterator[list[GridCell]]:
    """Yield the rows of blocks as cells with spans, with an empty row between blocks."""
    first = blocks[0].rows[0]
    for number, block in enumerate(blocks):
        if number:
            yield []
        named = _row_of_names(block, sheet)
        numbers = [row.number for row in block.rows]
        heads = sheet.heads | set(numbers[: block.head_rows or 0]) | _bold(block, is_first=not number)
        unnamed = block.strays
        for row, areas in spans.over(block.rows):
            cells = row.cells
            if row is named:
                lettered = _lettered(row, columns, places, areas) if number == 0 else {}
                unnamed = unnamed.difference(lettered)
                cells = {c: text + _HIDDEN_COLUMN if c in hidden else text for c, text in {**cells, **lettered}.items()}
            elif not unnamed.isdisjoint(cells):
                cells = {c: f"column {letters(c)}: {text}" if c in unnamed else text for c, text in cells.items()}
            last = max(cells)
            end = places[last] + 1
            if row.is_hidden and row is not first:
                cells = _marked(cells, areas)
            is_head = row.number in heads
            if areas:
                if not any(map(is_amount, cells.values())):  # its last name may be that of several columns
                    end = max([end, *(bisect_right(columns, each.right) for each in areas if each.left <= last)])
                yield _with_spans(row.number, cells, columns[:end], areas, numbers, is_head=is_head)
            elif is_head:
                yield [GridCell(cells[c], is_head=True) if c in cells else _EMPTY for c in columns[:end]]
            else:
                yield [GridCell(cells[c]) if c in cells else _EMPTY for c in columns[:end]]


def _bold(block: CellBlock, *, is_first: bool) -> set[int]:
    """Return the bold rows above others that are not; below a gap, those of words alone: totals are bold too."""
    found: set[int] = set()
    for row in block.rows:
        if not row.is_bold:
            return found
        if len(row.cells) > 1 and (is_first or not any(map(is_amount, row.cells.values()))):
            found.add(row.number)
    return set()


def _with_spans(
    row: int,
    cells: Mapping[int, str],
    columns: Sequence[int],
    areas: Sequence[Area],
    numbers: Sequence[int],
    *,
    is_head: bool,
) -> list[GridCell]:
    """Return the cells of a row that merged areas reach into; what such an area covers is not listed.

    `areas` are in order of their columns, as `columns` are, and `numbers` are the rows of the table.
    """
    found: list[GridCell] = []
    waiting = iter([*areas, None])
    area = next(waiting)
    until = 0
    for column in columns:
        while area is not None and area.right < column:
            area = next(waiting)
        if area is None or column < area.left:
            found.append(GridCell(cells[column], is_head=is_head) if column in cells else _EMPTY)
        elif area.top == row and area.left > until:
            until = area.right
            wide = bisect_right(columns, area.right) - bisect_left(columns, area.left)
            tall = bisect_right(numbers, area.bottom) - bisect_left(numbers, row)
            shown = cells.get(column, "") if column == area.left else ""
            found.append(GridCell(shown, rows=max(tall, 1), columns=max(wide, 1), is_head=is_head))
    return found


def _row_of_names(block: CellBlock, sheet: Sheet) -> SheetRow:
    """Return the row of a block that has the names of its columns, if any has them."""
    if block.head_rows:
        return block.rows[0]
    marked = next((row for row in block.rows if row.number in sheet.heads), None)
    return marked or next((row for row in block.rows if len(row.cells) > 1), block.rows[0])


def _lettered(
    row: SheetRow, columns: Sequence[int], places: Mapping[int, int], areas: Sequence[Area]
) -> dict[int, str]:
    """Return names for the columns that a row of names has none for, where their place in the table does not tell."""
    is_other = any(map(is_amount, row.cells.values())) or any(each.right > each.left for each in areas)
    if is_other or len(row.cells) < 2:
        return {}
    missing = [c for c in columns if c not in row.cells and places[c]]
    return {c: f"column {letters(c)}" for c in missing if places[c] != c - 1}


def _marked(cells: Mapping[int, str], areas: Sequence[Area]) -> dict[int, str]:
    """Return the cells of a hidden row with its sign, in one that shows in no other row if there is one."""
    tall = [each for each in areas if each.bottom > each.top]
    own = (c for c in sorted(cells) if not any(each.left <= c <= each.right for each in tall))
    column = next(own, min(cells))
    return {**cells, column: cells[column] + HIDDEN_ROW}


def _covered(ranges: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(column for first, last in ranges for column in range(first, last + 1))
