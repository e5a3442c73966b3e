"""Where the blocks of a Markdown text end, found while the text arrives.

A block is what is rendered at once: a paragraph, a heading, a table, a quotation, a piece of code, one item of a list.
The rules are those of CommonMark as far as they say where a block ends; what is inside is left to the renderer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["paragraph", "heading", "rule", "fence", "code", "quote", "table", "item"]

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE = re.compile(r" {0,3}>")
_ITEM = re.compile(r"(?P<indent> {0,3})(?P<marker>[-*+]|\d{1,9}[.)])(?P<blank>[ \t]+(?=\S)|[ \t]*$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_TABLE_RULE = re.compile(r" {0,3}(?=.*\|)\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
# The beginning of a line that ends a paragraph whatever comes after it.
_INTERRUPTS = re.compile(r" {0,3}(?:[-*+][ \t]+[^\s*_|:-]|1[.)][ \t]+\S|#{1,6}[ \t]+\S)")
_NEXT_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_PEEKED = 64  # characters of an unfinished line that decide what it is


@dataclass(frozen=True, slots=True)
class Block:
    """A complete block. `source` is all of its text with the blank lines before it.

    `marker` is the bullet of an item, or the mark after its number, and `indent` the spaces before it. A block can be a
    part of one: `begun` is then its first lines, where they are not in here, and `goes_on` says that more is to come.
    """

    kind: Kind
    source: str
    marker: str = ""
    indent: int = 0
    begun: str = ""
    goes_on: bool = False

    def stands_apart(self, before: Block) -> bool:
        """Whether an empty row is left between this block and the one before it."""
        if self.begun:
            return False
        if self.kind != "item" or before.kind != "item":
            return True
        return self.marker != before.marker and (before.source.endswith("\n\n") or self.source.startswith("\n"))


class BlockScanner:
    """Takes a text in pieces and gives its blocks as soon as each is known to be complete.

    However the text is cut into pieces, the blocks are the same.
    """

    def __init__(self) -> None:
        self._before = ""
        self._lines: list[str] = []
        self._kind: Kind = "paragraph"
        self._fence = ""
        self._marker = ""
        self._indent = 0
        self._offset = 0
        self._after_blank = False
        self._partial: list[str] = []
        self._head = ""
        self._begun = ""

    @property
    def continues(self) -> bool:
        """Whether what comes next goes on with a block whose beginning was dropped."""
        return bool(self._begun)

    @property
    def rest(self) -> str:
        """What has come since the last complete block."""
        return self._before + "".join(self._lines) + "".join(self._partial)

    def open_block(self) -> Block | None:
        """The block under way, as far as it has come; `None` where it is not even known what it is."""
        if self._lines:
            return Block(self._kind, self.rest, self._marker, self._indent, self._begun)
        line = "".join(self._partial)
        return Block("paragraph", self.rest) if line.strip() and _kind(line) == "paragraph" else None

    def drop(self, characters: int, begun: str) -> None:
        """Take that many characters off the block under way, which began as `begun`; it goes on without them."""
        rest = self.rest
        if not self._lines:
            self._open("".join(self._partial))
        *lines, partial = rest[characters:].split("\n")
        self._before, self._begun = "", begun
        self._lines = ["", *(line + "\n" for line in lines)]  # an empty one: it is open without a whole line too
        self._partial = [partial] if partial else []
        self._head = partial[:_PEEKED]

    def feed(self, text: str) -> list[Block]:
        """Take the next piece; returns the blocks that it completes, in order."""
        blocks: list[Block] = []
        *lines, partial = text.split("\n")
        for line in lines:
            whole = "".join(self._partial) + line
            self._partial.clear()
            self._head = ""
            blocks += self._take(whole + "\n")
        if partial:
            self._partial.append(partial)
            if len(self._head) < _PEEKED:
                self._head = (self._head + partial)[:_PEEKED]
                if self._lines and self._ends_before(self._head):
                    blocks.append(self._complete())
        return blocks

    def close(self) -> list[Block]:
        """The text is at its end: the blocks that were not complete, the last of which may be without its end."""
        last = "".join(self._partial)
        self._partial.clear()
        self._head = ""
        blocks = list(self._take(last)) if last else []
        return [*blocks, self._complete()] if self._lines else blocks

    def _take(self, line: str) -> Iterator[Block]:
        if self._lines:
            if self._continues(line):
                self._lines.append(line)
                if self._is_closed_by(line):
                    yield self._complete()
                return
            yield self._complete()
        if not line.strip():
            self._before += line
            return
        self._open(line)
        if self._kind in ("heading", "rule"):
            yield self._complete()

    def _open(self, line: str) -> None:
        self._lines = [line]
        self._kind = _kind(line)
        self._fence, self._after_blank = "", False
        self._marker, self._indent = "", 0
        if self._kind == "fence":
            self._fence = _fence(line)
        elif item := _ITEM.match(line.rstrip("\n")) if self._kind == "item" else None:
            self._marker, self._indent = item["marker"][-1], len(item["indent"])
            blanks = len(item["blank"].expandtabs(4))
            self._offset = item.end("marker") + (blanks if 1 <= blanks <= 4 else 1)

    def _complete(self) -> Block:
        block = Block(self._kind, self._before + "".join(self._lines), self._marker, self._indent, self._begun)
        self._before = self._begun = ""
        self._lines = []
        return block

    def _continues(self, line: str) -> bool:
        """Whether `line` belongs to the open block."""
        blank = not line.strip()
        if self._kind == "fence":
            return True
        if self._kind == "code":
            return blank or _indent_of(line) >= 4
        if self._kind == "item":
            return self._continues_item(line, blank)
        if blank:
            return False
        if self._kind == "quote" and _QUOTE.match(line):
            return True
        if self._kind == "paragraph" and self._is_closed_by(line):
            return True
        if self._kind == "paragraph" and len(self._lines) == 1 and "|" in self._lines[0] and _TABLE_RULE.match(line):
            self._kind = "table"
            return True
        return not _interrupts(line)

    def _continues_item(self, line: str, blank: bool) -> bool:
        if blank:
            self._after_blank = True
            return True
        inside = _indent_of(line) >= self._offset
        if inside:
            self._after_blank = False
            self._note_fence(line)
            return True
        return not (self._after_blank or self._fence or _ITEM.match(line.rstrip("\n")) or _interrupts(line))

    def _note_fence(self, line: str) -> None:
        """Keep account of code inside of an item."""
        line = line[self._offset :]
        if self._fence:
            if _closes(line, self._fence):
                self._fence = ""
        elif _FENCE.match(line.rstrip("\n")):
            self._fence = _fence(line)

    def _is_closed_by(self, line: str) -> bool:
        """Whether `line` is the last of the open block."""
        if self._kind == "fence":
            return len(self._lines) > 1 and _closes(line, self._fence)
        return self._kind == "paragraph" and _UNDERLINE.match(line.rstrip("\n")) is not None

    def _ends_before(self, head: str) -> bool:
        """Whether the open block ends before a line that begins with `head`, whatever comes after it."""
        if not head.strip() or self._kind in ("fence", "code"):
            return False
        if self._kind != "item":
            return _INTERRUPTS.match(head) is not None
        if _indent_of(head) >= self._offset:
            return False
        return self._after_blank or bool(self._fence) or (_NEXT_ITEM.match(head) or _INTERRUPTS.match(head)) is not None


def item_start(text: str) -> str:
    """What stands before the words of an item that `text` begins with: blanks, marker, blanks."""
    found = _ITEM.match(text.split("\n", 1)[0])
    return found.group() if found else ""


def begins_item(text: str) -> bool:
    """Whether `text` begins with an item of a list."""
    return _NEXT_ITEM.match(text) is not None


def _kind(line: str) -> Kind:
    line = line.rstrip("\n")
    if _indent_of(line) >= 4:
        return "code"
    found: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("fence", _FENCE), ("heading", _HEADING), ("rule", _RULE), ("quote", _QUOTE), ("item", _ITEM),
    )  # fmt: skip
    return next((kind for kind, pattern in found if pattern.match(line)), "paragraph")


def _interrupts(line: str) -> bool:
    """Whether a paragraph ends before `line`."""
    kind = _kind(line)
    if kind != "item":
        return kind not in ("paragraph", "code")
    item = _ITEM.match(line.rstrip("\n"))
    return item is not None and bool(line[item.end() :].strip()) and item["marker"][:-1] in ("", "1")


def _fence(line: str) -> str:
    found = _FENCE.match(line.rstrip("\n"))
    return found["fence"] if found else ""


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return _indent_of(line) < 4 and len(bare) >= len(fence) and set(bare) == {fence[0]}


def _indent_of(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))
