"""Cuts an answer, as it streams in, into text, code, passage keys, and what looks like a citation and is none.

It knows as much Markdown as that takes: fenced code (inside lists and quotations too), code spans within one line,
backslash escapes, entities, links, and tags. A decision looks a bounded number of characters ahead and waits until they
are there, so that the pieces mean the same however the text was cut on its way; the time is linear.

Nothing in an answer may make whatever shows it load anything. Outside of code, tags but the harmless ones lose their
`<` and images their `!`. In code spans that another renderer could pair in another way, they do too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from asky.evidence.citation_forms import bracket_at, entity_at, raised_at, superscript_at, word_at
from asky.evidence.code import CodeReader
from asky.evidence.pieces import Decision, Found, Piece
from asky.evidence.signs import CIRCLED, OPEN, SUPERSCRIPTS
from asky.evidence.tags import DEFUSED, ends_line, read_tag
from asky.evidence.window import Window

_SPECIAL = re.compile(rf"[`~\\P&<!\]{re.escape(OPEN)}{SUPERSCRIPTS}⁽{CIRCLED}]")
_SPECIAL_WHEN_NUMBERED = re.compile(r"[`~\\\[]")
_MARKER = re.compile(r"\[[1-9]\d{0,2}\]")
_ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class AnswerScanner:
    """`feed` and then `close` give the pieces of an answer in order.

    In a `numbered` answer, which has been through the gate, there is nothing to find but code and the markers `[1]`.
    Of a `part` of a line it is not known what stands before it, and nothing in it is taken for code.
    """

    def __init__(self, *, numbered: bool = False, part: bool = False) -> None:
        self._numbered = numbered
        self._special = _SPECIAL_WHEN_NUMBERED if numbered else _SPECIAL
        self._window = Window()
        self._code = CodeReader(self._window, part=part)

    def feed(self, delta: str) -> list[Piece]:
        """The pieces that are certain once `delta` has come."""
        self._window.feed(delta)
        return list(self._pieces())

    def close(self) -> list[Piece]:
        """The pieces that are left at the end of the answer."""
        self._window.is_final = True
        return list(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        window = self._window
        while window.at < len(window.text):
            if self._code.is_fenced:
                end = self._code.fence_end()
                if end is None:
                    return
                if end > window.at:
                    yield self._take(Found("fence", end))
                continue
            start, found = self._next()
            if start > window.at:
                yield self._take(Found("text", start))
            if found is not None:
                yield self._take(found)
            elif start < len(window.text):
                return

    def _take(self, found: Found) -> Piece:
        window = self._window
        begins_line = found.kind in ("keys", "word", "number") and window.begins_line(window.at)
        source = window.text[window.at : found.end]
        piece = Piece(found.kind, source, found.keys, found.tail, found.seen, begins_line)
        self._code.take(piece, found.end)
        window.at = found.end
        return piece

    def _next(self) -> tuple[int, Found | None]:
        """Where the text ends that comes next, and what follows it if that is known."""
        text, position = self._window.text, self._window.at
        while (special := self._special.search(text, position)) is not None:
            decision = self._decide(special.group(), special.start())
            if not isinstance(decision, int):
                return special.start(), decision
            position = decision
        return max(position, len(text)), None

    def _decide(self, character: str, at: int) -> Decision:
        if character == "P":
            return word_at(self._window, at)
        if character in "`~":
            return self._code.run_at(at)
        if character == "]":
            return self._code.target_at(at)
        if self._numbered and character == "[":
            marker = _MARKER.match(self._window.text, at)
            return Found("number", marker.end()) if marker else at + 1
        if character == "\\":
            return self._escape(at)
        if character == "&":
            return entity_at(self._window, at)
        if character == "<":
            return self._angle(at)
        if character == "!":
            return self._image(at)
        if character in OPEN:
            return bracket_at(self._window, at, at + 1)
        return raised_at(self._window, at)

    def _escape(self, at: int) -> Decision:
        window = self._window
        if window.lacks(at + 2):
            return None
        following = window.character(at + 1)
        if following in OPEN and not self._numbered:
            return bracket_at(window, at, at + 2)
        return min(at + 2, len(window.text)) if following in _ESCAPABLE else at + 1

    def _image(self, at: int) -> Decision:
        """An image becomes a link: whatever shows the answer would fetch it, with what its address carries."""
        window = self._window
        if window.lacks(at + 2):
            return None
        if window.character(at + 1) != "[":
            return at + 1
        bracket = bracket_at(window, at + 1, at + 2)
        if bracket is None:
            return None
        is_citation = isinstance(bracket, Found) and bracket.kind in ("keys", "number")
        return at + 1 if is_citation else Found("text", at + 1, seen="\\!")

    def _angle(self, at: int) -> Decision:
        """Tags and comments are shown as they stand, but for harmless tags; `<sup>1</sup>` is read like `¹`.

        A comment could hide what makes a citation. No tag may begin a block of HTML, in which nothing is code, and no
        address in angle brackets may have a backtick in it.
        """
        window = self._window
        superscript = superscript_at(window, at)
        if not isinstance(superscript, int):
            return superscript
        tag = read_tag(window.text, at, final=window.is_final)
        if isinstance(tag, int):
            alone = self._code.may_begin_block(at) and ends_line(window.text, tag, final=window.is_final)
            if not alone:
                return None if alone is None else tag
        elif tag != "defused":
            return None if tag == "unsure" else at + 1
        return Found("text", at + 1, seen=DEFUSED)
