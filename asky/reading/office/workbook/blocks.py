"""Where the tables of a sheet are: named ones, and blocks of cells beside or below each other.

Rows that follow each other form a band; an empty row ends it. A named table is a table of its own. Of a band, blocks
with an empty column between them are tables of their own if each has a row of names of its own. All other bands may
belong together, and asky.reading.tables sees which rows are titles and names there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from asky.reading.office.workbook.sheet import NamedTable, Sheet, SheetRow

_LAST_ROWS = 20


@dataclass(slots=True)
class CellBlock:
    """Rows of the cells in some columns; `head_rows` is what the file says of its names, `None` if nothing."""

    rows: Sequence[SheetRow]
    columns: Sequence[int]
    head_rows: int | None = None
    strays: frozenset[int] = frozenset()  # columns far from the others, without a name there


def pieces(sheet: Sheet) -> Iterator[CellBlock | tuple[str, list[CellBlock]]]:
    """Yield the parts of a sheet from top to bottom: blocks that may belong together, or ones that stand alone."""
    tables = sorted(sheet.tables, key=lambda table: (table.area.top, table.area.left))
    place = 0
    for band in _bands(sheet):
        within = []
        while place < len(tables) and tables[place].area.top <= band[-1].number:
            if tables[place].area.bottom >= band[0].number:
                within.append(tables[place])
            place += 1
        if within:
            yield from _with_tables(band, within)
            continue
        blocks = _blocks(band)
        if len(blocks) == 1:
            yield blocks[0]
        else:
            yield "", blocks


def _with_tables(band: Sequence[SheetRow], tables: Sequence[NamedTable]) -> Iterator[tuple[str, list[CellBlock]]]:
    """Yield the tables of a band and what stands around them, in the order of their first rows."""
    parts: list[tuple[int, int, str, CellBlock]] = []
    numbers = [row.number for row in band]
    rest = [_part(row, row.cells) for row in band]
    for table in tables:
        area = table.area
        inner = []
        for row in rest[bisect_left(numbers, area.top) : bisect_right(numbers, area.bottom)]:
            part = _part(row, [column for column in row.cells if area.left <= column <= area.right])
            for column in part.cells:
                del row.cells[column]
            if part.cells:
                inner.append(part)
        if inner:
            parts.append((area.top, area.left, table.name, CellBlock(inner, columns_of(inner), table.header_rows)))
    for around in _runs([row for row in rest if row.cells]):
        parts += ((block.rows[0].number, block.columns[0], "", block) for block in _blocks(around))
    for _, _, name, block in sorted(parts, key=lambda part: part[:2]):
        yield name, [block]


def columns_of(rows: Iterable[SheetRow]) -> list[int]:
    """Return the columns in which rows have something, in order."""
    return sorted(set().union(*(row.cells for row in rows)))


def _bands(sheet: Sheet) -> Iterator[list[SheetRow]]:
    """Yield the runs of rows without an empty one between; those within a merged area or a table are not empty."""
    areas = [*(table.area for table in sheet.tables), *(each for each in sheet.merged if each.bottom > each.top)]
    filled = {row.number: row for row in sheet.rows} if areas else {}
    bridges: dict[int, int] = {}
    for each in areas:
        if each.top in filled and each.left in filled[each.top].cells:
            bridges[each.top] = max(bridges.get(each.top, 0), each.bottom)
    yield from _runs(sheet.rows, bridges)


def _runs(rows: Sequence[SheetRow], bridges: dict[int, int] | None = None) -> Iterator[list[SheetRow]]:
    run: list[SheetRow] = []
    until = 0
    for row in rows:
        if run and row.number > max(run[-1].number, until) + 1:
            yield run
            run = []
        run.append(row)
        if bridges:
            until = max(until, bridges.get(row.number, 0))
    if run:
        yield run


def _blocks(band: Sequence[SheetRow]) -> list[CellBlock]:
    """Return the blocks of a band from left to right: one, or several that each have names of their own."""
    used = columns_of(band)
    segments: list[list[int]] = []
    for column in used:
        if segments and column == segments[-1][-1] + 1:
            segments[-1].append(column)
        else:
            segments.append([column])
    strays = _strays(band, segments)
    whole = [each for each in segments if not strays.issuperset(each)]
    if len(whole) > 1:
        parts = [[row for row in (_part(row, each) for row in band) if row.cells] for each in whole]
        if all(_has_names(rows, columns) for rows, columns in zip(parts, whole, strict=True)):
            return _side_by_side(band, whole, strays)
    return [CellBlock(band, used, strays=strays)]


def _side_by_side(
    band: Sequence[SheetRow], segments: Sequence[Sequence[int]], strays: frozenset[int]
) -> list[CellBlock]:
    """Return a block for each segment; a stray goes to the one on its left that has something in its row."""
    rows: list[list[SheetRow]] = [[] for _ in segments]
    for row in band:
        parts = [_part(row, each) for each in segments]
        filled = [number for number, each in enumerate(parts) if each.cells] or [0]
        for column in strays.intersection(row.cells):
            left = [number for number in filled if segments[number][0] < column]
            parts[left[-1] if left else filled[0]].cells[column] = row.cells[column]
        for number, each in enumerate(parts):
            if each.cells:
                rows[number].append(each)
    columns = [columns_of(each) for each in rows]
    return [CellBlock(each, used, strays=strays.intersection(used)) for each, used in zip(rows, columns, strict=True)]


def _part(row: SheetRow, columns: Iterable[int]) -> SheetRow:
    cells = row.cells
    return SheetRow(row.number, {c: cells[c] for c in columns if c in cells}, row.is_hidden, row.is_bold)


def _has_names(rows: Sequence[SheetRow], columns: Sequence[int]) -> bool:
    """Return whether the first row of several cells has words in all columns but the first, and rows below it."""
    for number, row in enumerate(rows):
        if len(row.cells) < 2:
            continue
        named = [column for column in columns if column in row.cells]
        return (
            len(rows) > number + 1
            and len(named) >= max(len(columns) - 1, 2)
            and columns[-1] in row.cells
            and not any(is_amount(text) for text in row.cells.values())
        )
    return False


def is_amount(text: str) -> bool:
    """Return whether a text begins like a number."""
    return text[:1].isdigit() or (text[:1] in "+-" and text[1:2].isdigit())


def _strays(band: Sequence[SheetRow], segments: Sequence[Sequence[int]]) -> frozenset[int]:
    """Return the columns apart from the widest block that have nothing in the first row of several cells."""
    if len(segments) < 2:
        return frozenset()
    widest = max(segments, key=len)
    head = next((row for row in band if len(row.cells) > 1), band[0])
    return frozenset(c for each in segments if each is not widest for c in each if c not in head.cells)


def continues(block: CellBlock, following: CellBlock, sheet: Sheet) -> bool:
    """Return whether a block below an empty row may belong to the table above.

    It does not if it begins with names, or has words where that table has numbers.
    """
    head = following.rows[0]
    has_words = len(head.cells) > 1 and not any(map(is_amount, head.cells.values()))
    is_set_apart = head.number in sheet.heads or (has_words and head.is_bold and len(following.rows) > 1)
    shares = following.columns[0] <= block.columns[-1] and block.columns[0] <= following.columns[-1]
    had_table = any(len(row.cells) > 1 for row in block.rows)
    amounts = _columns_of_amounts(block)
    known = [text for column, text in head.cells.items() if column in amounts]
    is_other = bool(known) and not any(map(is_amount, known))
    return shares and not (had_table and (is_set_apart or is_other))


def _columns_of_amounts(block: CellBlock) -> set[int]:
    """Return the columns of a block whose last cells are mostly numbers, dates or times."""
    counts = Counter[int]()
    for row in block.rows[-_LAST_ROWS:]:
        counts.update({column: 1 if is_amount(text) else -1 for column, text in row.cells.items()})
    return {column for column, count in counts.items() if count > 0}
