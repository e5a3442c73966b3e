"""Conversion of the blocks of a page (paragraphs, headings, items, rows) to lines of text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from asky.reading.text_builder import TextBuilder

# Not `opacity: 0` or off-screen positions: pages fade and slide visible text in that way.
_HIDING_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0+(?:\.0+)?\s*(?:px|pt|r?em|%)?\s*(?:;|!|$))",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(?:^|;)\s*(?:width|height)\s*:\s*0+(?:px|pt|r?em|%)?\s*(?=;|!|$)", re.IGNORECASE)
_COLOUR = re.compile(r"(?:^|;)\s*(background(?:-color)?|color)\s*:\s*([^;!]{1,40})", re.IGNORECASE)
_WHITE = frozenset({"white", "#fff", "#ffffff", "rgb(255,255,255)"})
_NO_COLOURS = frozenset({"inherit", "initial", "unset", "revert", "transparent", "currentcolor"})


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Return whether an element's own attributes hide it: `hidden`, or a style of no display, size or contrast.

    Style sheets and scripts are not considered.
    """
    style = attributes.get("style")
    return "hidden" in attributes or (bool(style) and _hides(str(style)))


def _hides(style: str) -> bool:
    return bool(_HIDING_STYLE.search(style)) or len(_SIZE.findall(style)) > 1 or _has_no_contrast(style)


def _has_no_contrast(style: str) -> bool:
    colours = {name.lower()[:5]: "".join(value.lower().split()) for name, value in _COLOUR.findall(style)}
    ink, paper = colours.get("color"), colours.get("backg")
    return ink is not None and ink not in _NO_COLOURS and (ink == paper or {ink, paper} <= _WHITE)


class BlockWriter:
    """Writes a stream of blocks and inline text into a TextBuilder.

    A block's white space is collapsed unless it is preformatted. Blocks are separated by one or two line ends: the
    larger number that either of them requests.
    """

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []
        self._gap = 1
        self._prefix = ""
        self._heading = 0
        self._preformatted = False
        self._marks = 0
        self._empty_cells = 0  # at the start of a row
        self.places: list[int] = []  # per mark: the start of its block

    def open(self, gap: int, prefix: str = "", heading: int = 0, preformatted: bool = False) -> None:
        """Begin a block, ending any open one; `heading` is its level, 0 for text."""
        self.close(gap)
        self._prefix, self._heading, self._preformatted = prefix, heading, preformatted

    def close(self, gap: int) -> None:
        """End the open block, if any; later text begins a plain one."""
        if self._inline or self._marks:
            self._write_block()
        if gap > self._gap:
            self._gap = gap
        self._heading, self._preformatted = 0, False

    def write(self, text: str) -> None:
        """Add inline text to the open block."""
        # Most pieces are the white space between two tags; a block of nothing else is not even begun.
        if self._inline or self._preformatted or not text.isspace():
            self._inline.append(text)

    def mark(self) -> None:
        """Mark the open block, or the next one with text: when it is closed, its offset is appended to `places`."""
        self._marks += 1

    def break_line(self) -> None:
        """End a line within the open block."""
        self._inline.append("\x0b")

    def part_cells(self) -> None:
        """Separate two cells of a row, or begin the first one; a row with an empty first cell gets bars around it."""
        if any(not piece.isspace() for piece in self._inline):
            self._inline.append(" | ")
        else:
            self._empty_cells += 1

    def rule(self, columns: int) -> None:
        """Write the line below the names of a table's columns."""
        self.open(1)
        self.write(" | ".join(["---"] * columns))
        self.close(1)

    def _write_block(self) -> None:
        text = self._take_text()
        if text:
            end = len(self._builder)
            gap = "\n" * self._gap if end else ""
            start = end + len(gap)
            if self._marks:
                self.places += [start] * self._marks
                self._marks = 0
            if self._heading:
                self._builder.mark_heading(text, self._heading, start + len(self._prefix))
            self._builder.add(f"{gap}{self._prefix}{text}")
            self._gap = 1
            self._prefix = ""

    def _take_text(self) -> str:
        text = "".join(self._inline)
        self._inline.clear()
        empty, self._empty_cells = self._empty_cells - 1, 0
        if self._preformatted:
            return text.replace("\x0b", "\n").strip("\n").rstrip()
        lines = (" ".join(line.split()) for line in text.split("\x0b"))
        joined = "\n".join(line for line in lines if line)
        if self._heading:
            return joined.replace("\n", " ")
        while joined.endswith(" |"):
            joined = joined[:-2]
        return f"{'| ' * (empty + 1)}{joined} |" if empty > 0 and " | " in joined else joined
