"""Reading order of the lines of a PDF page."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from asky.reading.pages.lines import Line

_LONG_CHARS = 20  # shorter lines are cells, labels or formulas: they neither make nor deny a column
_MIN_COLUMN_LINES = 5
_MIN_PART_LINES = 10  # of a column that is not as high as its page: a table has long cells too
_STEP = 7.0  # points: gaps between columns are 10 and more
_OVERLAP = 2.0  # points by which a line may stick out of its column
_CROSSES = 0.05  # of the text's width, on both sides: less is a line that sticks out
_SIDEBAR = 0.6  # of the other column's width
_LABEL_CHARS = 8  # letters of a line of a side bar; numbers of lines have none
_SMALLER = 0.92  # of the size of the text
_MAX_DEPTH = 3
_HEADING = re.compile(r"(?:\d{1,2}|[IVX]+)\.?\s*[A-Z]|(?:abstract|summary|introduction)\b", re.IGNORECASE)
_MAX_BLOCKS = 500  # of a column; with more, as in a drawing, the file's order stays
_MIN_WIDTH = 250.0  # points: what is narrower is one column


def columns_of(lines: Sequence[Line], depth: int = 0) -> list[list[Line]]:
    """Return the columns of a page in reading order, each with its lines in order; text over all columns is its own.

    Lines across the page divide it into bands; in each the left column is read before the right one, and a side bar
    after what it stands beside. In a column, blocks stay in the file's order unless one lies wholly above another.
    """
    beside = _margin(lines) if depth == 0 else []
    if beside:
        return [*columns_of([line for line in lines if line not in beside], 1), _in_order(beside)]
    gutter = (_gutter(lines) or _gutter_of_part(lines)) if depth < _MAX_DEPTH else None
    if gutter is None:
        return [_in_order(lines)] if lines else []
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    sides: dict[str, list[Line]] = {"left": [], "right": [], "across": []}
    spanning: Counter[int] = Counter()  # how many more lines of a block run over both columns than do not
    for each in lines:
        spanning[each.block] += 1 if _side(each, gutter, width) == "across" else -1
    for each in lines:
        side = "across" if spanning[each.block] > 0 else _side(each, gutter, width)
        if side == "across" and _has_neighbour(each, lines):
            side = "left" if each.x0 + each.x1 < 2 * gutter else "right"
        sides[side].append(each)
    if depth == 0:
        _widen(sides)
    halves = _by_reading([side for side in (sides["left"], sides["right"]) if side])
    found: list[list[Line]] = []
    bar: list[Line] = []
    upper = float("-inf")
    dividers: list[Line | None] = [*sorted(sides["across"], key=lambda each: each.base), None]
    for line in dividers:
        lower = line.base if line is not None else float("inf")
        inside = [[each for each in half if upper <= each.base < lower] for half in halves]
        if any(inside) and bar:
            found.append(_in_order(bar))
            bar = []
        for part in inside:
            found += columns_of(part, depth + 1)
        if line is not None:
            bar.append(line)
        upper = lower
    return [*found, _in_order(bar)] if bar else found


def _widen(sides: dict[str, list[Line]]) -> None:
    """Count short lines that stand beside each other above both columns as lines across the page: names of authors."""
    halves = [sides["left"], sides["right"]]
    widths = [0.7 * _typical_width(half) for half in halves]
    full = [line for half, width in zip(halves, widths, strict=True) for line in half if line.width > width]
    upper = min((line.y0 for line in full), default=0.0)
    above = [[line for line in half if line.y1 <= upper] for half in halves]
    if all(above) and not any(_HEADING.match(line.text) for part in above for line in part):
        sides["across"] += [line for part in above for line in part]
        for name in ("left", "right"):
            sides[name] = [line for line in sides[name] if line.y1 > upper]


def _margin(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a narrow side bar left of the text, in smaller letters: dates, links, a copyright notice.

    Labels of a table's rows stand on the base lines of their rows, numbers of lines are short: they are none.
    """
    long = [line for line in lines if len(line.text) >= _LONG_CHARS]
    if len(long) < 2 * _MIN_COLUMN_LINES:
        return []
    start, count = Counter(round(line.x0) for line in long).most_common(1)[0]
    text = [line for line in lines if line.x0 >= start - _OVERLAP]
    beside = [line for line in lines if line.x1 < start - _OVERLAP]
    told = [line for line in beside if sum(map(str.isalpha, line.text)) >= _LABEL_CHARS]
    if 2 * count < len(long) or len(told) < _MIN_COLUMN_LINES or len(text) + len(beside) < len(lines) - 2:
        return []
    size = sorted(line.size for line in text)[len(text) // 2]
    smaller = sum(line.size <= _SMALLER * size for line in beside)
    bases = {round(line.base) for line in text}
    in_rows = sum(round(line.base) in bases for line in told)
    return beside if smaller > 0.8 * len(beside) and 2 * in_rows <= len(told) else []


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return the x of the gap between two columns; `None` if the page has one column."""
    long = [line for line in lines if len(line.text) >= _LONG_CHARS]
    if len(long) < 2 * _MIN_COLUMN_LINES:
        return None
    span = max(line.x1 for line in long) - min(line.x0 for line in long)
    if span < _MIN_WIDTH or 2 * sum(line.width > 0.7 * span for line in long) > len(long):
        return None
    starts, ends = sorted(line.x0 for line in long), sorted(line.x1 for line in long)
    best: tuple[int, float] | None = None
    x, last = starts[0] + 0.15 * span, ends[-1] - 0.15 * span
    run: list[float] = []
    while x < last:
        left, right = bisect_right(ends, x + _OVERLAP), len(long) - bisect_left(starts, x - _OVERLAP)
        crossing = len(long) - left - right
        if min(left, right) >= max(_MIN_COLUMN_LINES, crossing):
            if best is None or crossing < best[0]:
                best, run = (crossing, x), [x]
            elif crossing == best[0] and x - run[-1] < 1.5 * _STEP:
                run.append(x)
        x += _STEP
    if best is None:
        return None
    middle = (run[0] + run[-1]) / 2
    left_lines = [line for line in long if line.x1 <= middle + _OVERLAP + _STEP]
    right_lines = [line for line in long if line.x0 >= middle - _OVERLAP - _STEP]
    if len(left_lines) < _MIN_COLUMN_LINES or len(right_lines) < _MIN_COLUMN_LINES:
        return None
    return middle if _stand_beside(left_lines, right_lines) else None


def _gutter_of_part(lines: Sequence[Line]) -> float | None:
    """Return the x of the gap between two columns that stand below or above text as wide as the page."""
    long = [line for line in lines if len(line.text) >= _LONG_CHARS]
    if len(long) < 2 * _MIN_PART_LINES:
        return None
    span = max(line.x1 for line in long) - min(line.x0 for line in long)
    wide = [float("-inf"), *sorted(line.base for line in long if line.width > 0.7 * span), float("inf")]
    parts = [[line for line in long if upper < line.base < lower] for upper, lower in pairwise(wide)]
    part = max(parts, key=len)
    gutter = _gutter(part) if len(part) < len(long) else None
    if gutter is None:
        return None
    halves = [[line for line in part if (line.x0 + line.x1 < 2 * gutter) == is_left] for is_left in (True, False)]
    return gutter if all(_is_full(half) for half in halves) else None


def _is_full(column: Sequence[Line]) -> bool:
    """Return whether most lines fill the column, as those of a text do, and not of a table."""
    width = max(line.x1 for line in column) - min(line.x0 for line in column)
    full = sum(line.width > 0.8 * width for line in column)
    return len(column) >= _MIN_PART_LINES and 2 * full > len(column)


def _stand_beside(left: Sequence[Line], right: Sequence[Line]) -> bool:
    upper = max(min(line.y0 for line in left), min(line.y0 for line in right))
    lower = min(max(line.y1 for line in left), max(line.y1 for line in right))
    least = min(sum(upper <= line.base <= lower for line in side) for side in (left, right))
    return least >= _MIN_COLUMN_LINES - 2


def _side(line: Line, gutter: float, width: float) -> str:
    if line.x1 <= gutter + _OVERLAP:
        return "left"
    if line.x0 >= gutter - _OVERLAP:
        return "right"
    if min(gutter - line.x0, line.x1 - gutter) > _CROSSES * width:
        return "across"
    return "left" if line.x0 + line.x1 < 2 * gutter else "right"


def _has_neighbour(line: Line, lines: Sequence[Line]) -> bool:
    """Return whether text stands beside the line on its row: then it does not span the page."""
    return any(
        abs(other.base - line.base) < 0.4 * line.size
        and len(other.text) >= _LONG_CHARS
        and (other.x0 > line.x1 or other.x1 < line.x0)
        for other in lines
    )


def _by_reading(halves: list[list[Line]]) -> list[list[Line]]:
    """Return the halves in the order of reading: a narrow one on the left is a side bar, read last."""
    if len(halves) == 2:
        widths = [_typical_width(half) for half in halves]
        if widths[0] < _SIDEBAR * widths[1]:
            return halves[::-1]
    return halves


def _typical_width(lines: Sequence[Line]) -> float:
    widths = sorted(line.width for line in lines if len(line.text) >= _LONG_CHARS)
    return widths[len(widths) * 3 // 4] if widths else 0.0


def _in_order(lines: Sequence[Line]) -> list[Line]:
    blocks: dict[int, list[Line]] = {}
    for line in lines:
        blocks.setdefault(line.block, []).append(line)
    if len(blocks) > _MAX_BLOCKS:
        return list(lines)
    placed: list[tuple[float, float, list[Line]]] = []
    for block in blocks.values():
        upper, lower = min(line.y0 for line in block), max(line.y1 for line in block)
        at = len(placed)
        while at and placed[at - 1][0] >= lower - 1:
            at -= 1
        placed.insert(at, (upper, lower, block))
    return [line for _, _, block in placed for line in block]
