"""The pieces of an answer, the window in which it is cut, and the characters that may begin a citation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

OPEN = "[⁅⌈⌊❲⟦⟬⦋⦍⦏⦗⸢⸤⹕⹗【〔〖〘〚︗︹︻﹇﹝［"
CLOSE = "]⁆⌉⌋❳⟧⟭⦌⦎⦐⦘⸣⸥⹖⹘】〕〗〙〛︘︺︼﹈﹞］"
"""The brackets that Unicode names square, lenticular, tortoise shell, half, floor or ceiling, in matching order."""

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
CIRCLED = "①-⑳⓫-⓾❶-➓㉑-㉟㊱-㊿"
"""The circled numbers, as ranges for a pattern."""

ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
PARTIAL_ENTITY = re.compile(r"&#?[0-9A-Za-z]{0,32}")

_KEPT_CHARS = 128  # before the next piece: the start of its line, and the text before a superscript number
_PREFIX_CHARS = 80
_LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")

PieceKind = Literal["text", "code", "fence", "keys", "word", "number"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer; the concatenated sources of all pieces are the answer.

    `code` is a code span, `fence` a part of fenced code. `keys` holds groups of keys (`[P7f3a, P09c2]`, lower-cased as
    `P7f3a`), with the other content of the brackets as `tail`; `word` resembles a key outside brackets; `number` is a
    look-alike of a citation: numbers in brackets (`[7]`, `[source 1, p. 3]`, `&#91;7&#93;`) and superscripts (`day¹`),
    with `seen` in plain characters (`7`, `source 1, p. 3`). For `text`, `code` and `fence` that must be defused, `seen`
    is the replacement. `begins_line` is true if only indentation or a list or quotation marker precedes it on its line.
    """

    kind: PieceKind
    source: str
    keys: tuple[str, ...] = ()
    tail: str = ""
    seen: str = ""
    begins_line: bool = False


@dataclass(frozen=True, slots=True)
class FoundPiece:
    """A piece that begins at a special character, and its end; the other fields are as in `Piece`."""

    kind: PieceKind
    end: int
    keys: tuple[str, ...] = ()
    tail: str = ""
    seen: str = ""


Decision = FoundPiece | int | None
"""A piece; plain text up to an index; or `None` if it depends on text that has not arrived."""


class Window:
    """The part of an answer that has arrived and is not cut yet, and a little of the text before it.

    Positions are indices of `text`: `at` is where cutting continues. `dropped` counts the characters of the answer
    before `text`; `is_final` means that the answer is complete.
    """

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.dropped = 0
        self.is_final = False

    def feed(self, delta: str) -> None:
        """Append `delta` and drop text that is no longer needed; all positions shift."""
        start = max(0, self.at - _KEPT_CHARS)
        self.text = self.text[start:] + delta
        self.at -= start
        self.dropped += start

    def lacks(self, end: int) -> bool:
        """Return whether the text up to `end` is needed and may still arrive."""
        return end > len(self.text) and not self.is_final

    def character(self, at: int) -> str:
        """Return the character at `at`; a space outside of the text."""
        return self.text[at] if 0 <= at < len(self.text) else " "

    def begins_line(self, at: int) -> bool:
        """Return whether only indentation or the markers of quotations and a list item precede `at` on its line."""
        line = self._line(at)
        return line is not None and _LINE_PREFIX.fullmatch(line) is not None

    def _line(self, at: int) -> str | None:
        """Return the text before `at` on its line; `None` if that is long."""
        start = max(0, at - _PREFIX_CHARS)
        newline = self.text.rfind("\n", start, at)
        if newline < 0 and (start > 0 or self.dropped):
            return None
        return self.text[newline + 1 : at]
