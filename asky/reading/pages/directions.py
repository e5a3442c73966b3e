"""The directions in which the text of a page runs, and its lines as if each were upright."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import pairwise

from asky.reading.pages.lines import Frame, Line, PageLines, Rule
from asky.reading.pages.printed import is_number
from asky.reading.raised.exponents import Shift

_MOST = 0.6  # of the letters: in their direction the page is read
_SENTENCE_SPACE = 1.15  # times the font's size; columns and cells lie farther apart
_COLUMN_ROWS = 3  # one below the other, whose pieces begin at one place: no gaps after sentences
_CELL_CHARS = 30
_ROW_STEP = 2.0  # times the font's size
_FRAME_LINES = 4  # of a block in another direction; fewer are a stamp or the label of an axis
_FRAME_ROWS = 2
_WORDS = 2  # of a line; fewer are a page number
_NUMBERS = re.compile(r"[\W\d]*")


class Direction(Enum):
    """Where the lines of a text run to, as the page lies."""

    RIGHT = 0
    UP = 1
    LEFT = 2
    DOWN = 3
    SLANTED = 4


def direct(
    lines: Sequence[tuple[Line, Direction, float]],
    width: float,
    height: float,
    rules: Sequence[Rule],
    invisible: int,
) -> PageLines:
    """Return the lines by direction, given each with its own and the x of its origin.

    Where most letters are turned, the page is.
    A block in another direction is a frame of its own if it has rows; slanted text and single lines are `turned`.
    """
    chars = dict.fromkeys(Direction, 0)
    for line, direction, _ in lines:
        chars[direction] += len(line.text)
    total = sum(chars.values())
    main = Direction.RIGHT
    if total and chars[main] < (1 - _MOST) * total:
        main = max((each for each in Direction if each is not Direction.SLANTED), key=lambda each: chars[each])
    own = [_turn(line, x, width, height, main) for line, direction, x in lines if direction is main]
    own_rules = [_turned_rule(rule, width, height, main) for rule in rules]
    size = (height, width) if main in (Direction.UP, Direction.DOWN) else (width, height)
    turned: list[Line] = []
    frames: list[Frame] = []
    above: list[Frame] = []
    for other in Direction:
        if other is main:
            continue
        group = [(line, x) for line, direction, x in lines if direction is other]
        beside = [_turn(line, x, width, height, other) for line, x in group]
        if other is Direction.RIGHT and (titles := [line for line in beside if len(line.text.split()) > _WORDS]):
            above.append((whole(titles, ()), ()))
            turned += (line for line in beside if line not in titles)
        elif other is not Direction.SLANTED and _has_rows(beside):
            beside_rules = tuple(_turned_rule(rule, width, height, other) for rule in rules)
            frames.append((whole(beside, beside_rules), beside_rules))
        else:
            turned += (line for line, _ in group)
    upright = whole(own, own_rules)
    return PageLines(*size, upright, tuple(turned), invisible, tuple(frames), tuple(own_rules), tuple(above))


def _has_rows(lines: Sequence[Line]) -> bool:
    """Return whether lines are a text or a table: several rows, of which one has two pieces or ten words."""
    words = [line for line in lines if not _NUMBERS.fullmatch(line.text)]
    if len(lines) < _FRAME_LINES or len(words) < _FRAME_ROWS:
        return False
    bases = sorted(line.base for line in lines)
    rows = 1 + sum(after - before > 3 for before, after in pairwise(bases))
    return rows >= _FRAME_ROWS and (rows < len(lines) or sum(len(line.text.split()) for line in lines) >= 10 * rows)


def whole(lines: Iterable[Line], rules: Sequence[Rule]) -> tuple[Line, ...]:
    """Return the lines, with those joined that MuPDF divides at the wide space after a sentence, unless a rule does."""
    upright = [rule for rule in rules if not rule.is_level]
    lines = _in_columns(list(lines))
    found: list[Line] = []
    for line in lines:
        last = found[-1] if found else None
        if (
            last is not None
            and last.block == line.block
            and abs(last.base - line.base) < 0.5
            and 0 <= line.x0 - last.x1 < _SENTENCE_SPACE * last.size
            and not line.in_column
            and not any(last.x1 - 1 <= each.x0 <= line.x0 + 1 and each.y0 < last.base <= each.y1 for each in upright)
        ):
            shift = len(last.text.rstrip()) + 1
            found[-1] = last._replace(
                text=f"{last.text.rstrip()} {line.text}",
                x1=line.x1,
                y0=min(last.y0, line.y0),
                y1=max(last.y1, line.y1),
                raised=(*last.raised, *((start + shift, end + shift) for start, end in line.raised)),
                shifts=(*last.shifts, *(Shift(s.start + shift, s.end + shift, s.raised) for s in line.shifts)),
            )
        else:
            found.append(line)
    return tuple(found)


def _in_columns(lines: list[Line]) -> list[Line]:
    """Return the lines, those marked that begin or end below each other in several rows, each after a gap."""
    after: dict[tuple[str, int], list[int]] = {}
    for at, (before, line) in enumerate(pairwise(lines), start=1):
        is_beside = abs(before.base - line.base) < 0.5 and 0 <= line.x0 - before.x1 < 2 * _SENTENCE_SPACE * line.size
        is_prose = max(len(before.text), len(line.text)) > _CELL_CHARS or before.text.rstrip()[-1:] in ".,;:?!"
        if is_beside and not is_prose:
            after.setdefault(("starts", round(line.x0)), []).append(at)
            if is_number(line.text):  # the ends of words stand below each other in justified text
                after.setdefault(("ends", round(line.x1)), []).append(at)
    for places in list(after.values()):
        run = [places[0]]
        for at in [*places[1:], -1]:
            step = abs(lines[at].base - lines[run[-1]].base) if at >= 0 else 0.0
            if at >= 0 and 1 < step < _ROW_STEP * lines[at].size:
                run.append(at)
                continue
            if len(run) >= _COLUMN_ROWS:
                for each in run:
                    lines[each] = lines[each]._replace(in_column=True)
            run = [at]
    return lines


def _turn(line: Line, x: float, width: float, height: float, direction: Direction) -> Line:
    if direction in (Direction.RIGHT, Direction.SLANTED):
        return line
    x0, y0, x1, y1 = _turned_box(line.x0, line.y0, line.x1, line.y1, width, height, direction)
    # What is raised was found by heights, as if the line were level.
    base = {Direction.UP: x, Direction.DOWN: width - x, Direction.LEFT: height - line.base}[direction]
    return line._replace(x0=x0, y0=y0, x1=x1, y1=y1, base=base, raised=(), shifts=())


def _turned_box(
    x0: float, y0: float, x1: float, y1: float, width: float, height: float, direction: Direction
) -> tuple[float, float, float, float]:
    if direction is Direction.UP:
        return height - y1, x0, height - y0, x1
    if direction is Direction.DOWN:
        return y0, width - x1, y1, width - x0
    return width - x1, height - y1, width - x0, height - y0


def _turned_rule(rule: Rule, width: float, height: float, direction: Direction) -> Rule:
    return rule if direction is Direction.RIGHT else Rule(*_turned_box(*rule, width, height, direction))
