"""The lines of a PDF page with their place, font size and weight."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from asky.reading.raised.exponents import Shift, spelled

if TYPE_CHECKING:
    from asky.reading.pages.printed import PrintedTable

# It stands after a word, a name or the stop of a sentence; after a unit, a symbol or a number it is an exponent.
_MARKED = re.compile(
    r"(?:[a-z]{4}|[a-z]{2}[.,;:)”\"’'?!]|[^\W\d_][^\W\d_]+[.?!][”\"’')]?"
    r"|\b[A-ZÀ-Þ][a-zß-ÿ]{2,}|\b[A-ZÀ-Þ][a-zß-ÿ.]+ [A-ZÀ-Þ][a-zß-ÿ]+)$"
)


class Line(NamedTuple):
    """A line as MuPDF found it, in points from the upper left corner of the page.

    `base` is the y of its base line, `size` that of its first letter's font, `block` counts the file's blocks. `raised`
    holds the superscripts that look like marks, as (start, end) in `text`; `shifts` all that is raised or lowered. A
    line with a `table` stands for that table; `entered` is that of a field of a form, which ends with its value;
    `in_column` begins below others that stand apart from what is before them.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    size: float
    bold: bool
    mono: bool
    block: int
    raised: tuple[tuple[int, int], ...] = ()
    shifts: tuple[Shift, ...] = ()
    table: PrintedTable | None = None
    entered: bool = False
    in_column: bool = False

    @property
    def width(self) -> float:
        """Return the width in points."""
        return self.x1 - self.x0


class Rule(NamedTuple):
    """A straight line that is drawn on the page, or the edge of a box, in points: level or upright."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def is_level(self) -> bool:
        """Return whether it runs from left to right."""
        return self.x1 - self.x0 >= self.y1 - self.y0


Frame = tuple[tuple[Line, ...], tuple[Rule, ...]]
"""A block of text and the lines that are drawn in it."""


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of a page: `upright` are those of its main direction, `turned` single lines of others, in file order.

    `frames` are blocks of text in another direction, such as a table that is printed sideways: each as if the page were
    turned so that it is upright; `above` is what stands upright on a page that is set sideways. `rules` are the lines
    that are drawn among `upright`; they are known only of pages with something like a table. `remarks` are people's
    notes on the page, and `unread_notes` counts those that were too many; `has_files`: some are attached to it.
    `invisible` counts the invisible characters that were removed.
    """

    width: float
    height: float
    upright: tuple[Line, ...] = ()
    turned: tuple[Line, ...] = ()
    invisible: int = 0
    frames: tuple[Frame, ...] = ()
    rules: tuple[Rule, ...] = ()
    above: tuple[Frame, ...] = ()
    remarks: tuple[str, ...] = ()
    unread_notes: int = 0
    has_files: bool = False

    @property
    def lines(self) -> tuple[Line, ...]:
        """Return all lines, whatever their direction."""
        return (*self.upright, *self.turned, *(line for frame in (*self.above, *self.frames) for line in frame[0]))


def spelled_out(line: Line) -> str:
    """Return the line's text without the marks of footnotes, and with a sign before exponents.

    `evidence.3 We` becomes `evidence. We`, and a raised 2 after an m becomes `m^2`.
    """
    if not line.raised and not line.shifts:
        return line.text
    marks = {start: end for start, end in line.raised if _MARKED.search(line.text, max(0, start - 24), start)}
    return spelled(line.text, line.shifts, marks)
