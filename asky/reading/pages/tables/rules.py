"""The straight lines that are drawn on a page: the borders of tables and the rules between their rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from asky.reading.pages.lines import Line, Rule

if TYPE_CHECKING:
    import pymupdf

_THIN = 3.0  # points: a box that is thinner is a line
_SHORT = 4.0  # points: what is shorter is a dot or a dash
_MAX_VECTORS = 20_000  # of a page; with more it is a drawing
_MAX_RULES = 2_000
_JOIN = 1.0  # points between two parts of a line
_LIKE = 3.0  # points
_APART = 60.0  # points between two rows
_ALIKE = 2
_SHORT_ROW = 18.0  # times the font's size: a row of a small table
_AHEAD = 8  # pairs: rows have up to so many cells
_EQUATION = re.compile(r"\s*\(?[A-Z]?\.?\d+(?:\.\d+)?[a-z]?\)\s*")
_KIND = re.compile(rb'"type":"vector","argb":(-?\d+),"stroked":(\d),"rectangle":(\d)')
_GAP = 0.8  # times the font's size, between cells
_CELL_CHARS = 40
_WHOLE_PAGE = 0.9
_WHITE = 0xFFFFFF


def may_have_table(lines: Sequence[Line]) -> bool:
    """Return whether lines beside others, in the file's order, stand below each other, as cells of a table do.

    So may short rows of several words: cells less than a letter apart are one line.
    """
    if _has_short_rows(lines):
        return True
    pairs: list[tuple[Line, Line]] = []
    for before, after in pairwise(lines):
        if (
            abs(after.base - before.base) < 2
            and after.x0 - before.x1 > _GAP * before.size
            and min(len(before.text), len(after.text)) < _CELL_CHARS
            and not _EQUATION.fullmatch(after.text)
        ):
            pairs.append((before, after))
    alike = 0
    for number, one in enumerate(pairs):
        for other in pairs[number + 1 : number + 1 + _AHEAD]:
            is_next = 2 < abs(one[1].base - other[1].base) < _APART
            alike += is_next and _is_below(one[1], other[1]) and _is_below(one[0], other[0])
        if alike >= _ALIKE:
            return True
    return False


def _has_short_rows(lines: Sequence[Line]) -> bool:
    """Return whether short rows of two words or more stand below each other."""
    rows: list[list[float]] = []  # x0, x1, base, words
    alike = 0
    for line in lines:
        words = line.text.count(" ") + 1
        if rows and abs(line.base - rows[-1][2]) < 2:
            rows[-1] = [min(line.x0, rows[-1][0]), max(line.x1, rows[-1][1]), line.base, rows[-1][3] + words]
            continue
        rows.append([line.x0, line.x1, line.base, words])
        if len(rows) > 2:
            one, other = rows[-3], rows[-2]
            is_alike = (
                min(one[3], other[3]) > 1
                and max(one[1] - one[0], other[1] - other[0]) < _SHORT_ROW * line.size
                and _THIN < other[2] - one[2] < _APART
                and (abs(one[0] - other[0]) < _LIKE or abs(one[0] + one[1] - other[0] - other[1]) < 2 * _LIKE)
            )
            alike = alike + 1 if is_alike else 0
            if alike >= _ALIKE:
                return True
    return False


def _is_below(one: Line, other: Line) -> bool:
    return (
        abs(one.x0 - other.x0) < _LIKE or abs(one.x1 - other.x1) < _LIKE or abs(_middle(one) - _middle(other)) < _LIKE
    )


def _middle(line: Line) -> float:
    return (line.x0 + line.x1) / 2


def drawn_rules(shown: pymupdf.DisplayList, flags: int) -> tuple[Rule, ...]:
    """Return the level and the upright lines that are drawn on a page, with the edges of its boxes.

    A second pass over what is shown, since collecting drawings in the first would divide lines of text: .7 ms a page.
    """
    import pymupdf

    width, height = shown.rect.width, shown.rect.height
    page = shown.get_textpage(flags | pymupdf.TEXT_COLLECT_VECTORS)
    mupdf = pymupdf.mupdf
    buffer = mupdf.fz_new_buffer(1 << 14)
    output = mupdf.FzOutput(buffer)
    mupdf.fz_print_stext_page_as_json(output, page, 1.0)
    output.fz_close_output()
    kinds = _KIND.findall(buffer.fz_buffer_extract())
    boxes = _boxes(page.m_internal.first_block, mupdf.FZ_STEXT_BLOCK_VECTOR) if len(kinds) <= _MAX_VECTORS else []
    found: list[Rule] = []
    for (color, stroked, is_box), (x0, y0, x1, y1) in zip(kinds, boxes, strict=False):
        if x1 - x0 > _THIN and y1 - y0 > _THIN:
            is_ground = stroked == b"0" and (int(color) & _WHITE == _WHITE or y1 - y0 > _WHOLE_PAGE * height)
            if is_ground or is_box == b"0" or (x1 - x0 > _WHOLE_PAGE * width and y1 - y0 > _WHOLE_PAGE * height):
                continue
            found += (Rule(x0, y0, x1, y0), Rule(x0, y1, x1, y1), Rule(x0, y0, x0, y1), Rule(x1, y0, x1, y1))
        elif max(x1 - x0, y1 - y0) >= _SHORT:
            x, y = (x0 + x1) / 2, (y0 + y1) / 2
            found.append(Rule(x0, y, x1, y) if x1 - x0 >= y1 - y0 else Rule(x, y0, x, y1))
    return _merged(found)


def _boxes(block: Any, kind: int) -> list[tuple[float, float, float, float]]:
    found = []
    while block:
        if block.type == kind:
            box = block.bbox
            found.append((box.x0, box.y0, box.x1, box.y1))
        block = block.next
    return found


def _merged(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the rules with the parts of one line as one: borders are often drawn cell by cell."""
    places: dict[tuple[bool, int], list[Rule]] = {}
    for rule in rules:
        places.setdefault((rule.is_level, round(rule.y0 if rule.is_level else rule.x0)), []).append(rule)
    found: list[Rule] = []
    for (is_level, _), parts in places.items():
        parts.sort(key=lambda rule: rule.x0 if is_level else rule.y0)
        last = parts[0]
        for rule in parts[1:]:
            if is_level and rule.x0 <= last.x1 + _JOIN:
                last = last._replace(x1=max(last.x1, rule.x1))
            elif not is_level and rule.y0 <= last.y1 + _JOIN:
                last = last._replace(y1=max(last.y1, rule.y1))
            else:
                found.append(last)
                last = rule
        found.append(last)
    return tuple(found) if len(found) <= _MAX_RULES else ()
