"""The pieces of a page's lines: letter-spaced words are closed up, and lines are cut where a border stands in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from asky.reading.pages.beside.forms import Field
from asky.reading.pages.directions import Direction
from asky.reading.pages.letters import Letter, close_up, may_be_spaced
from asky.reading.pages.lines import Line, Rule

if TYPE_CHECKING:
    import pymupdf

_MAX_SPACED = 200  # lines on a page
_SPACED_CHARS = 6
_MAX_CUTS = 100  # of a line
_CELL_GAP = 0.36  # times the font's size: wider than a space


class Found(NamedTuple):
    """A line, where it runs, the x of its origin, its number in the file and how many characters were removed."""

    line: Line
    direction: Direction
    x: float
    number: int
    removed: int = 0


class Letters:
    """The letters of a page's lines, by the line's number; taken from the page only if some are asked for: 5 ms."""

    def __init__(self, text_page: pymupdf.TextPage) -> None:
        self._text_page = text_page
        self._lines: list[Any] | None = None

    def of(self, number: int) -> list[Letter]:
        """Return the letters of a line that runs to the right."""
        if self._lines is None:
            blocks = self._text_page.extractRAWDICT()["blocks"]
            self._lines = [line for block in blocks for line in block.get("lines", ())]
        if number >= len(self._lines):
            return []
        return [
            Letter(char["c"], char["bbox"][0], char["bbox"][2], char["synthetic"])
            for span in self._lines[number]["spans"]
            for char in span["chars"]
        ]


def closed_up(lines: Sequence[Found], letters: Letters) -> Iterator[Found]:
    """Yield the lines, with letter-spaced words closed up; MuPDF gives widely spaced letters as lines of their own."""
    left = _MAX_SPACED
    run: list[Found] = []
    for each in [*lines, None]:
        if run and each is not None and _goes_on(run[-1].line, each):
            run.append(each)
            continue
        if run:
            spaced = _one_spaced(run, letters) if left and _is_spaced_run(run) else None
            left -= spaced is not None
            yield from run if spaced is None else [spaced]
        run = [each] if each is not None else []


def _is_spaced_run(run: Sequence[Found]) -> bool:
    if len(run) == 1:
        return len(run[0].line.text) > _SPACED_CHARS and may_be_spaced(run[0].line.text, is_bold=run[0].line.bold)
    return len(run) > 3 and may_be_spaced(" ".join(each.line.text.strip() for each in run), is_bold=run[0].line.bold)


def _goes_on(last: Line, each: Found) -> bool:
    """Return whether a piece may be the next letters of a letter-spaced line."""
    line = each.line
    return (
        each.direction is Direction.RIGHT
        and last.block == line.block
        and abs(last.base - line.base) < 0.5
        and 0 < line.x0 - last.x1 < 3 * line.size
        and (len(line.text.strip()) == 1 or len(last.text.strip()) == 1)
    )


def _one_spaced(run: Sequence[Found], letters: Letters) -> Found | None:
    first = run[0]
    if first.direction is not Direction.RIGHT:
        return None
    every = [letter for each in run for letter in letters.of(each.number)]
    words = close_up(every, first.line.size) if every else None
    if words is None:
        return None
    line = first.line._replace(text=words, x1=run[-1].line.x1, raised=(), shifts=())
    return first._replace(line=line)


def cut(lines: Iterable[Found], rules: Sequence[Rule], fields: Sequence[Field], letters: Letters) -> Iterator[Found]:
    """Yield the lines, divided where an upright rule or a field stands in them, without what a field covers."""
    upright = sorted((rule for rule in rules if not rule.is_level), key=lambda rule: rule.x0)
    if not upright and not fields:
        yield from lines
        return
    places = [rule.x0 for rule in upright]
    for each in lines:
        line = each.line
        if each.direction is not Direction.RIGHT:
            yield each
            continue
        middle = line.base - 0.3 * line.size
        near = upright[bisect_left(places, line.x0 + 1) : bisect_right(places, line.x1 - 1)]
        cuts = [(rule.x0, rule.x0) for rule in near if rule.y0 < middle < rule.y1][:_MAX_CUTS]
        cuts += [
            (field.x0, field.x1)
            for field in fields
            if field.y0 < middle < field.y1 and field.x0 < line.x1 - 2 and field.x1 > line.x0 + 2
        ]
        yield from _pieces(each, cuts, letters) if cuts else [each]


def _pieces(each: Found, cuts: Sequence[tuple[float, float]], letters: Letters) -> Iterator[Found]:
    """Yield the parts of a line between what cuts it; the line itself if its letters are not known one by one."""
    every = letters.of(each.number)
    if "".join(letter.text for letter in every) != each.line.text:
        yield each
        return
    parts: dict[int, list[int]] = {}
    for number, letter in enumerate(every):
        x = (letter.x0 + letter.x1) / 2
        if not any(start < x < end for start, end in cuts):
            parts.setdefault(sum(end <= x for _, end in cuts), []).append(number)
    drawn = [[at for at in part if not every[at].text.isspace()] for part in parts.values()]
    gaps = [every[b[0]].x0 - every[a[-1]].x1 for a, b in pairwise(filter(None, drawn))]
    if any(gap < _CELL_GAP * each.line.size for gap in gaps):
        yield each  # a box round words, or a line through them
        return
    if len(parts) < 2 and sum(map(len, parts.values())) == len(every):
        yield each
        return
    for part in parts.values():
        shown = [at for at in part if not every[at].text.isspace()]
        if shown:
            first, last = shown[0], shown[-1]
            line = each.line
            inside = [shift for shift in line.shifts if first <= shift.start and shift.end <= last + 1]
            yield each._replace(
                line=line._replace(
                    text=line.text[first : last + 1],
                    x0=every[first].x0,
                    x1=every[last].x1,
                    raised=tuple((s - first, e - first) for s, e in line.raised if first <= s and e <= last + 1),
                    shifts=tuple(s._replace(start=s.start - first, end=s.end - first) for s in inside),
                ),
                x=every[first].x0,
            )
