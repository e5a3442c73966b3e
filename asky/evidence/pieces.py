"""What an answer is cut into, and what is decided on the way there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PieceKind = Literal["text", "code", "fence", "keys", "word", "number"]


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
class Found:
    """What begins at a special character, and where it ends; the rest is as in a `Piece`."""

    kind: PieceKind
    end: int
    keys: tuple[str, ...] = ()
    tail: str = ""
    seen: str = ""


Decision = Found | int | None
"""Something; plain text up to an index; or nothing yet, because it depends on what comes."""
