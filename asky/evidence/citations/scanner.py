"""Cuts an answer, as it streams in, into text, code, passage keys, and look-alikes of citations.

It knows the Markdown that this requires: fenced code (inside lists and quotations too), code spans within one line,
backslash escapes, entities, links, and tags. A decision looks ahead a bounded number of characters and waits until they
are available, so that the result does not depend on how the text is cut; linear time.

Nothing in an answer may make a viewer load anything. Outside of code, all tags except harmless ones lose their `<`, and
images their `!`. The same applies to code spans that another renderer could pair differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from asky.evidence.citations.citation_forms import bracket_at, entity_at, superscript_at, superscript_tag_at, word_at
from asky.evidence.citations.code import CodeReader
from asky.evidence.citations.pieces import CIRCLED, OPEN, SUPERSCRIPTS, Decision, FoundPiece, Piece, Window
from asky.evidence.citations.tags import DEFUSED, ends_line, read_tag

_SPECIAL = re.compile(rf"[`~\\P&<!\]{re.escape(OPEN)}{SUPERSCRIPTS}⁽{CIRCLED}]")
_SPECIAL_WHEN_NUMBERED = re.compile(r"[`~\\\[]")
_MARKER = re.compile(r"\[[1-9]\d{0,2}\]")
_ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class AnswerScanner:
    """Call `feed` and then `close` for the pieces of an answer in order.

    In a `numbered` answer, which has passed the gate, only code and the markers `[1]` are found. If the text is a
    `part` of a line, its context is unknown, and nothing in it is treated as code.
    """

    def __init__(self, *, numbered: bool = False, part: bool = False) -> None:
        self._numbered = numbered
        self._special = _SPECIAL_WHEN_NUMBERED if numbered else _SPECIAL
        self._window = Window()
        self._code = CodeReader(self._window, part=part)

    def feed(self, delta: str) -> list[Piece]:
        """Return the pieces that are certain after `delta`."""
        self._window.feed(delta)
        return list(self._pieces())

    def close(self) -> list[Piece]:
        """Return the remaining pieces at the end of the answer."""
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
                    yield self._take(FoundPiece("fence", end))
                continue
            start, found = self._next()
            if start > window.at:
                yield self._take(FoundPiece("text", start))
            if found is not None:
                yield self._take(found)
            elif start < len(window.text):
                return

    def _take(self, found: FoundPiece) -> Piece:
        window = self._window
        begins_line = found.kind in ("keys", "word", "number") and window.begins_line(window.at)
        source = window.text[window.at : found.end]
        piece = Piece(found.kind, source, found.keys, found.tail, found.seen, begins_line)
        self._code.take(piece, found.end)
        window.at = found.end
        return piece

    def _next(self) -> tuple[int, FoundPiece | None]:
        """Return the end of the text that comes next, and the piece that follows if it is known."""
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
            return FoundPiece("number", marker.end()) if marker else at + 1
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
        return superscript_at(self._window, at)

    def _escape(self, at: int) -> Decision:
        window = self._window
        if window.lacks(at + 2):
            return None
        following = window.character(at + 1)
        if following in OPEN and not self._numbered:
            return bracket_at(window, at, at + 2)
        return min(at + 2, len(window.text)) if following in _ESCAPABLE else at + 1

    def _image(self, at: int) -> Decision:
        """Turn an image into a link: a viewer would fetch it, and so transmit the data in its address."""
        window = self._window
        if window.lacks(at + 2):
            return None
        if window.character(at + 1) != "[":
            return at + 1
        bracket = bracket_at(window, at + 1, at + 2)
        if bracket is None:
            return None
        is_citation = isinstance(bracket, FoundPiece) and bracket.kind in ("keys", "number")
        return at + 1 if is_citation else FoundPiece("text", at + 1, seen="\\!")

    def _angle(self, at: int) -> Decision:
        """Show tags and comments as text, except harmless tags; read `<sup>1</sup>` like `¹`.

        A comment could hide part of a citation. No tag may begin a block of HTML, in which nothing is code, and no
        address in angle brackets may contain a backtick.
        """
        window = self._window
        superscript = superscript_tag_at(window, at)
        if not isinstance(superscript, int):
            return superscript
        tag = read_tag(window.text, at, final=window.is_final)
        if isinstance(tag, int):
            alone = self._code.may_begin_block(at) and ends_line(window.text, tag, final=window.is_final)
            if not alone:
                return None if alone is None else tag
        elif tag != "defused":
            return None if tag == "unsure" else at + 1
        return FoundPiece("text", at + 1, seen=DEFUSED)
