"""Tables whose cells are drawn: the lines between them say which text stands in which cell."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence, Set
from itertools import pairwise

from asky.reading.pages.lines import Line, Rule, spelled_out
from asky.reading.pages.printed import MAX_NAME_CHARS, PrintedTable, header_rows, is_number
from asky.reading.pages.words import joined

_NEAR = 3.0  # points: lines that end nearer meet
_MAX_CROSSINGS = 200_000
_MAX_CELLS = 20_000
_LAYOUT_LINES = 14  # of one cell: the page is set in boxes
_FEW_CELLS = 6
_BELOW = 100_003  # makes the number of a block that of its part below a table
_OVER = 2.5  # points by which a text may run over the line beside it
_MISFITS = 0.1  # of the lines
_FILLED = 0.3  # of the cells: with fewer it is the grid of a chart

_Place = tuple[int, int]
_DrawnRow = tuple[int, dict[_Place, list[Line]]]


class _Grid:
    """Level and upright lines that meet: `xs` and `ys` are the edges of columns and rows."""

    def __init__(self, level: Sequence[Rule], upright: Sequence[Rule]) -> None:
        self.xs = _edges([rule.x0 for rule in upright], [x for rule in level for x in (rule.x0, rule.x1)])
        self.ys = _edges([rule.y0 for rule in level], [y for rule in upright for y in (rule.y0, rule.y1)])
        self._level = _by_edge(self.ys, [(rule.y0, rule.x0, rule.x1) for rule in level])
        self._upright = _by_edge(self.xs, [(rule.x0, rule.y0, rule.y1) for rule in upright])

    def cells(self) -> dict[_Place, _Place]:
        """Return the upper left place of the cell that covers each place, row and column."""
        owners: dict[_Place, _Place] = {}
        rows, columns = len(self.ys) - 1, len(self.xs) - 1
        for row in range(rows):
            for column in range(columns):
                if (row, column) in owners:
                    continue
                right = column
                while right + 1 < columns and (row, right + 1) not in owners and not self._has_upright(row, right + 1):
                    right += 1
                low = row
                while low + 1 < rows and not any(self._has_level(low + 1, at) for at in range(column, right + 1)):
                    low += 1
                for y in range(row, low + 1):
                    for x in range(column, right + 1):
                        owners.setdefault((y, x), (row, column))
        return owners

    def _has_upright(self, row: int, edge: int) -> bool:
        return _is_covered(self._upright[edge], (self.ys[row] + self.ys[row + 1]) / 2)

    def _has_level(self, edge: int, column: int) -> bool:
        return _is_covered(self._level[edge], (self.xs[column] + self.xs[column + 1]) / 2)


def with_grids(lines: Sequence[Line], rules: Sequence[Rule]) -> tuple[Line, ...]:
    """Return the lines with each drawn table as one line in the place of its first; linear in lines and crossings."""
    found = list(lines)
    for grid in _grids(rules):
        inside = [
            at
            for at, line in enumerate(found)
            if line.table is None
            and grid.xs[0] - _NEAR < (line.x0 + line.x1) / 2 < grid.xs[-1] + _NEAR
            and grid.ys[0] - 1 < line.base - 0.3 * line.size < grid.ys[-1] + 1
        ]
        table = _table(grid, [found[at] for at in inside]) if len(inside) > 2 else None
        if table is None:
            continue
        of_table = [found[at] for at in inside]
        gone = set(inside[1:])
        found = _parted(found, {line.block for line in of_table}, max(line.base for line in of_table))
        found[inside[0]] = Line(
            table.text(),
            min(line.x0 for line in of_table),
            min(line.y0 for line in of_table),
            max(line.x1 for line in of_table),
            max(line.y1 for line in of_table),
            min(line.base for line in of_table),
            sorted(line.size for line in of_table)[len(of_table) // 2],
            False,
            False,
            -1_000_000 - inside[0],
            table=table,
        )
        found = [line for at, line in enumerate(found) if at not in gone]
    return tuple(found)


def _parted(lines: Sequence[Line], blocks: Set[int], base: float) -> list[Line]:
    """Return the lines, of which those of a table's blocks that stand below it are blocks of their own."""
    below = {block: _BELOW * (1 + abs(block)) for block in blocks}
    return [
        line._replace(block=below[line.block]) if line.block in below and line.base > base else line for line in lines
    ]


