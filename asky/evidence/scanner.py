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
from dataclasses import dataclass, replace
from typing import Literal

from asky.evidence.blocks import HEAD_CHARS, Blocks
from asky.evidence.keys import MAX_DIGITS, MIN_DIGITS
from asky.evidence.signs import BEGUN_ENTITY, CIRCLED, CLOSE, ENTITY, OPEN, SUPERSCRIPTS
from asky.evidence.tags import DEFUSED, TAG_CHARS, defused_code, ends_line, read_tag

PieceKind = Literal["text", "code", "fence", "keys", "word", "number"]

_CODE_CHARS = 1_000
_INFO_CHARS = 200
_PREFIX_CHARS = 80
_ENTITY_CHARS = 34
_LABEL_CHARS = 100
_LINK_CHARS = 300
_KEPT_CHARS = 128  # behind what is next: the start of its line, and what stands before a raised number
_KEY_CHARS = 1 + MIN_DIGITS, 1 + MAX_DIGITS

_SPECIAL = re.compile(rf"[`~\\P&<!\]{re.escape(OPEN)}{SUPERSCRIPTS}⁽{CIRCLED}]")
_SPECIAL_WHEN_NUMBERED = re.compile(r"[`~\\\[]")
_MAY_CITE = re.compile(rf"[Pp&<{re.escape(OPEN)}]")
_MARKER = re.compile(r"\[[1-9]\d{0,2}\]")
_WORD = re.compile(r"P[0-9a-fA-F]{0,16}")
_KEY = re.compile(r"[Pp][0-9a-fA-F]{4,16}")
_GLUE_BEFORE = tuple("/-=&#@_.")  # a word next to these is part of a path, an address or a name
_GLUE_AFTER = tuple("/-=&#@_")
_RUN_CHARS = 64
_RUN = re.compile(rf"`{{1,{_RUN_CHARS}}}|~{{1,{_RUN_CHARS}}}")
_BACKTICKS_OR_LINE_END = re.compile(r"`+|\n")
_LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_ESCAPABLE = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_FOOTNOTE = re.compile(rf"\[\^[^\]\[\s]{{1,{_LABEL_CHARS}}}(\]?)(:?)")
_RAISED = re.compile(rf"⁽?[{SUPERSCRIPTS}]{{1,{_RUN_CHARS}}}⁾?|[{CIRCLED}]{{1,{_RUN_CHARS}}}")
_SUPERSCRIPT = re.compile(r"<sup\b[^<>]*>((?:[^<\n]|<(?!/sup))*)</sup\s*>", re.IGNORECASE)
# What may follow the text of a link and has no backtick in it, which might pair with others or not.
_TARGET = re.compile(
    r"""\]\([ \t]*[^\s`<>()\\]*(?:\([^\s`<>()\\]*\)[^\s`<>()\\]*)*(?:[ \t]+"[^"`\n\\]*")?[ \t]*\)|\]\[[^\]\[`\\\n]*\]"""
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer; the sources of all pieces, joined, are the answer.

    `code` is a code span, `fence` a part of fenced code. `keys` holds groups of keys (`[P7f3a, P09c2]`, lower-cased as
    `P7f3a`), with what else stood inside the brackets as `tail`; `word` is something that looks like a key outside
    brackets; `number` is what looks like a citation and is none: numbers in brackets (`[7]`, `[source 1, p. 3]`,
    `&#91;7&#93;`) and raised ones (`day¹`), with `seen` in plain signs (`7`, `source 1, p. 3`). For `text`, `code` and
    `fence` that have to be defused, `seen` is what has to stand in its place. `begins_line` tells that only indentation
    or a list or quotation mark stands before it on its line.
    """

    kind: PieceKind
    source: str
    keys: tuple[str, ...] = ()
    tail: str = ""
    seen: str = ""
    begins_line: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    """What begins at a special character, and where it ends."""

    kind: PieceKind
    end: int
    keys: tuple[str, ...] = ()
    tail: str = ""
    seen: str = ""


_Decision = _Found | int | None
"""Something; plain text up to an index; or nothing yet, because it depends on what comes."""


class AnswerScanner:
    """`feed` and then `close` give the pieces of an answer in order.

    In a `numbered` answer, which has been through the gate, there is nothing to find but code and the markers `[1]`.
    Of a `part` of a line it is not known what stands before it, and nothing in it is taken for code.
    """

    def __init__(self, *, numbered: bool = False, part: bool = False) -> None:
        self._numbered = numbered
        self._special = _SPECIAL_WHEN_NUMBERED if numbered else _SPECIAL
        self._text = ""
        self._at = 0
        self._final = False
        self._is_cut = False  # whether `_text` has lost its beginning
        self._blocks = Blocks(is_lost=part)
        self._tracked = 0  # up to where `_blocks` knows the text

    def feed(self, delta: str) -> list[Piece]:
        """The pieces that are certain once `delta` has come."""
        start = max(0, self._at - _KEPT_CHARS)
        self._is_cut = self._is_cut or start > 0
        self._text = self._text[start:] + delta
        self._at -= start
        self._tracked -= start
        return list(self._pieces())

    def close(self) -> list[Piece]:
        """The pieces that are left at the end of the answer."""
        self._final = True
        return list(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        while self._at < len(self._text):
            if self._blocks.fence is not None:
                piece = self._fenced()
                if piece is None:
                    return
                if piece.source:
                    yield piece
                continue
            start, found = self._next()
            if start > self._at:
                yield self._take("text", start)
            if found is not None:
                yield self._take(found.kind, found.end, found.keys, found.tail, found.seen)
            elif start < len(self._text):
                return

    def _take(self, kind: PieceKind, end: int, keys: tuple[str, ...] = (), tail: str = "", seen: str = "") -> Piece:
        begins_line = kind in ("keys", "word", "number") and self._begins_line(self._at)
        source = self._text[self._at : end]
        piece = Piece(kind, source, keys, tail, seen, begins_line)
        if kind != "fence":
            self._track_piece(piece, end)
        self._at = end
        return piece

    def _track_piece(self, piece: Piece, end: int) -> None:
        """Tells `_blocks` how the piece will stand in the answer; a citation is a word on one line."""
        if piece.kind in ("text", "code") and not piece.seen:
            self._track(end)
            return
        is_citation = piece.kind not in ("text", "code")
        self._blocks.feed(("x|" if "|" in piece.source else "x") if is_citation else piece.seen)
        self._tracked = end
        if "`" in piece.tail:
            self._blocks.is_paired = False

    def _track(self, end: int) -> None:
        if end > self._tracked:
            self._blocks.feed(self._text[self._tracked : end])
            self._tracked = end

    def _line(self, at: int) -> str | None:
        """What stands before `at` on its line, `None` where that is long."""
        start = max(0, at - _PREFIX_CHARS)
        newline = self._text.rfind("\n", start, at)
        if newline < 0 and (start > 0 or self._is_cut):
            return None
        return self._text[newline + 1 : at]

    def _begins_line(self, at: int) -> bool:
        line = self._line(at)
        return line is not None and _LINE_PREFIX.fullmatch(line) is not None

    def _missing(self, end: int) -> bool:
        """Whether a decision needs the text up to `end` and it may still come."""
        return end > len(self._text) and not self._final

    def _character(self, at: int) -> str:
        """The character at `at`, a space outside of the text."""
        return self._text[at] if 0 <= at < len(self._text) else " "

    def _fenced(self) -> Piece | None:
        """Fenced code up to the end of its line; an empty piece where it is over, nothing while that is not known."""
        newline = self._text.find("\n", self._at)
        end = newline + 1 if newline >= 0 else len(self._text)
        if not self._blocks.head:
            head = self._text[self._at : min(end, self._at + HEAD_CHARS)]
            if newline < 0 and not self._final and self._blocks.needs(head):
                return None
            if not self._blocks.holds(head.removesuffix("\n")):
                return self._take("fence", self._at)
        self._blocks.feed_fence(self._text[self._at : end])
        self._tracked = end
        return self._take("fence", end)

    def _next(self) -> tuple[int, _Found | None]:
        """Where the text ends that comes next, and what follows it if that is known."""
        position = self._at
        while (special := self._special.search(self._text, position)) is not None:
            decision = self._decide(special.group(), special.start())
            if not isinstance(decision, int):
                return special.start(), decision
            position = decision
        return max(position, len(self._text)), None

    def _decide(self, character: str, at: int) -> _Decision:
        if character == "P":
            return self._word(at)
        if character in "`~":
            return self._run(at)
        if character == "]":
            return self._target(at)
        if self._numbered and character == "[":
            marker = _MARKER.match(self._text, at)
            return _Found("number", marker.end()) if marker else at + 1
        if character == "\\":
            return self._escape(at)
        if character == "&":
            return self._entity(at)
        if character == "<":
            return self._angle(at)
        if character == "!":
            return self._image(at)
        if character in OPEN:
            return self._bracket(at, at + 1)
        return self._raised(at)

    def _escape(self, at: int) -> _Decision:
        if self._missing(at + 2):
            return None
        following = self._character(at + 1)
        if following in OPEN and not self._numbered:
            return self._bracket(at, at + 2)
        return min(at + 2, len(self._text)) if following in _ESCAPABLE else at + 1

    def _word(self, at: int) -> _Decision:
        match = _WORD.match(self._text, at)
        assert match is not None
        end = match.end()
        if self._missing(end + 1):
            return None
        before, after = self._character(at - 1), self._character(end)
        alone = not (before.isalnum() or after.isalnum() or before in _GLUE_BEFORE or after in _GLUE_AFTER)
        if alone and _KEY_CHARS[0] <= len(match.group()) <= _KEY_CHARS[1]:
            return _Found("word", end, (_normal(match.group()),))
        return end

    def _run(self, at: int) -> _Decision:
        match = _RUN.match(self._text, at)
        assert match is not None
        run, end = match.group(), match.end()
        if len(run) < _RUN_CHARS and self._missing(end + 1):
            return None
        self._track(at)
        if len(run) == _RUN_CHARS:
            self._blocks.lose()
        begins_line, info = len(run) >= 3 and self._blocks.can_open(run), ""
        if begins_line:
            line_end = self._line_end(end)
            if line_end is None:
                return None
            info = self._text[end:line_end]
            if run[0] == "~" or "`" not in info:
                return self._opened(run, at, line_end, info)
        if run[0] == "~":
            return end
        decision = self._code_span(run, end)
        if isinstance(decision, int):
            self._blocks.is_paired = False
            if begins_line and _MAY_CITE.search(info):  # citations lose their backticks: it would begin fenced code
                return _Found("text", end, seen="\\" + run)
        return decision

    def _opened(self, run: str, at: int, line_end: int, info: str) -> _Found:
        """A fence; one that no line could follow in time, or that could be the head of a table, is made sure of."""
        if not info.endswith("\n") and len(info) >= _INFO_CHARS:
            self._blocks.is_paired = False
            return _Found("text", at + len(run), seen="\\" + run)
        self._blocks.open_fence(run)
        self._tracked = line_end
        return _Found("fence", line_end, seen=(run + info).replace("|", "&#124;") if "|" in info else "")

    def _line_end(self, start: int) -> int | None:
        """Where the line after an opening fence ends, its newline included; `None` while that is not known."""
        newline = self._text.find("\n", start, start + _INFO_CHARS)
        if newline >= 0:
            return newline + 1
        return None if self._missing(start + _INFO_CHARS) else min(start + _INFO_CHARS, len(self._text))

    def _target(self, at: int) -> _Decision:
        """The end of a bracket; where a link's address follows, backticks in it belong to no code, if it is one."""
        if self._missing(at + 2):
            return None
        if self._character(at + 1) not in "([" or _TARGET.match(self._text, at, at + _LINK_CHARS):
            return at + 1
        window = self._text[at : at + _LINK_CHARS]
        if self._missing(at + _LINK_CHARS) and "`" not in window and "\n" not in window:
            return None
        self._track(at)
        self._blocks.is_paired = False
        return at + 1

    def _code_span(self, run: str, start: int) -> _Decision:
        reach = start + _CODE_CHARS
        for match in _BACKTICKS_OR_LINE_END.finditer(self._text, start, reach):
            if match.group() == "\n" or match.end() == reach:
                return start
            if self._missing(match.end() + 1):
                return None
            if match.group() == run:
                content = self._text[start : match.start()]
                if run == "``" and "''" in content:  # quotation marks as TeX writes them: ``so''
                    return start
                found = self._code(content.strip(), match.end())
                return (
                    replace(found, seen=self._defused(start - len(run), match.end())) if found.kind == "code" else found
                )
        return None if self._missing(reach) else start

    def _defused(self, start: int, end: int) -> str:
        """What must stand for this code span if a renderer may see none, as where a cell of a table ends in it."""
        source = self._text[start:end]
        if self._blocks.is_paired and "|" not in source:
            return ""
        self._blocks.is_paired = False
        said = defused_code(source)
        return said if said != source else ""

    def _code(self, content: str, end: int) -> _Found:
        """A code span; one that holds keys and nothing else is how some models write a citation."""
        if _KEY.fullmatch(content):
            return _Found("word", end, (_normal(content),))
        if content and content[0] in OPEN and content[-1] in CLOSE:
            from asky.evidence.brackets import keys_and_tail  # as in `_bracket`

            keys, tail = keys_and_tail(content[1:-1], literal=True)
            if keys and not tail:
                return _Found("keys", end, keys)
        return _Found("code", end)

    def _bracket(self, at: int, start: int) -> _Decision:
        """The bracket that opens at `at` and whose content begins at `start`."""
        from asky.evidence.brackets import read_bracket  # 4 ms of patterns: only for an answer with brackets

        if self._missing(start + 1):
            return None
        doubled = self._character(start) in OPEN
        bracket = read_bracket(self._text, start + doubled, final=self._final)
        if bracket == "unsure":
            return None
        if bracket is None:
            return self._footnote(at) if self._text.startswith("[^", at) else start
        end = bracket.end + doubled
        if doubled:
            if self._missing(end):
                return None
            if self._character(end - 1) not in CLOSE:
                return start
        return _Found("keys" if bracket.keys else "number", end, bracket.keys, bracket.tail, bracket.seen)

    def _footnote(self, at: int) -> _Decision:
        """`[^note]: ...`, which would turn `[^note]` elsewhere into a raised number."""
        label = _FOOTNOTE.match(self._text, at)
        if label is None or not self._begins_line(at):
            return at + 1
        if self._missing(label.end() + 1) and not label[2] and label.end() - at < _LABEL_CHARS:
            return None
        return _Found("text", at + 1, seen="\\[") if label[2] else at + 1

    def _entity(self, at: int) -> _Decision:
        match = ENTITY.match(self._text, at)
        if match is None:
            begun = BEGUN_ENTITY.match(self._text, at)
            may_come = begun is not None and self._missing(begun.end() + 1) and begun.end() - at < _ENTITY_CHARS
            return None if may_come else at + 1
        from asky.evidence.brackets import decoded  # as in `_bracket`

        character = decoded(match.group())
        if character and character in OPEN:
            return self._bracket(at, match.end())
        if _RAISED.fullmatch(character):
            return self._raised_number(at, match.end(), character)
        return match.end()

    def _image(self, at: int) -> _Decision:
        """An image becomes a link: whatever shows the answer would fetch it, with what its address carries."""
        if self._missing(at + 2):
            return None
        if self._character(at + 1) != "[":
            return at + 1
        bracket = self._bracket(at + 1, at + 2)
        if bracket is None:
            return None
        is_citation = isinstance(bracket, _Found) and bracket.kind in ("keys", "number")
        return at + 1 if is_citation else _Found("text", at + 1, seen="\\!")

    def _angle(self, at: int) -> _Decision:
        """Tags and comments are shown as they stand, but for harmless tags; `<sup>1</sup>` is read like `¹`.

        A comment could hide what makes a citation. No tag may begin a block of HTML, in which nothing is code, and no
        address in angle brackets may have a backtick in it.
        """
        superscript = self._superscript(at)
        if not isinstance(superscript, int):
            return superscript
        tag = read_tag(self._text, at, final=self._final)
        if isinstance(tag, int):
            self._track(at)
            alone = self._blocks.begins_line() and ends_line(self._text, tag, final=self._final)
            if not alone:
                return None if alone is None else tag
        elif tag != "defused":
            return None if tag == "unsure" else at + 1
        return _Found("text", at + 1, seen=DEFUSED)

    def _superscript(self, at: int) -> _Decision:
        """`<sup>1</sup>` if it reads as a reference."""
        head = self._text[at : at + 4].lower()
        if self._missing(at + 4) and "<sup".startswith(head):
            return None
        if head != "<sup":
            return at + 1
        match = _SUPERSCRIPT.match(self._text, at, at + TAG_CHARS)
        if match is None:
            return None if self._missing(at + TAG_CHARS) else at + 1
        from asky.evidence.brackets import number_seen

        said = number_seen(match[1])
        return self._raised_number(at, match.end(), said) if said else at + 1

    def _raised(self, at: int) -> _Decision:
        match = _RAISED.match(self._text, at)
        if match is None:
            return None if self._missing(at + 2) else at + 1  # `⁽`, and its number may still come
        return self._raised_number(at, match.end(), match.group())

    def _raised_number(self, at: int, end: int, said: str) -> _Decision:
        """A raised or circled number; `said` is that, or digits."""
        from asky.evidence.raised import AFTER_CHARS, AFTER_WORD, BEFORE_CHARS, raised_reference  # as in `_bracket`

        after = self._text[end : end + AFTER_CHARS]
        if self._missing(end + AFTER_CHARS) and not after.strip(AFTER_WORD):
            return None
        reference = raised_reference(said, self._text[max(0, at - BEFORE_CHARS) : at], after)
        return _Found("number", end, seen=reference) if reference else end


def _normal(key: str) -> str:
    return "P" + key[1:].lower()
