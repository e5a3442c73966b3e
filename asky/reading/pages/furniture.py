"""Detection of what is on the pages of a PDF besides their text: running heads and feet, page and line numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from asky.reading.pages.lines import Line, PageLines

_EDGE_ROWS = 3
_MARGIN = 0.2  # of the page's height: no head or foot begins farther inside
_SAME_PLACE = 5.0  # points
_LEADING = 1.6  # times the size of the letters: lines of one text stand nearer
_REPEATED = 3
_HEADER_CELLS = 2
_TABLE_STEP = 2.5  # times the size of the letters, from the header of a table to its first row
_REGULAR = 0.8  # of the pages; front matter and chapters may count for themselves
_DIGITS = re.compile(r"(?<!\d)\d{1,9}(?!\d)")
_MAX_CHARS = 500
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_LONE_NUMBER = re.compile(r"\W*(?:page\s*)?#(?:\W*(?:of|/)?\W*#)?\W*", re.IGNORECASE)
_MIN_NUMBERED_LINES = 8
_NUMBERS_OF_ROW = 2  # the lines of two columns, or of one on both sides
_LINE_NUMBER = re.compile(r"\d{1,4}")

_Seen = dict[tuple[bool, str], Counter[int]]
"""Counts of lines at each place, by edge and text; places are distances from the edge, in `_SAME_PLACE` steps."""


def furniture(pages: Sequence[PageLines]) -> list[dict[int, bool]]:
    """Return, for each page, the upright lines that are furniture, by index: `True` if it should be kept once.

    A head or foot is kept where it first stands, since a letterhead or a journal's line says something; page numbers
    and line numbers are not.
    """
    edges = [_edges(page) for page in pages]
    seen: _Seen = defaultdict(Counter)
    numbers: dict[tuple[bool, str], list[list[int]]] = defaultdict(list)
    for number, sides in enumerate(edges):
        for top, rows in sides.items():
            for row in rows:
                for index in row:
                    line = pages[number].upright[index]
                    key = top, _key(line.text)
                    seen[key][round(_place(pages[number], line, top) / _SAME_PLACE)] += 1
                    numbers[key].append([number, *map(int, _DIGITS.findall(line.text[:_MAX_CHARS]))])
    for key in [key for key, rows in numbers.items() if not _count_pages(rows)]:
        del seen[key]
    least = min(_REPEATED, max(2, len(pages) // 2))
    places = {
        (top, place)
        for (top, _), counts in seen.items()
        for place in counts
        if _near(counts, place) >= max(least, _REPEATED)
    }
    found: list[dict[int, bool]] = []
    kept: set[tuple[bool, str]] = set()
    for number, page in enumerate(pages):
        marked = dict.fromkeys(_line_numbers(page), False)
        for top, rows in edges[number].items():
            for row in rows:
                if not _is_furniture(page, row, top, seen, places, least) or (top and _heads_table(page, row)):
                    break
                for index in row:
                    if not _is_repeated(page, index, top, seen, least) and _is_in_text(page, index):
                        continue  # text of a column beside the head of a table, say
                    key = (top, _key(page.upright[index].text))
                    marked[index] = key not in kept and _LONE_NUMBER.fullmatch(key[1]) is None
                    kept.add(key)
        found.append(marked)
    return found


def _edges(page: PageLines) -> dict[bool, list[list[int]]]:
    """Return the rows nearest to the upper (`True`) and the lower edge, the outermost first, as indexes of lines."""
    lines = page.upright
    order = sorted(range(len(lines)), key=lambda index: lines[index].base)
    high = [index for index in order if lines[index].y1 < _MARGIN * page.height]
    low = [index for index in reversed(order) if lines[index].y0 > (1 - _MARGIN) * page.height]
    return {True: _rows(lines, high), False: _rows(lines, low)}


def _rows(lines: Sequence[Line], order: Sequence[int]) -> list[list[int]]:
    rows: list[list[int]] = []
    for index in order:
        if rows and abs(lines[rows[-1][0]].base - lines[index].base) < 3:
            rows[-1].append(index)
        elif len(rows) == _EDGE_ROWS:
            break
        else:
            rows.append([index])
    return rows


def _key(text: str) -> str:
    return _NUMBER.sub("#", " ".join(text.split())).casefold()


def _place(page: PageLines, line: Line, top: bool) -> float:
    return line.base if top else page.height - line.base


def _count_pages(rows: Sequence[Sequence[int]]) -> bool:
    """Return whether the numbers in a repeated line only number the pages.

    `rows` begin with the index of the page. Each number stays the same or grows with the pages; one that does neither,
    as on a hundred pages with an invoice each, belongs to the text.
    """
    most = _REGULAR * len(rows)
    for values in zip(*(row[1:] for row in rows), strict=False):
        fixed = Counter(values).most_common(1)[0][1]
        counted = Counter(value - row[0] for value, row in zip(values, rows, strict=True)).most_common(1)[0][1]
        if max(fixed, counted) < most:
            return False
    return True


def _near(counts: Counter[int], place: int) -> int:
    """Return how many lines stand at a place or beside it."""
    return counts[place - 1] + counts[place] + counts[place + 1]


def _is_furniture(
    page: PageLines, row: Sequence[int], top: bool, seen: _Seen, places: set[tuple[bool, int]], least: int
) -> bool:
    """Return whether some line of the row is repeated at its place, or the row stands where others are repeated."""
    if any(_is_repeated(page, index, top, seen, least) for index in row):
        return True
    here = round(_place(page, page.upright[row[0]], top) / _SAME_PLACE)
    return (top, here) in places and len(row) <= _EDGE_ROWS and _stands_apart(page, row, top)


def _heads_table(page: PageLines, row: Sequence[int]) -> bool:
    """Return whether the pieces of a row stand over those of the next: the header of a table, again on each page."""
    cells = [page.upright[index] for index in row]
    if len(cells) < _HEADER_CELLS or any(_LONE_NUMBER.fullmatch(_key(cell.text)) for cell in cells):
        return False
    reach = _TABLE_STEP * max(line.size for line in cells)
    below = [line for line in page.upright if 3 <= line.base - cells[0].base < reach]
    if not below:
        return False
    base = min(line.base for line in below)
    following = [line for line in below if line.base - base < 3]
    level = sum(
        any(
            abs(line.x0 - cell.x0) < 3 or abs(line.x1 - cell.x1) < 3 or (line.x0 < cell.x1 and cell.x0 < line.x1)
            for line in following
        )
        for cell in cells
    )
    return len(following) >= _HEADER_CELLS and level >= _HEADER_CELLS


def _is_repeated(page: PageLines, index: int, top: bool, seen: _Seen, least: int) -> bool:
    line = page.upright[index]
    return _near(seen[top, _key(line.text)], round(_place(page, line, top) / _SAME_PLACE)) >= least


def _is_in_text(page: PageLines, index: int) -> bool:
    """Return whether another line of the same block stands right above or below."""
    line = page.upright[index]
    gaps = (abs(other.base - line.base) for other in page.upright if other.block == line.block)
    return any(3 < gap < _LEADING * line.size for gap in gaps)


def _stands_apart(page: PageLines, row: Sequence[int], top: bool) -> bool:
    base, size = page.upright[row[0]].base, page.upright[row[0]].size
    inner = [line.base - base if top else base - line.base for line in page.upright]
    return min((gap for gap in inner if gap > 3), default=size * 9) > _LEADING * size


def _line_numbers(page: PageLines) -> list[int]:
    """Return the lines that only number the others: numbers in steps of 1 or 5, one below the other.

    Three in a row are those of a table, and so are all if there is nothing else on the page.
    """
    columns: dict[tuple[str, int], list[tuple[float, int, int]]] = defaultdict(list)
    for index, line in enumerate(page.upright):
        if _LINE_NUMBER.fullmatch(line.text.strip()):
            for side, x in (("left", line.x0), ("right", line.x1)):
                columns[side, round(x / 4)].append((line.base, int(line.text), index))
    found: set[int] = set()
    for numbered in columns.values():
        if len(numbered) >= _MIN_NUMBERED_LINES:
            numbered.sort()
            steps = [after[1] - before[1] for before, after in pairwise(numbered)]
            if sum(step in (1, 5) for step in steps) >= 0.9 * len(steps) and len(set(steps)) <= 2:
                found |= {index for _, _, index in numbered}
    rows = {round(page.upright[index].base) for index in found}
    is_table = len(found) > _NUMBERS_OF_ROW * len(rows) or len(found) == len(page.upright)
    return [] if is_table else sorted(found)
