"""Markdown as parsed by markdown-it: one parser for all of asky, and a splitter of streamed text into blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_ALWAYS_PARSED = 4_000  # characters; a longer block is parsed again when it has grown by a quarter: linear time
_HEAD_CHARS = 64
# The beginning of a line that decides whether the line begins a block: it has a letter and cannot be a fence.
_DECISIVE = re.compile(r"(?![ \t]*(?:```|~~~)).*[^\W\d_]")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_GOES_ON_AFTER_BLANKS = ("list_item", "code_block")


def markdown_parser(*, max_nesting: int = 20) -> MarkdownIt:
    """Return a parser of CommonMark with tables and strikethrough, which shows HTML and link definitions as text."""
    from markdown_it import MarkdownIt  # 0.05 s: only if there is something to render

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": max_nesting}).enable(["strikethrough", "table"])
    parser.disable("reference")
    return parser


def for_threads(parser: MarkdownIt) -> MarkdownIt:
    """Return `parser` ready for use in several threads at once, and so for the whole process.

    A parser refers to itself: one for each text would stay in memory until Python looks for such circles.
    """
    for ruler in (parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2):
        ruler.getRules("")  # which else happens in the first parse, half done for a second thread
    return parser


@dataclass(frozen=True, slots=True)
class Block:
    """A unit of rendering: a list item, or a paragraph, heading, table, ... outside of a list.

    `kind` is markdown-it's name for it. `source` is its complete text with the blank lines around it. `marker` is the
    bullet of an item, or the delimiter after its number. `goes_on` is true for a later part of fenced code.
    """

    kind: str
    source: str
    marker: str = ""
    goes_on: bool = False

    def follows_blank_line(self, before: Block) -> bool:
        """Return whether a blank line is shown between this block and the one before it."""
        if self.kind != "list_item" or before.kind != "list_item":
            return not self.goes_on
        return self.marker != before.marker and (before.source.endswith("\n\n") or self.source.startswith("\n"))


class BlockSplitter:
    """Splits a streamed text into blocks, each returned as soon as it is complete.

    The blocks do not depend on how the text is cut into pieces. If fenced code was cut, `rest` begins with a copy of
    its opening line, which is `opening`.
    """

    def __init__(self) -> None:
        self.opening = ""
        self._rest = ""
        self._pieces: list[str] = []  # the text since then
        self._kind = ""  # of the current block
        self._head = ""  # of the incomplete line
        self._is_decided = False
        self._parse_at = 0
        self._parser: MarkdownIt | None = None

    @property
    def rest(self) -> str:
        """Return the text since the last complete block."""
        if self._pieces:
            self._rest += "".join(self._pieces)
            self._pieces.clear()
        return self._rest

    def feed(self, text: str) -> list[Block]:
        """Add a piece of text and return the blocks that it completes, in order."""
        self._pieces.append(text)
        *lines, last = text.split("\n")
        head = "" if lines else self._head
        was_decided = self._is_decided and not lines
        if len(head) < _HEAD_CHARS:
            self._head = (head + last)[:_HEAD_CHARS]
            self._is_decided = _DECISIVE.match(self._head) is not None
        news = bool(lines) or (self._is_decided and not was_decided and "\n" in self.rest)
        return self._split() if news and len(self.rest) >= self._parse_at else []

    def close(self) -> list[Block]:
        """Return the remaining blocks at the end of the text."""
        return self._take(self._starts(self.rest), self.rest.count("\n") + 1)

    def cut(self) -> Block | None:
        """Take the complete lines off the current fenced code; `None` if there are none, or it is not fenced code."""
        done = self.rest[: max(0, self.rest.rfind("\n"))].rstrip()
        opening = self.rest[: self.rest.find("\n", len(self.rest) - len(self.rest.lstrip())) + 1]
        if self._kind != "fence" or len(done) <= len(opening):
            return None
        block = Block("fence", done, goes_on=bool(self.opening))
        after = self.rest.find("\n", len(done)) + 1
        self.opening, self._rest = opening, opening + self.rest[after:]
        return block

    def _split(self) -> list[Block]:
        end = self.rest.count("\n")  # the number of the incomplete line
        text = self.rest if self._is_decided else self.rest[: self.rest.rfind("\n") + 1] + "x"
        starts = self._starts(text)
        last = starts.pop()
        if not self._is_decided and last[0] == end:  # anything could follow in place of this "x"
            kind, line = starts[-1][1] if starts else "", text[:-2].rpartition("\n")[2].strip()
            goes_on = kind in _GOES_ON_AFTER_BLANKS or (kind == "blockquote" and line) or "|" in line  # a table's head
            last = starts.pop() if goes_on else (end, "", "")
        blocks = self._take(starts, last[0]) if starts else []
        self._kind = last[1]
        size = len(self.rest)
        self._parse_at = 0 if size < _ALWAYS_PARSED or self._kind == "fence" else size + size // 4
        return blocks

    def _starts(self, text: str) -> list[tuple[int, str, str]]:
        """Return the first line, the kind and the marker of each block in `text`."""
        self._parser = self._parser or markdown_parser()
        tokens: list[Token] = []
        self._parser.block.parse(text, self._parser, {}, tokens)
        return [
            (token.map[0], token.type.removesuffix("_open"), token.markup if token.level else "")
            for token in tokens
            if token.map is not None and ((not token.level and not token.type.endswith("list_open")) or _is_item(token))
        ]

    def _take(self, starts: list[tuple[int, str, str]], end: int) -> list[Block]:
        """Take the blocks with these starts, up to the line `end`, off `rest`."""
        lines = re.findall(r"[^\n]*\n|[^\n]+", self.rest)
        ends = [*(line for line, _, _ in starts[1:]), end]
        blocks, begin = [], 0
        for (_, kind, marker), stop in zip(starts, ends, strict=False):
            blocks.append(Block(kind, "".join(lines[begin:stop]), marker, bool(self.opening) and not begin))
            begin = stop
        self._rest, self.opening = "".join(lines[begin:]), ""
        return blocks


def _is_item(token: Token) -> bool:
    return token.level == 1 and token.type == "list_item_open"


def begins_item(text: str) -> bool:
    """Return whether `text` begins with a list item."""
    return _ITEM.match(text) is not None