def _grids(rules: Sequence[Rule]) -> list[_Grid]:
    """Return the grids of at least two rows and columns, the smaller ones first."""
    level = [rule for rule in rules if rule.is_level]
    upright = sorted((rule for rule in rules if not rule.is_level), key=lambda rule: rule.x0)
    places = [rule.x0 for rule in upright]
    if len(level) * len(upright) > _MAX_CROSSINGS:
        return []
    parent = list(range(len(level) + len(upright)))

    def top(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for number, across in enumerate(level):
        for other in range(bisect_left(places, across.x0 - _NEAR), bisect_right(places, across.x1 + _NEAR)):
            if upright[other].y0 - _NEAR <= across.y0 <= upright[other].y1 + _NEAR:
                parent[top(number)] = top(len(level) + other)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for number, rule in enumerate([*level, *upright]):
        groups[top(number)][number >= len(level)].append(rule)
    grids = [_Grid(*group) for group in groups.values() if len(group[0]) > 1 and len(group[1])]
    grids = [
        grid for grid in grids if len(grid.xs) > 2 and len(grid.ys) > 2 and len(grid.xs) * len(grid.ys) <= _MAX_CELLS
    ]
    return sorted(grids, key=lambda grid: (grid.xs[-1] - grid.xs[0]) * (grid.ys[-1] - grid.ys[0]))


def _edges(own: Sequence[float], ends: Sequence[float]) -> list[float]:
    """Return places in order, those that are near as one; the outermost ends of the lines across count as well."""
    outer = [x for x in (min(ends, default=0.0), max(ends, default=0.0)) if all(abs(x - y) > 2 * _NEAR for y in own)]
    found: list[float] = []
    for place in sorted([*own, *outer]):
        if not found or place - found[-1] > _NEAR:
            found.append(place)
    return found


def _by_edge(edges: Sequence[float], lines: Sequence[tuple[float, float, float]]) -> list[list[tuple[float, float]]]:
    found: list[list[tuple[float, float]]] = [[] for _ in edges]
    for place, start, end in lines:
        at = bisect_left(edges, place - _NEAR)
        if at < len(edges):
            found[at].append((start, end))
    return found


def _is_covered(parts: Sequence[tuple[float, float]], place: float) -> bool:
    return any(start - 1 <= place <= end + 1 for start, end in parts)


def _table(grid: _Grid, lines: Sequence[Line]) -> PrintedTable | None:
    """Return what stands in the cells; `None` if that is no table: a drawing, or a page that is set in boxes."""
    owners = grid.cells()
    held: dict[_Place, list[Line]] = defaultdict(list)
    misfits = 0
    for line in lines:
        row = min(max(bisect_right(grid.ys, line.base - 0.3 * line.size) - 1, 0), len(grid.ys) - 2)
        column = min(max(bisect_right(grid.xs, (line.x0 + line.x1) / 2) - 1, 0), len(grid.xs) - 2)
        held[owners[row, column]].append(line)
        misfits += not _fits(line, grid, owners, owners[row, column])
    if misfits > _MISFITS * len(lines) or len(held) < _FILLED * len(set(owners.values())):
        return None
    if len(held) < 3 or len({row for row, _ in held}) < 2 or len({column for _, column in held}) < 2:
        return None
    if len(held) <= _FEW_CELLS and max(map(len, held.values())) > _LAYOUT_LINES:
        return None
    if any(sum(len(line.text) for line in each) > 4_000 for each in held.values()):
        return None
    return _written(grid, owners, held, _unstacked(grid, owners, held))


def _fits(line: Line, grid: _Grid, owners: dict[_Place, _Place], place: _Place) -> bool:
    """Return whether a line stands within the sides of its cell; one in a drawing runs over the lines beside it."""
    row, column = place
    right = column
    while owners.get((row, right + 1)) == place:
        right += 1
    return grid.xs[column] - _OVER <= line.x0 and line.x1 <= grid.xs[right + 1] + _OVER


def _unstacked(grid: _Grid, owners: dict[_Place, _Place], held: dict[_Place, list[Line]]) -> list[_DrawnRow]:
    """Return the lines of the cells by drawn row; one that holds several rows of values is divided into them."""
    found: list[_DrawnRow] = []
    rows: dict[int, dict[_Place, list[Line]]] = defaultdict(dict)
    for place, lines in held.items():
        rows[place[0]][place] = sorted(lines, key=lambda each: each.base)
    for row in range(len(grid.ys) - 1):
        cells = rows[row]
        bases = _stacked_bases(list(cells.values()))
        if not bases or any(owners.get((row + 1, place[1])) == place for place in cells):
            found.append((row, cells))
            continue
        parts: list[dict[_Place, list[Line]]] = [{} for _ in bases]
        for place, lines in cells.items():
            for line in lines:
                at = max(0, bisect_right(bases, line.base + 0.4 * line.size) - 1)
                parts[at].setdefault(place, []).append(line)
        found += ((row, part) for part in parts)
    return found


def _stacked_bases(cells: Sequence[Sequence[Line]]) -> list[float]:
    """Return the base lines of the rows in a drawn row; none if it is one row.

    A column of numbers counts the rows, if the other columns have as many lines or more, level with them.
    """
    columns = [lines for lines in cells if len(lines) > 1 and all(_is_value(line.text) for line in lines)]
    counts = [len(lines) for lines in columns]
    if not counts or len(cells) < 2:
        return []
    rows = max(columns, key=len)
    others = [lines for lines in cells if lines is not rows]
    level = sum(
        any(abs(line.base - base.base) < 0.4 * line.size for line in lines) for base in rows for lines in others
    )
    if level < 0.6 * len(rows) * len(others) or max(map(len, others)) < len(rows):
        return []
    return [line.base for line in rows]


def _is_value(text: str) -> bool:
    words = text.split()
    return 2 * sum(map(is_number, words)) >= len(words)


def _written(
    grid: _Grid, owners: dict[_Place, _Place], held: dict[_Place, list[Line]], parts: Sequence[_DrawnRow]
) -> PrintedTable | None:
    rows: list[list[str]] = []
    across: list[list[str]] = []  # for each row, what cells over several columns show in all but their first
    bold: list[bool] = []
    for drawn, cells in parts:
        row, wide = [""] * (len(grid.xs) - 1), [""] * (len(grid.xs) - 1)
        for column in range(len(row)):
            place = owners[drawn, column]
            text = cell_text(cells[place]) if place in cells else ""
            if place[0] < drawn:  # of a cell over several rows: repeated, if it is a name
                text = cell_text(held.get(place, []))
                text = text if len(text) <= MAX_NAME_CHARS else ""
            if place[1] < column:
                wide[column] = text
            else:
                row[column] = text
        if any(row):
            rows.append(row)
            across.append(wide)
            bold.append(bool(cells) and all(line.bold for lines in cells.values() for line in lines))
    title: list[str] = []
    while len(rows) > 1 and rows[0][0] and all(across[0][1:]):
        title.append(rows.pop(0)[0])
        del across[0], bold[0]
    kept = [column for column in range(len(grid.xs) - 1) if any(row[column] for row in rows)]
    if len(kept) < 2 or len(rows) < 2:
        return None
    rows = [[row[column] for column in kept] for row in rows]
    spanned = 1 + next((n for n, wide in enumerate(across) if not any(wide[column] for column in kept)), len(across))
    named = [
        [cell or wide[column] for cell, column in zip(row, kept, strict=True)]
        for row, wide in zip(rows[:spanned], across, strict=False)
    ]
    header, styled = header_rows([*named, *rows[spanned:]], bold, spanned=spanned, is_ruled=True)
    rows[:header] = named[:header]
    return PrintedTable(rows, [(grid.xs[column], grid.xs[column + 1]) for column in kept], header, title, styled)


def cell_text(lines: Sequence[Line]) -> str:
    """Return the text of the lines of a cell, one after the other."""
    text = ""
    for before, line in pairwise([None, *sorted(lines, key=lambda each: (round(each.base / 2), each.x0))]):
        piece = spelled_out(line).strip() if line is not None else ""
        if not text or before is None:
            text = piece
        elif line is not None and abs(line.base - before.base) < 2:
            text = f"{text} {piece}"
        else:
            text = joined(text, piece) if piece else text
    return text
