"""Cuts an answer, as it streams in, into text, code, groups of passage keys and bare numbers in brackets.

It knows as much Markdown as that takes: fenced code (inside lists and quotations too), code spans within one line, and
backslash escapes. A decision looks a bounded number of characters ahead and waits until they are there, so that the
pieces mean the same however the text was cut on its way; the time is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from asky.evidence.keys import MAX_DIGITS, MIN_DIGITS

PieceKind = Literal["text", "code", "fence", "keys", "word", "number"]

_BRACKET_CHARS = 256
_CODE_CHARS = 1_000
_INFO_CHARS = 200
_PREFIX_CHARS = 80
_KEY_CHARS = 1 + MIN_DIGITS, 1 + MAX_DIGITS

_OPEN, _CLOSE = "[【［", "]】］"
_DECOR = r" \t\u00a0*_`~\\\u00ad\u200b-\u200d\u2060\ufeff"  # leaves no trace on a rendered page, or little
_SPECIAL = re.compile(rf"[`~\\\nP{re.escape(_OPEN)}]")
_BRACKET_END = re.compile(rf"[{re.escape(_CLOSE)}\n]")
_BEGINS_GROUP = re.compile(rf"[{_DECOR}^\dPpSsRrKkEeIi]")  # keys, numbers, or a word of `_FILLER`

_KEY = r"[Pp][0-9a-fA-F]{4,16}(?![^\W_])"
_FILLER = r"(?:(?:see|passages?|sources?|keys?|refs?\.?|evidence|id)[ \t:#]*|\^)?"
_SEPARATOR = rf"[{_DECOR},;/|&+–—-]+(?:and[{_DECOR}]+)?"
_KEYS = re.compile(rf"[{_DECOR}]*{_FILLER}[{_DECOR}]*({_KEY}(?:{_SEPARATOR}{_KEY})*)", re.IGNORECASE)
_ONE_KEY = re.compile(_KEY)
_TAIL = re.compile(r"""[ \t]*[,;:.§#("“'–—-]""")
_AROUND_TAIL = " \t\u00a0*_`~\\,;:/|&+–—-\u00ad\u200b\u200c\u200d\u2060\ufeff"
_NUMBER = re.compile(rf"[{_DECOR}^]*(?!0)\d{{1,3}}(?:[ ]?[,;–-][ ]?(?!0)\d{{1,3}})*[{_DECOR}]*")

_WORD = re.compile(r"P[0-9a-fA-F]{0,16}")
_GLUE_BEFORE = tuple("/-=&#@_.")  # a word next to these is part of a path, an address or a name
_GLUE_AFTER = tuple("/-=&#@_")
_RUN_CHARS = 64
_RUN = re.compile(rf"`{{1,{_RUN_CHARS}}}|~{{1,{_RUN_CHARS}}}")
_BACKTICKS_OR_LINE_END = re.compile(rf"`{{1,{_RUN_CHARS}}}|\n")
_LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_FENCE_END = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer; the sources of all pieces, joined, are the answer.

    `code` is a code span, `fence` a part of fenced code. `keys` holds groups of keys (`[P7f3a, P09c2]`, lower-cased as
    `P7f3a`), with what else stood inside the brackets as `tail`; `word` is something that looks like a key outside
    brackets; `number` is a bracket of bare numbers (`[7]`). `begins_line` tells that only indentation or a list or
    quotation mark stands before it on its line.
    """

    kind: PieceKind
    source: str
    keys: tuple[str, ...] = ()
    tail: str = ""
    begins_line: bool = False


class AnswerScanner:
    """`feed` and then `close` give the pieces of an answer in order."""

    def __init__(self) -> None:
        self._text = ""
        self._at = 0
        self._final = False
        self._before = ""  # the character before `_at`
        self._line = ""  # the current line up to `_at`, cut at `_PREFIX_CHARS`
        self._fence: str | None = None

    def feed(self, delta: str) -> list[Piece]:
        """The pieces that are certain once `delta` has come."""
        self._text = self._text[self._at :] + delta
        self._at = 0
        return self._pieces()

    def close(self) -> list[Piece]:
        """The pieces that are left at the end of the answer."""
        self._final = True
        return self._pieces()

    def _pieces(self) -> list[Piece]:
        pieces: list[Piece] = []
        while self._at < len(self._text):
            piece = self._fenced() if self._fence is not None else self._next()
            if piece is None:
                break
            pieces.append(piece)
        return pieces

    def _take(self, kind: PieceKind, end: int, keys: tuple[str, ...] = (), tail: str = "") -> Piece:
        source = self._text[self._at : end]
        piece = Piece(kind, source, keys, tail, self._begins_line())
        self._at = end
        self._before = source[-1]
        self._line = (self._line + source).rpartition("\n")[2][:_PREFIX_CHARS]
        return piece

    def _begins_line(self) -> bool:
        return len(self._line) < _PREFIX_CHARS and _LINE_PREFIX.fullmatch(self._line) is not None

    def _missing(self, end: int) -> bool:
        """Whether a decision needs the text up to `end` and it may still come."""
        return end > len(self._text) and not self._final

    def _fenced(self) -> Piece:
        newline = self._text.find("\n", self._at)
        end = newline if newline >= 0 else len(self._text)
        if end > self._at:
            return self._take("fence", end)
        closing = _FENCE_END.fullmatch(self._line) if len(self._line) < _PREFIX_CHARS else None
        if closing is not None and self._fence is not None and closing[1].startswith(self._fence):
            self._fence = None
        return self._take("fence", end + 1)

    def _next(self) -> Piece | None:
        special = _SPECIAL.search(self._text, self._at)
        if special is None:
            return self._take("text", len(self._text))
        if special.start() > self._at:
            return self._take("text", special.start())
        character = special.group()
        if character in "`~":
            return self._run()
        if character == "P":
            return self._word()
        if character == "\\":
            return self._escape()
        if character == "\n":
            return self._take("text", self._at + 1)
        return self._bracket(self._at)

    def _escape(self) -> Piece | None:
        if self._missing(self._at + 2):
            return None
        if self._character(self._at + 1) in _OPEN:
            return self._bracket(self._at + 1)
        return self._take("text", min(self._at + 2, len(self._text)))

    def _character(self, at: int) -> str:
        """The character at `at`, a space past the end."""
        return self._text[at] if at < len(self._text) else " "

    def _word(self) -> Piece | None:
        match = _WORD.match(self._text, self._at)
        assert match is not None
        end = match.end()
        if self._missing(end + 1):
            return None
        after = self._character(end)
        alone = not (self._before.isalnum() or after.isalnum() or self._before in _GLUE_BEFORE or after in _GLUE_AFTER)
        if alone and _KEY_CHARS[0] <= len(match.group()) <= _KEY_CHARS[1]:
            return self._take("word", end, (_normal(match.group()),))
        return self._take("text", end)

    def _run(self) -> Piece | None:
        match = _RUN.match(self._text, self._at)
        assert match is not None
        run, end = match.group(), match.end()
        if len(run) < _RUN_CHARS and self._missing(end + 1):
            return None
        if len(run) >= 3 and self._begins_line():
            line_end = self._line_end(end)
            if line_end is None:
                return None
            if run[0] == "~" or "`" not in self._text[end:line_end]:
                self._fence = run
                return self._take("fence", line_end)
        return self._code_span(run, end) if run[0] == "`" else self._take("text", end)

    def _line_end(self, start: int) -> int | None:
        """Where the line after an opening fence ends, its newline included; `None` while that is not known."""
        newline = self._text.find("\n", start, start + _INFO_CHARS)
        if newline >= 0:
            return newline + 1
        return None if self._missing(start + _INFO_CHARS) else min(start + _INFO_CHARS, len(self._text))

    def _code_span(self, run: str, start: int) -> Piece | None:
        reach = start + _CODE_CHARS
        for match in _BACKTICKS_OR_LINE_END.finditer(self._text, start, reach):
            if match.group() == "\n" or match.end() == reach:
                return self._take("text", start)
            if self._missing(match.end() + 1):
                return None
            if match.group() == run:
                content = self._text[start : match.start()]
                if run == "``" and "''" in content:  # quotation marks as TeX writes them: ``so''
                    return self._take("text", start)
                return self._code(content.strip(), match.end())
        return None if self._missing(reach) else self._take("text", start)

    def _code(self, content: str, end: int) -> Piece:
        """A code span; one that holds keys and nothing else is how some models write a citation."""
        if _ONE_KEY.fullmatch(content):
            return self._take("word", end, (_normal(content),))
        if content[:1] in tuple(_OPEN) and content[-1:] in tuple(_CLOSE):
            keys, tail = _keys_and_tail(content[1:-1])
            if keys and not tail:
                return self._take("keys", end, keys)
        return self._take("code", end)

    def _bracket(self, at: int) -> Piece | None:
        """The bracket that opens at `at`, which is `_at` or the character after its backslash."""
        width = 2 if self._character(at + 1) in _OPEN else 1
        start = at + width
        if self._missing(start + 1):
            return None
        if _BEGINS_GROUP.match(self._text, start) is None:
            return self._take("text", at + 1)
        closing = _BRACKET_END.search(self._text, start, at + _BRACKET_CHARS)
        if closing is None:
            return None if self._missing(at + _BRACKET_CHARS) else self._take("text", at + 1)
        end = closing.start() + width
        if self._missing(end):
            return None
        if any(self._character(i) not in _CLOSE for i in range(closing.start(), end)):
            return self._take("text", at + 1)
        return self._group(self._text[start : closing.start()], at, end)

    def _group(self, content: str, at: int, end: int) -> Piece:
        if _NUMBER.fullmatch(content):
            return self._take("number", end)
        keys, tail = _keys_and_tail(content)
        return self._take("keys", end, keys, tail) if keys else self._take("text", at + 1)


def _keys_and_tail(content: str) -> tuple[tuple[str, ...], str]:
    """The keys that `content` begins with and what follows them; no keys where it is something else."""
    match = _KEYS.match(content)
    if match is None:
        return (), ""
    rest = content[match.end() :]
    tail = rest.strip(_AROUND_TAIL)
    if (tail and _TAIL.match(rest) is None) or any(bracket in tail for bracket in _OPEN):
        return (), ""
    return tuple(_normal(key) for key in _ONE_KEY.findall(match[1])), tail


def _normal(key: str) -> str:
    return "P" + key[1:].lower()
