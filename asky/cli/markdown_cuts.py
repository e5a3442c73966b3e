"""Where a block that is not complete can be cut in two, because it is taller than the screen.

What has scrolled off cannot be painted again, so its finished part is rendered and left, and the block goes on below.
A place is good where the rows are the same with the cut as without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from asky.cli.markdown_blocks import Block

if TYPE_CHECKING:
    from asky.cli.markdown_render import Row

_WRAPPED = ("paragraph", "quote")  # whose lines are not those of the source
_MOST_TRIES = 12
_WORDS = 8  # at the beginning of a row, that tell where it is in the source
_LINE = re.compile(r"\n(?=[^\n])")


@dataclass(frozen=True, slots=True)
class Cut:
    """The finished part of a block: its rows, and how many characters of the source it takes up.

    `begun` is what the renderer has to know of it for what comes after it.
    """

    rows: list[Row]
    characters: int
    begun: str


def cut_block(block: Block, render: Callable[[Block], list[Row]]) -> Cut | None:
    """As much of an unfinished `block` as can be left for good, but its last line or row; `None` if that is nothing."""
    end = max(block.source.rfind("\n"), block.source.rfind(" ") if block.kind in _WRAPPED else -1) + 1
    done = block.source[:end]
    if not done.strip():
        return None
    rows = render(replace(block, source=done, goes_on=True))
    begun = block.begun or done.lstrip("\n")
    for place in islice(_places(block, done, rows), _MOST_TRIES):
        after = render(replace(block, source=done[place:], begun=begun, goes_on=True))
        if len(after) < len(rows) and rows[-len(after) :] == after:
            before = rows[: -len(after)]
            # Of an item's end, its first row is dropped: of words that repeat, fewer could look like all there are.
            if block.kind != "item" or render(replace(block, source=done[:place], goes_on=True)) == before:
                return Cut(before, place, begun)
    return None


def _places(block: Block, done: str, rows: list[Row]) -> Iterator[int]:
    """Offsets in `done` at which a row may begin, the last one first."""
    places = _row_starts(done, rows) if block.kind in _WRAPPED else _line_starts(done)
    if block.kind in ("fence", "code", "table"):
        return places
    return (place for place in places if _is_balanced(done[:place]))


def _line_starts(done: str) -> Iterator[int]:
    return (found.end() for found in reversed(list(_LINE.finditer(done))))


def _row_starts(done: str, rows: list[Row]) -> Iterator[int]:
    end = len(done)
    for row in reversed(rows[1:]):
        words = re.findall(r"\w+", row.text)[:_WORDS]
        found = list(re.finditer(r"(?<=\s)[^\w\s]*" + r"\W+".join(words), done[:end])) if words else []
        if found:
            end = found[-1].start()
            yield end


def _is_balanced(text: str) -> bool:
    """Whether no emphasis, code or link of `text` can be still open at its end."""
    return text.count("`") % 2 == text.count("**") % 2 == text.count("~~") % 2 == 0 and text.rfind("[") <= text.rfind(
        "]"
    )
