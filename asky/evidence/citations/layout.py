"""The positions of markers, fenced code, table rows and headings in a numbered answer."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import zip_longest

from asky.evidence.citations.scanner import AnswerScanner
from asky.values import Span

_HEADING_LINE = re.compile(r"^[ \t>]*(#{1,6}[ \t]+\S.*)$", re.MULTILINE)
_TABLE_LINE = re.compile(r"^[ \t>]*\|(.*)$", re.MULTILINE)
_TABLE_EDGE = "| \t"


class Layout:
    """The layout of an answer: the spans of table `rows`, without edges, heads and rules, and of `headings`."""

    def __init__(self, answer: str) -> None:
        self._markers: list[tuple[int, int]] = []  # position, number
        self._skipped: list[tuple[int, int]] = []  # fences, then the lines of tables and headings too
        scanner = AnswerScanner(numbered=True)
        position = 0
        for piece in scanner.feed(answer) + scanner.close():
            if piece.kind == "fence":
                self._skipped.append((position, position + len(piece.source)))
            elif piece.kind == "number":
                self._markers.append((position, int(piece.source[1:-1])))
            position += len(piece.source)
        lines = [line for line in _TABLE_LINE.finditer(answer) if not self._skips(line.start())]
        headings = [line for line in _HEADING_LINE.finditer(answer) if not self._skips(line.start())]
        self._skipped = sorted([*self._skipped, *(line.span() for line in (*lines, *headings))])
        self.rows = [_stripped(answer, *line.span(1), edge="|") for line in _table_body(lines)]
        self.headings = [_stripped(answer, *line.span(1)) for line in headings]

    def outside(self, answer: str, span: Span) -> Iterator[Span]:
        """Yield the parts of a sentence that are not code, table or heading; in a quotation it may run into these."""
        start = span.start
        index = max(0, bisect_right(self._skipped, (start, math.inf)) - 1)
        while index < len(self._skipped) and self._skipped[index][0] < span.end:
            yield from _trimmed(answer, start, self._skipped[index][0], after=" \t\n>")
            start = max(start, self._skipped[index][1])
            index += 1
        yield from _trimmed(answer, start, span.end)

    def citations(self, span: Span) -> tuple[int, ...]:
        """Return the numbers of the markers that begin in `span`, each once, in order."""
        first, last = (bisect_left(self._markers, (place, 0)) for place in (span.start, span.end))
        return tuple(dict.fromkeys(number for _, number in self._markers[first:last]))

    def _skips(self, position: int) -> bool:
        index = bisect_right(self._skipped, (position, math.inf)) - 1
        return index >= 0 and position < self._skipped[index][1]


def _trimmed(answer: str, start: int, end: int, *, after: str | None = None) -> Iterator[Span]:
    """Yield the span without white space before it and characters of `after` behind it, if it has a letter or digit."""
    part = answer[start:end] if start < end else ""
    if any(map(str.isalnum, part)):
        yield Span(start + len(part) - len(part.lstrip()), start + len(part.rstrip(after)))


def _table_body(lines: list[re.Match[str]]) -> Iterator[re.Match[str]]:
    """Yield the rows of tables, without their heads and rules."""
    for line, after in zip_longest(lines, lines[1:]):
        is_head = after is not None and after.start() == line.end() + 1 and _is_table_rule(after[1])
        if line[1].strip(_TABLE_EDGE) and not is_head and not _is_table_rule(line[1]):
            yield line


def _is_table_rule(cells: str) -> bool:
    return "-" in cells and not cells.strip(_TABLE_EDGE + ":-")


def _stripped(answer: str, start: int, end: int, *, edge: str = "") -> Span:
    """Return the span without surrounding white space and without an `edge` at its end."""
    kept = answer[start:end].rstrip().removesuffix(edge).rstrip()
    return Span(start + len(kept) - len(kept.lstrip()), start + len(kept))
