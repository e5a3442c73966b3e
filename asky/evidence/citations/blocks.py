"""Recognition of fenced code in an answer, including the list items and quotations that contain it.

A fence ends with its quotation or list item, so these are tracked line by line as CommonMark prescribes. Where
renderers differ, or the next line could change the meaning of a line (the head of a table, a link definition), the
state is marked as unclear; once such a line decides about nesting, the position is lost, and nothing is treated as code
from there on.

Source: CommonMark 0.31.2, "Phase 1: block structure"; tables as in GitHub Flavored Markdown 0.29.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_Leaf = Literal["none", "paragraph", "unclear"]  # what the next line may continue; "unclear": either of the others

HEAD_CHARS = 640
"""The length of the beginning of a line that determines its containers: up to 32 items, each 17 characters deep."""

_MAX_CONTAINERS = 32
_QUOTATION = 0  # in place of the width of an item
_TAB = 4
_BEGINNING = re.compile(r"[ \t>*+\-0-9.)]*")
_MARKER = re.compile(r"(?:[-*+]|([0-9]{1,9})[.)])(?= |$)")
_RULE = re.compile(r"(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,}")
_HEADING = re.compile(r"#{1,6}(?: |$)")
_UNDERLINE = re.compile(r"(?:=+|-+) *")
_TABLE_RULE = re.compile(r"(?!- )[|:-][|: -]*")
_FENCE_END = re.compile(r" {0,3}(`{3,}|~{3,}) *")


class _Line(NamedTuple):
    """The state after a line: the widths of the items (0 for quotations) it is in, and what it may continue with."""

    containers: tuple[int, ...]
    leaf: _Leaf
    text: str = ""
    opens_item: bool = False
    is_lost: bool = False


class Blocks:
    """Tracks blocks: `feed` text outside fenced code, `open_fence` where a fence begins, `feed_fence` lines inside it.

    `head` is the beginning of the current line, `fence` the fence that is open, if any. `is_paired` is true while all
    backticks of the paragraph are paired; the caller sets it to false otherwise.
    """

    def __init__(self, *, is_lost: bool = False) -> None:
        self.head = ""
        self.fence: str | None = None
        self._is_lost = is_lost
        self.is_paired = not is_lost
        self._parts: list[str] = []
        self._containers: tuple[int, ...] = ()
        self._leaf: _Leaf = "none"
        self._has_empty_item = False
        self._opened_item = False  # in the line before
        self._had_pipe = False

    def lose(self) -> None:
        """Treat nothing as code from here on."""
        self._is_lost = True
        self.is_paired = False

    def feed(self, text: str) -> None:
        """Process text, in pieces of any length."""
        *lines, last = text.split("\n")
        for line in lines:
            self._append(line)
            self._end_line()
        self._append(last)

    def begins_line(self) -> bool:
        """Return whether the line so far may consist of quotation and list markers only."""
        return _BEGINNING.fullmatch(self.head) is not None

    def can_open(self, run: str) -> bool:
        """Return whether `run`, three or more fence characters, opens a fence here if the rest of its line permits."""
        if self._is_lost or not self.begins_line():
            return False
        if len(self.head) == HEAD_CHARS:
            self.lose()
            return False
        line = self._read(self.head + run)
        if line.is_lost:
            self.lose()
        return line.text == run and not self._is_lost

    def open_fence(self, run: str) -> None:
        """Open fenced code with `run` and the rest of its line."""
        self._containers = self._read(self.head + run).containers
        self.fence = run
        self._finish_line("none")

    def needs(self, head: str) -> bool:
        """Return whether `holds` needs to know more of a line in fenced code."""
        return bool(self._containers) and len(head) < HEAD_CHARS and not head.strip(" \t>")

    def holds(self, head: str) -> bool:
        """Return whether a line that begins with `head` belongs to the fenced code; otherwise close the fence."""
        if self._containers and self._match_containers(head.expandtabs(_TAB))[1] < len(self._containers):
            self.fence = None
        return self.fence is not None

    def feed_fence(self, text: str) -> None:
        """Process a line of fenced code, or a part of one, including its newline."""
        self._append(text.removesuffix("\n"))
        if text.endswith("\n"):
            rest, _ = self._match_containers("".join(self._parts).expandtabs(_TAB))
            closing = _FENCE_END.fullmatch(rest)
            if closing is not None and self.fence is not None and closing[1].startswith(self.fence):
                self.fence = None
            self._finish_line("none")

    def _append(self, part: str) -> None:
        self._parts.append(part)
        if len(self.head) < HEAD_CHARS:
            self.head += part[: HEAD_CHARS - len(self.head)]

    def _finish_line(self, leaf: _Leaf) -> None:
        """Reset the state of the line."""
        self._leaf = leaf
        self._has_empty_item = self._opened_item = self._had_pipe = False
        self._parts.clear()
        self.head = ""
        self.is_paired = not self._is_lost

    def _end_line(self) -> None:
        line = "".join(self._parts)
        is_paired = self.is_paired
        read = self._read(line) if not self._is_lost else _Line((), "none", line)
        if read.is_lost or len(read.containers) > _MAX_CONTAINERS:
            self.lose()
        self._finish_line(read.leaf)
        self._containers = read.containers
        self._has_empty_item = read.opens_item and not read.text
        self._opened_item = read.opens_item
        self._had_pipe = "|" in line
        if read.text:
            self.is_paired = is_paired and not self._is_lost

    def _match_containers(self, line: str) -> tuple[str, int]:
        """Return the rest of a line after the markers of its open containers, and the number of containers matched."""
        rest = line
        for index, width in enumerate(self._containers):
            text = rest.lstrip(" ")
            indent = len(rest) - len(text)
            if width == _QUOTATION:
                if indent > 3 or text[:1] != ">":
                    if text[:1] == ">":  # some renderers continue the quotation
                        self.lose()
                    return rest, index
                rest = text[1:].removeprefix(" ")
            elif not text:
                if self._has_empty_item and index == len(self._containers) - 1:
                    return rest, index
            elif indent >= width:
                rest = rest[width:]
            else:
                return rest, index
        return rest, len(self._containers)

    def _read(self, line: str) -> _Line:
        """Return the state after `line`, with the text that follows its container markers."""
        rest, depth = self._match_containers(line.expandtabs(_TAB))
        containers = list(self._containers[:depth])
        leaf = self._leaf
        goes_on = leaf != "none"  # until the line opens a block
        is_lazy = depth < len(self._containers)
        opens_item = is_lost = False
        while len(containers) <= _MAX_CONTAINERS:
            text = rest.lstrip(" ")
            indent = len(rest) - len(text)
            if not text or indent > 3:
                break
            if text[0] == ">":
                containers.append(_QUOTATION)
                rest = text[1:].removeprefix(" ")
            elif (goes_on and not is_lazy and _UNDERLINE.fullmatch(text)) or _RULE.fullmatch(text):
                break
            elif (marker := _MARKER.match(text)) is not None:
                after = text[marker.end() :]
                if goes_on and not is_lazy and (not after.strip(" ") or int(marker[1] or 1) != 1):
                    is_lost = is_lost or leaf == "unclear"  # it opens an item, but not within a paragraph
                    break
                spaces = len(after) - len(after.lstrip(" "))
                spaces = spaces if after.strip(" ") and spaces < 5 else 1
                containers.append(indent + marker.end() + spaces)
                rest = after[spaces:]
                opens_item = True
            else:
                break
            goes_on, leaf = False, "none"
        text = rest.lstrip(" ")
        return self._line_result(containers, text, len(rest) - len(text), leaf, goes_on, is_lazy, opens_item, is_lost)

    def _line_result(
        self,
        containers: list[int],
        text: str,
        indent: int,
        leaf: _Leaf,
        goes_on: bool,
        is_lazy: bool,
        opens_item: bool,
        is_lost: bool,
    ) -> _Line:
        """Return the state after `text` in these containers, some of which the line may have opened."""
        open_containers = tuple(containers)
        if not text:
            return _Line(open_containers, "none", "", opens_item)
        if indent > 3 and not goes_on:
            return _Line(open_containers, "none", " ", opens_item, is_lost)
        if indent <= 3:
            if self._had_pipe and not opens_item and _TABLE_RULE.fullmatch(text):
                return _Line(open_containers, "unclear", text, False, is_lost or is_lazy or self._opened_item)
            if text[:3] in ("```", "~~~") and not text.strip(text[0]):
                return _Line(open_containers, "none", text, opens_item, is_lost)
            if _HEADING.match(text) or _RULE.fullmatch(text):
                return _Line(open_containers, "none", text, opens_item, is_lost)
            if goes_on and not is_lazy and _UNDERLINE.fullmatch(text):
                unclear = leaf == "unclear"
                return _Line(
                    open_containers,
                    "unclear" if unclear else "none",
                    text,
                    False,
                    is_lost or (unclear and text[0] == "-"),
                )
        else:
            text = " " + text  # so that it opens no block
        if goes_on and is_lazy:
            return _Line(self._containers, leaf, text, False, is_lost or leaf == "unclear")
        partial: _Leaf = "unclear" if text[0] == "[" else "paragraph"
        return _Line(open_containers, leaf if goes_on else partial, text, opens_item, is_lost)
