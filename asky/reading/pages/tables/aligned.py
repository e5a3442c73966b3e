"""Tables without drawn cells: what stands in which column, by where it stands on its row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from asky.reading.pages.lines import Line, Rule, spelled_out
from asky.reading.pages.printed import PrintedTable, header_rows, is_number
from asky.reading.pages.words import joined

GAP = 1.6
"""Widths of a letter m between the cells of a table; spaces, also after a sentence, are below 1."""

_MARKER = re.compile(r"[•‣◦▪●■□–—*∗⋄▸►✓✗☐☑☒-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]")
_SECTION = re.compile(r"\d{1,3}(?:\.\d{1,3})+\.?")
_SENTENCE = 25  # characters
_FEW_ROWS = 4
_SINGLE = 2  # lines of their own between two rows
_LIKE = 3.0  # points: columns begin or end within
_MISFITS = 0.2  # of the rows
_FILLED = 0.5  # of the cells; labels in a drawing fill fewer
_ACROSS = 0.6  # of the table's width, that a rule below its header covers
_CLOSE = 0.85  # of the usual step between rows: the next line of the same row


@dataclass(slots=True)
class _Cell:
    text: str
    x0: float
    x1: float
    bold: bool
    size: float


@dataclass(slots=True)
class _TableRow:
    cells: list[_Cell]
    base: float
    top: float


def cells_of(row: Sequence[Line]) -> list[list[Line]]:
    """Return the lines of a row by cell; the mark or number of a list's item belongs to what follows it."""
    found: list[list[Line]] = []
    for line in row:
        before = found[-1][-1] if found else None
        is_marked = len(found) == 1 and before is not None and is_marker(before.text, line.text)
        if before is None or (not is_marked and (line.in_column or line.x0 - before.x1 > GAP * row[0].size)):
            found.append([line])
        else:
            found[-1].append(line)
    return found


def is_marker(text: str, following: str) -> bool:
    """Return whether a piece is the mark or number of an item or a paragraph that follows it."""
    text = text.strip()
    if _MARKER.fullmatch(text):
        return True
    return _SECTION.fullmatch(text) is not None and len(following.strip()) >= _SENTENCE


def aligned_table(rows: Sequence[Sequence[Line]], rules: Sequence[Rule]) -> tuple[PrintedTable, int, int] | None:
    """Return the table of these rows, and the first and the last of them that are in it; `None` if there is none.

    Rows at its ends that have cells in none of its columns belong to something else.
    """
    made = [_table_row(row) for row in rows]
    bands = _bands(made)
    if bands is None:
        return None
    start, end = 0, len(made)
    while start < end and not _fits_bands(made[start], bands):
        start += 1
    while end > start and not _fits_bands(made[end - 1], bands):
        end -= 1
    made = made[start:end]
    if sum(len(row.cells) > 1 for row in made) < 2:
        return None
    table = _table(made, bands, rules)
    return (table, start, end) if table is not None else None


def _fits_bands(row: _TableRow, bands: Sequence[tuple[float, float]]) -> bool:
    return all(any(cell.x0 < right and left < cell.x1 for left, right in bands) for cell in row.cells)


def _table(made: Sequence[_TableRow], bands: list[tuple[float, float]], rules: Sequence[Rule]) -> PrintedTable | None:
    width = len(bands)
    matrix: list[list[str]] = []
    across: list[list[str]] = []
    misfits = 0
    for row in made:
        texts, wide = [""] * width, [""] * width
        for cell in row.cells:
            columns = _columns_under(cell, bands)
            words = cell.text.split()
            if len(columns) > 1 and len(words) == len(columns) and not any(texts[column] for column in columns):
                for column, word in zip(columns, words, strict=True):  # cells that stand close together
                    texts[column] = word
                continue
            if texts[columns[0]]:
                misfits += 1
                texts[columns[0]] += f" {cell.text}"
            else:
                texts[columns[0]] = cell.text
            for column in columns[1:]:
                wide[column] = cell.text
        matrix.append(texts)
        across.append(wide)
    filled = sum(bool(a or b) for row, wide in zip(matrix, across, strict=True) for a, b in zip(row, wide, strict=True))
    if misfits > _MISFITS * len(made) or filled < _FILLED * len(matrix) * width:
        return None
    bold = [all(cell.bold for cell in row.cells) for row in made]
    above = _rows_above_rule(made, rules)
    matrix, across, bold, above = _unwrapped(made, matrix, across, bold, above)
    if len(matrix) < 2:
        return None
    spanned = 1 + next((number for number, wide in enumerate(across) if not any(wide)), len(across))
    count = max(above, spanned)
    named = [
        [a or b for a, b in zip(row, wide, strict=True)] for row, wide in zip(matrix[:count], across, strict=False)
    ]
    header, styled = header_rows([*named, *matrix[count:]], bold, above_rule=above, spanned=spanned)
    if header > 1:
        matrix[:header] = named[:header]
    return PrintedTable(matrix, bands, header, styled=styled)


def _table_row(row: Sequence[Line]) -> _TableRow:
    cells = [
        _Cell(
            " ".join(spelled_out(line).strip() for line in cell),
            cell[0].x0,
            cell[-1].x1,
            all(line.bold for line in cell),
            cell[0].size,
        )
        for cell in cells_of(row)
    ]
    return _TableRow(cells, row[0].base, min(line.y0 for line in row))


