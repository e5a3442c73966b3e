"""What in an answer is code: fenced, or a code span within one line.

Renderers do not all pair backticks in one way. Where one could see text in what is taken for a code span here, what it
might load from it is made harmless too.
"""

from __future__ import annotations

import re

from asky.evidence.blocks import HEAD_CHARS, Blocks
from asky.evidence.citation_forms import keys_in_code
from asky.evidence.pieces import Decision, Found, Piece
from asky.evidence.signs import OPEN
from asky.evidence.tags import defused_code
from asky.evidence.window import Window

_CODE_CHARS = 1_000
_INFO_CHARS = 200
_LINK_CHARS = 300
_RUN_CHARS = 64

_MAY_CITE = re.compile(rf"[Pp&<{re.escape(OPEN)}]")
_RUN = re.compile(rf"`{{1,{_RUN_CHARS}}}|~{{1,{_RUN_CHARS}}}")
_BACKTICKS_OR_LINE_END = re.compile(r"`+|\n")
# What may follow the text of a link and has no backtick in it, which might pair with others or not.
_TARGET = re.compile(
    r"""\]\([ \t]*[^\s`<>()\\]*(?:\([^\s`<>()\\]*\)[^\s`<>()\\]*)*(?:[ \t]+"[^"`\n\\]*")?[ \t]*\)|\]\[[^\]\[`\\\n]*\]"""
)


class CodeReader:
    """Finds the code in a `Window`. It is told of every piece that is cut, in order, and of a part of one where asked.

    Of a `part` of a line it is not known what stands before it, and nothing in it is taken for code.
    """

    def __init__(self, window: Window, *, part: bool) -> None:
        self._window = window
        self._blocks = Blocks(is_lost=part)
        self._tracked = 0  # that many characters of the answer are known to `_blocks`

    @property
    def is_fenced(self) -> bool:
        """Whether fenced code is open; `fence_end` tells whether it still is where the window is."""
        return self._blocks.fence is not None

    def fence_end(self) -> int | None:
        """Where the line of fenced code ends, or what has come of it, that is next in the window.

        The window's own place where the code is over; `None` while that is not known.
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
        """Know `piece`, which ends at `end`, as it will stand in the answer; a citation is a word on one line."""
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
        """Whether there may be nothing on the line before `at` but the signs of quotations and list items."""
        self._track(at)
        return self._blocks.begins_line()

    def run_at(self, at: int) -> Decision:
        """What the backticks or tildes at `at` begin: a fence, a code span, or neither."""
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
            if begins_line and _MAY_CITE.search(info):  # citations lose their backticks: it would begin fenced code
                return Found("text", end, seen="\\" + run)
        return decision

    def target_at(self, at: int) -> Decision:
        """The end of a bracket; where a link's address follows, backticks in it belong to no code, if it is one."""
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

    def _opened(self, run: str, at: int, line_end: int, info: str) -> Found:
        """A fence; one that no line could follow in time, or that could be the head of a table, is made sure of."""
        if not info.endswith("\n") and len(info) >= _INFO_CHARS:
            self._blocks.is_paired = False
            return Found("text", at + len(run), seen="\\" + run)
        self._blocks.open_fence(run)
        self._note(line_end)
        return Found("fence", line_end, seen=(run + info).replace("|", "&#124;") if "|" in info else "")

    def _line_end(self, start: int) -> int | None:
        """Where the line after an opening fence ends, its newline included; `None` while that is not known."""
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
                if run == "``" and "''" in content:  # quotation marks as TeX writes them: ``so''
                    return start
                cited = keys_in_code(content.strip(), end)
                return cited or Found("code", end, seen=self._defused(text[start - len(run) : end]))
        return None if self._window.lacks(reach) else start

    def _defused(self, source: str) -> str:
        """What must stand for this code span if a renderer may see none, as where a cell of a table ends in it."""
        if self._blocks.is_paired and "|" not in source:
            return ""
        self._blocks.is_paired = False
        said = defused_code(source)
        return said if said != source else ""
