"""Blocks of a page (paragraphs, headings, items, rows) to lines of text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from asky.reading.text_builder import TextBuilder

# Not `opacity: 0` or off-screen positions: pages fade and slide visible text in that way.
_HIDING_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0+(?:\.0+)?\s*(?:px|pt|r?em|%)?\s*(?:;|!|$))",
    re.IGNORECASE,
)


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Whether an element's own attributes hide it from a reader."""
    return "hidden" in attributes or bool(_HIDING_STYLE.search(attributes.get("style") or ""))


class BlockWriter:
    """Writes a stream of blocks and inline text into a TextBuilder.

    A block's white space is collapsed unless it is preformatted. Between two blocks stand one or two line ends: the
    larger number that either of them asks for.
    """

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []
        self._gap = 0
        self._prefix = ""
        self._heading = 0
        self._preformatted = False

    def open(self, gap: int, *, prefix: str = "", heading: int = 0, preformatted: bool = False) -> None:
        """Begin a block; `heading` is its level, 0 for text. An open block ends."""
        self.close(gap)
        self._prefix, self._heading, self._preformatted = prefix, heading, preformatted

    def close(self, gap: int) -> None:
        """End the open block, if any; text that follows begins a plain one."""
        text = self._take_text()
        if text:
            if len(self._builder):
                self._builder.add("\n" * self._gap)
            self._builder.add(self._prefix)
            if self._heading:
                self._builder.mark_heading(text, self._heading)
            self._builder.add(text)
            self._gap = 0
            self._prefix = ""
        self._gap = max(self._gap, gap, 1)
        self._heading, self._preformatted = 0, False

    def write(self, text: str) -> None:
        """Add inline text to the open block."""
        self._inline.append(text)

    def break_line(self) -> None:
        """End a line within the open block."""
        self._inline.append("\x0b")

    def part_cells(self) -> None:
        """Stand between two cells of a row."""
        if any(not piece.isspace() for piece in self._inline):
            self._inline.append(" | ")

    def _take_text(self) -> str:
        text = "".join(self._inline)
        self._inline.clear()
        if self._preformatted:
            return text.replace("\x0b", "\n").strip("\n").rstrip()
        lines = (" ".join(line.split()) for line in text.split("\x0b"))
        joined = "\n".join(line for line in lines if line)
        return joined.removesuffix(" |") if not self._heading else joined.replace("\n", " ")
