"""Recognition of code in an answer: fenced code, and code spans within one line.

Renderers do not all pair backticks alike. Where one might show a code span as text, the span is also made unable to
load anything.
"""

from __future__ import annotations

import re

from asky.evidence.citations.blocks import HEAD_CHARS, Blocks
from asky.evidence.citations.citation_forms import keys_in_code
from asky.evidence.citations.pieces import OPEN, Decision, FoundPiece, Piece, Window
from asky.evidence.citations.tags import defused_code

_CODE_CHARS = 1_000
_INFO_CHARS = 200
_LINK_CHARS = 300
_RUN_CHARS = 64

_MAY_CITE = re.compile(rf"[Pp&<{re.escape(OPEN)}]")
_RUN = re.compile(rf"`{{1,{_RUN_CHARS}}}|~{{1,{_RUN_CHARS}}}")
_BACKTICKS_OR_LINE_END = re.compile(r"`+|\n")
# A link target without backticks, as these might pair with others.
_TARGET = re.compile(
    r"""\]\([ \t]*[^\s`<>()\\]*(?:\([^\s`<>()\\]*\)[^\s`<>()\\]*)*(?:[ \t]+"[^"`\n\\]*")?[ \t]*\)|\]\[[^\]\[`\\\n]*\]"""
)


class CodeReader:
    """Finds code in a `Window`. It must be informed of every piece that is cut, in order.

    If the text is a `part` of a line, its context is unknown, and nothing in it is treated as code.
    """

    def __init__(self, window: Window, *, part: bool) -> None:
        self._window = window
        self._blocks = Blocks(is_lost=part)
        self._tracked = 0  # the number of characters of the answer that `_blocks` has processed

    @property
    def is_fenced(self) -> bool:
        """Return whether fenced code is open; `fence_end` tells whether it still is at the window's position."""
        return self._blocks.fence is not None

    def fence_end(self) -> int | None:
        """Return the end of the next line of fenced code, or of the part of it that is available.

        Returns the window's position if the code has ended; `None` if that is not known yet.
        """
        text, at = self._window.text, self._window.at
        newline = text.find("\n", at)
        end = newline + 1 if newline >= 0 else len(text)
        if not self._blocks.head:
            head = text[at : min(end, at + HEAD_CHARS)]
            if newline < 0 and not self._window.is_final and self._blocks.needs(head):
                return None
            if not self._blocks.holds(head.removesuffix("\n")):
                return at
        self._blocks.feed_fence(text[at:end])
        self._note(end)
        return end

    def take(self, piece: Piece, end: int) -> None:
        """Process `piece`, which ends at `end`, as it stands in the answer; a citation counts as a word on one line."""
        if piece.kind == "fence":
            return
        if piece.kind in ("text", "code") and not piece.seen:
            self._track(end)
            return
        is_citation = piece.kind not in ("text", "code")
        self._blocks.feed(("x|" if "|" in piece.source else "x") if is_citation else piece.seen)
        self._note(end)
        if "`" in piece.tail:
            self._blocks.is_paired = False

    def may_begin_block(self, at: int) -> bool:
        """Return whether the line before `at` may consist of quotation and list markers only."""
        self._track(at)
        return self._blocks.begins_line()

    def run_at(self, at: int) -> Decision:
        """Examine the backticks or tildes at `at`: they open a fence, a code span, or neither."""
        match = _RUN.match(self._window.text, at)
        assert match is not None
        run, end = match.group(), match.end()
        if len(run) < _RUN_CHARS and self._window.lacks(end + 1):
            return None
        self._track(at)
        if len(run) == _RUN_CHARS:
            self._blocks.lose()
        begins_line, info = len(run) >= 3 and self._blocks.can_open(run), ""
        if begins_line:
            line_end = self._line_end(end)
            if line_end is None:
                return None
            info = self._window.text[end:line_end]
            if run[0] == "~" or "`" not in info:
                return self._opened(run, at, line_end, info)
        if run[0] == "~":
            return end
        decision = self._code_span(run, end)
        if isinstance(decision, int):
            self._blocks.is_paired = False
            if begins_line and _MAY_CITE.search(info):  # without the backticks of citations it would open a fence
                return FoundPiece("text", end, seen="\\" + run)
        return decision

    def target_at(self, at: int) -> Decision:
        """Examine the end of a bracket: if a link target follows, backticks in it belong to no code."""
        window = self._window
        if window.lacks(at + 2):
            return None
        if window.character(at + 1) not in "([" or _TARGET.match(window.text, at, at + _LINK_CHARS):
            return at + 1
        ahead = window.text[at : at + _LINK_CHARS]
        if window.lacks(at + _LINK_CHARS) and "`" not in ahead and "\n" not in ahead:
            return None
        self._track(at)
        self._blocks.is_paired = False
        return at + 1

    def _track(self, end: int) -> None:
        start = self._tracked - self._window.dropped
        if end > start:
            self._blocks.feed(self._window.text[start:end])
            self._note(end)

    def _note(self, end: int) -> None:
        self._tracked = self._window.dropped + end

    def _opened(self, run: str, at: int, line_end: int, info: str) -> FoundPiece:
        """Return a fence. One whose line is too long, or that could be the head of a table, is escaped."""
        if not info.endswith("\n") and len(info) >= _INFO_CHARS:
            self._blocks.is_paired = False
            return FoundPiece("text", at + len(run), seen="\\" + run)
        self._blocks.open_fence(run)
        self._note(line_end)
        return FoundPiece("fence", line_end, seen=(run + info).replace("|", "&#124;") if "|" in info else "")

    def _line_end(self, start: int) -> int | None:
        """Return the end of the line after an opening fence, including its newline; `None` if it is not known yet."""
        newline = self._window.text.find("\n", start, start + _INFO_CHARS)
        if newline >= 0:
            return newline + 1
        return None if self._window.lacks(start + _INFO_CHARS) else min(start + _INFO_CHARS, len(self._window.text))

    def _code_span(self, run: str, start: int) -> Decision:
        text, reach = self._window.text, start + _CODE_CHARS
        for match in _BACKTICKS_OR_LINE_END.finditer(text, start, reach):
            if match.group() == "\n" or match.end() == reach:
                return start
            if self._window.lacks(match.end() + 1):
                return None
            if match.group() == run:
                content, end = text[start : match.start()], match.end()
                if run == "``" and "''" in content:  # TeX quotation marks: ``so''
                    return start
                cited = keys_in_code(content.strip(), end)
                return cited or FoundPiece("code", end, seen=self._defused(text[start - len(run) : end]))
        return None if self._window.lacks(reach) else start

    def _defused(self, source: str) -> str:
        """Return the safe form of a code span that a renderer may not recognise, as when a table cell ends in it."""
        if self._blocks.is_paired and "|" not in source:
            return ""
        self._blocks.is_paired = False
        defused = defused_code(source)
        return defused if defused != source else ""
