"""Conversion of the blocks of a page (paragraphs, headings, items, rows) to lines of text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from asky.reading.text_builder import TextBuilder

# Not `opacity: 0` or off-screen positions: pages fade and slide visible text in that way.
_HIDING_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0+(?:\.0+)?\s*(?:px|pt|r?em|%)?\s*(?:;|!|$))",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(?:^|;)\s*(?:width|height)\s*:\s*0+(?:px|pt|r?em|%)?\s*(?=;|!|$)", re.IGNORECASE)
_COLOUR = re.compile(r"(?:^|;)\s*(background(?:-color)?|color)\s*:\s*([^;!]{1,40})", re.IGNORECASE)
_WHITE = frozenset({"white", "#fff", "#ffffff", "rgb(255,255,255)"})
_ANCHORS = ("¶", "↩", "↩\ufe0e")  # links of a heading to itself, and of a note back to its place
_ANCHOR_SIGNS = "¶↩\ufe0e "
_SIGNS = (":", "?", "!", ".", ";", ",")
_SIGNS_ALONE = re.compile(r"(?:~~|\[[x ]\]|\s)+")  # around blocks, or of a field without a name
_NO_COLOURS = frozenset({"inherit", "initial", "unset", "revert", "transparent", "currentcolor"})


class TextBlock(NamedTuple):
    """A block of a text: from `start` to `end`, its mark included.

    `mark` is the length of the mark of a list's item, `kind` the tag that says what the block is, `level` that of a
    heading or 0, `linked` how many of its characters, white space not counted, are in links.
    """

    start: int
    end: int
    mark: int
    kind: str
    level: int
    linked: int


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
    larger number that either of them requests. The mark of a list's item stays for the first block within the item.
    `with_blocks` asks for a list of them.
    """

    def __init__(self, builder: TextBuilder, *, with_blocks: bool = False) -> None:
        self._builder = builder
        self._inline: list[str] = []
        self._gap = 1
        self._prefix = ""
        self._heading = 0
        self._preformatted = False
        self._kind = ""
        self._linked = 0
        self._joint = ""
        self._marks = 0
        self._empty_cells = 0  # at the start of a row
        self._is_filled = self._begins_cell = False  # the open block has text, but none since the last bar
        self.places: list[int] = []  # per mark: the start of its block
        self.blocks: list[TextBlock] | None = [] if with_blocks else None

    def open(self, gap: int, prefix: str = "", heading: int = 0, preformatted: bool = False, kind: str = "") -> None:
        """Begin a block, ending any open one; `heading` is its level, 0 for text."""
        self.close(gap)
        self._heading, self._preformatted, self._kind = heading, preformatted, kind
        self._prefix = prefix or self._prefix

    def close(self, gap: int, kind: str = "") -> None:
        """End the open block, if any; later text begins a plain one of that kind."""
        if self._inline or self._marks:
            self._write_block()
        if gap > self._gap and not self._prefix:
            self._gap = gap
        self._heading, self._preformatted, self._kind, self._joint = 0, False, kind, ""

    def drop_prefix(self) -> None:
        """Forget the mark of an item without text."""
        self._prefix = ""

    def is_short(self, chars: int) -> bool:
        """Return whether the open block has text, and no more than so many characters."""
        return bool(self._inline) and sum(map(len, self._inline)) <= chars

    def join(self, sign: str) -> None:
        """Write `sign` between the text of the open block and what is written next, unless the text ends with one."""
        self._joint = sign if self._inline else ""

    @property
    def is_joining(self) -> bool:
        """Whether what is written next is joined to the open block."""
        return bool(self._joint)

    def write(self, text: str) -> None:
        """Add inline text to the open block."""
        # Most pieces are the white space between two tags; a block of nothing else is not even begun.
        if self._joint and not text.isspace():
            before = "".join(self._inline).rstrip(_ANCHOR_SIGNS + "\t\n\r")
            self._inline = [before, " " if before.endswith(_SIGNS) else self._joint]
            self._joint = ""
        if not text.isspace():
            self._is_filled, self._begins_cell = True, False
            self._inline.append(text)
        elif self._inline or self._preformatted:
            self._inline.append(text)

    def write_linked(self, text: str, *, is_own: bool) -> None:
        """Add inline text of a link, or of one within the page, which headings have to themselves."""
        self.write(text)
        if not is_own or not self._heading:
            self._linked += len("".join(text.split()))

    def mark(self) -> None:
        """Mark the open block, or the next one with text: when it is closed, its offset is appended to `places`."""
        self._marks += 1

    def break_line(self) -> None:
        """End a line within the open block, which is none at the start of a block or a cell."""
        if self._preformatted or (self._is_filled and not self._begins_cell):
            self._inline.append("\x0b")

    def part_cells(self) -> None:
        """Separate two cells of a row, or begin the first one; a row with an empty first cell gets bars around it."""
        if self._is_filled:
            self._inline.append(" | ")
            self._begins_cell = True
        else:
            self._empty_cells += 1

    def rule(self, columns: int) -> None:
        """Write the line below the names of a table's columns."""
        self.open(1)
        self.write(" | ".join(["---"] * columns))
        self.close(1)

    def _write_block(self) -> None:
        text = self._take_text()
        if text and not _SIGNS_ALONE.fullmatch(text):
            end = len(self._builder)
            gap = "\n" * self._gap if end else ""
            start = end + len(gap)
            if self._marks:
                self.places += [start] * self._marks
                self._marks = 0
            if self._heading:
                self._prefix = self._prefix.removesuffix("- ")
                self._builder.mark_heading(text, self._heading, start + len(self._prefix))
            self._builder.add(f"{gap}{self._prefix}{text}")
            if self.blocks is not None:
                mark, stop = len(self._prefix), len(self._builder)
                self.blocks.append(TextBlock(start, stop, mark, self._kind, self._heading, self._linked))
            self._gap = 1
            self._prefix = ""
        self._linked = 0

    def _take_text(self) -> str:
        text = "".join(self._inline)
        self._inline.clear()
        self._is_filled = self._begins_cell = False
        empty, self._empty_cells = self._empty_cells - 1, 0
        if self._preformatted:
            return text.replace("\x0b", "\n").strip("\n").rstrip()
        if "\x0b" not in text:
            joined = " ".join(text.split())
        else:
            lines = (" ".join(line.split()) for line in text.split("\x0b"))
            joined = ("\n" if not self._heading else " ").join(line for line in lines if line)
        if joined.endswith(_ANCHORS):
            joined = joined.rstrip(_ANCHOR_SIGNS)
        if self._heading:
            return joined
        end = len(joined)
        while joined.endswith(" |", 0, end):
            end -= 2
        joined = joined[:end]
        return f"{'| ' * (empty + 1)}{joined} |" if empty > 0 and " | " in joined else joined