def _bands(rows: Sequence[_TableRow]) -> list[tuple[float, float]] | None:
    """Return the edges of the columns: those of the rows with most cells, else of the most rows, if they are apart."""
    counts = Counter(len(row.cells) for row in rows if len(row.cells) > 1)
    several = [count for count, times in counts.items() if times > 1]
    if not several:
        return None
    for count in dict.fromkeys((max(several), counts.most_common(1)[0][0])):
        full = [row.cells for row in rows if len(row.cells) == count]
        bands = [
            (min(cell.x0 for cell in column), max(cell.x1 for cell in column)) for column in zip(*full, strict=True)
        ]
        if all(before[1] < after[0] + 1 for before, after in pairwise(bands)):
            return _with_further(bands, rows)
    return None


def _with_further(bands: list[tuple[float, float]], rows: Sequence[_TableRow]) -> list[tuple[float, float]]:
    """Return the bands with those of cells that stand between them, or beside them in several rows, in order."""
    beside: list[_Cell] = []
    for row in rows:
        for cell in row.cells if len(row.cells) > 1 else ():
            if all(cell.x1 <= left or cell.x0 >= right for left, right in bands):
                is_same = any(cell.x0 < other.x1 and other.x0 < cell.x1 for other in beside)
                if is_same or bands[0][1] <= cell.x0 < bands[-1][0]:
                    bands = sorted([*bands, (cell.x0, cell.x1)])
                beside.append(cell)
    return bands


def _columns_under(cell: _Cell, bands: Sequence[tuple[float, float]]) -> list[int]:
    shared = [min(cell.x1, right) - max(cell.x0, left) for left, right in bands]
    over = [
        column
        for column, (left, right) in enumerate(bands)
        if shared[column] > 0.5 * min(cell.x1 - cell.x0, right - left)
    ]
    if over:
        return over
    return [max(range(len(bands)), key=lambda column: shared[column])]


def _rows_above_rule(rows: Sequence[_TableRow], rules: Sequence[Rule]) -> int:
    """Return how many rows stand above the first line across the table that has a row above it; 0 if most rows do."""
    left, right = min(row.cells[0].x0 for row in rows), max(row.cells[-1].x1 for row in rows)
    across = [rule.y0 for rule in rules if rule.is_level and _shared(rule, left, right) > _ACROSS * (right - left)]
    ruled = [
        number
        for number, (before, after) in enumerate(pairwise(rows), start=1)
        if any(before.base - 1 < y < after.base - 0.5 * after.cells[0].size for y in across)
    ]
    return ruled[0] if ruled and (2 * len(ruled) < len(rows) or len(rows) < _FEW_ROWS) else 0


def _shared(rule: Rule, left: float, right: float) -> float:
    return min(rule.x1, right) - max(rule.x0, left)


def _unwrapped(
    rows: Sequence[_TableRow],
    matrix: Sequence[list[str]],
    across: Sequence[list[str]],
    bold: Sequence[bool],
    above: int,
) -> tuple[list[list[str]], list[list[str]], list[bool], int]:
    """Return the rows with the further lines of their cells joined to them."""
    steps = [after.base - before.base for before, after in pairwise(rows)]
    usual = (
        median(step for step, row in zip(steps, matrix[1:], strict=True) if row[0])
        if any(row[0] for row in matrix[1:])
        else 0.0
    )
    found: list[list[str]] = []
    wide: list[list[str]] = []
    heavy: list[bool] = []
    left = above
    for number, row in enumerate(matrix):
        if number and found and _goes_on(found[-1], row, steps[number - 1], usual):
            found[-1] = [joined(a, b) if a and b else a or b for a, b in zip(found[-1], row, strict=True)]
            left -= number < above
        else:
            found.append(list(row))
            wide.append(across[number])
            heavy.append(bold[number])
    return found, wide, heavy, left


def _goes_on(before: Sequence[str], row: Sequence[str], step: float, usual: float) -> bool:
    """Return whether a row holds only further lines of the cells above: no key, no numbers, near or lower case."""
    filled = [column for column, cell in enumerate(row) if cell]
    if row[0] and (len(filled) > 1 or not row[0][0].islower()):
        return False
    if any(is_number(row[column]) or not before[column] or is_number(before[column]) for column in filled):
        return False
    return step < _CLOSE * usual or all(row[column][0].islower() for column in filled)


def table_runs(rows: Sequence[Sequence[Line]], leading: float) -> Iterator[tuple[int, int]]:
    """Yield where rows of cells begin and end; single lines between them belong to them if they stand in a column."""
    start: int | None = None
    last = -1
    cells = [cells_of(row) for row in rows]
    for number, row in enumerate(rows):
        step = row[0].base - rows[number - 1][0].base if number else 0.0
        if len(cells[number]) > 1 and (start is None or (0 < step < 2.5 * leading and number - last <= _SINGLE + 1)):
            start = number if start is None else start
            last = number
        elif start is not None and not (
            len(cells[number]) == 1 and number - last <= _SINGLE and _fits(row, rows[start:number], step, leading)
        ):
            yield start, last + 1
            start = number if len(cells[number]) > 1 else None
            last = number if start is not None else last
    if start is not None:
        yield start, last + 1


def _fits(row: Sequence[Line], table: Sequence[Sequence[Line]], step: float, leading: float) -> bool:
    if not 0 < step < 2 * leading:
        return False
    lines = [line for each in table[-4:] for line in each]
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    begins = any(abs(line.x0 - row[0].x0) < _LIKE or abs(line.x1 - row[-1].x1) < _LIKE for line in lines)
    return begins and row[-1].x1 - row[0].x0 < 0.5 * (right - left)
