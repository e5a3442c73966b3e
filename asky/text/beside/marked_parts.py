"""The parts of notes that asky has written, by their markers: they are no evidence.

    %% asky:begin sha=0123456789ab %%

    ### what asky has written

    %% asky:end %%

Markers count wherever they stand on a line of their own, also in code and quotes, and whether or not what is between
them was edited. Of nested pairs the outermost counts. A marker without its partner reaches to the bounds of its
section, which a heading of level 1 or 2 begins and ends: asky itself writes headings of level 3 and below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from asky.text.headings import markdown_headings

BEGIN = re.compile(r"[ \t]*%%[ \t]*asky:begin\b([^%\n]*)%%[ \t]*\n?")
END = re.compile(r"[ \t]*%%[ \t]*asky:end[ \t]*%%[ \t]*\n?")
_MARK = re.compile(r"^[ \t>]*%%[ \t]*asky:(?:(begin)\b[^%\n]*|end[ \t]*)%%[ \t]*\r?$", re.MULTILINE)
_SECTION_LEVEL = 2


def marked_parts(text: str, start: int = 0) -> list[tuple[int, int]]:
    """Return what asky has written into a text, from offset `start` on, in order: no headings of level 1 and 2.

    Linear time.
    """
    return list(_spans(text, start)) if "asky:" in text and _MARK.search(text, start) else []


def without_parts(text: str, parts: Sequence[tuple[int, int]]) -> str:
    """Return `text` with nothing but the line ends of these parts, so that its lines keep their numbers."""
    pieces, at = [], 0
    for begin, end in parts:
        pieces += [text[at:begin], "\n" * text.count("\n", begin, end)]
        at = end
    return "".join([*pieces, text[at:]])


def _spans(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield what the markers of each section span, in order."""
    headings = [each for each in markdown_headings(text, start) if each.level <= _SECTION_LEVEL]
    bounds = [start, *(each.end for each in headings)]
    ends = [*(each.start for each in headings), len(text)]
    for first, last in zip(bounds, ends, strict=True):
        begin, depth, found = first, 0, list[tuple[int, int]]()
        for mark in _MARK.finditer(text, first, last):
            if mark[1]:
                begin = begin if depth else mark.start()
                depth += 1
            elif depth > 1:
                depth -= 1
            else:
                found = [*found, (begin, mark.end())] if depth else [(first, mark.end())]
                depth = 0
        yield from found
        if depth:
            yield begin, last
