"""Joining of words that a PDF breaks at line ends, as the other words of the file suggest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

HYPHEN_MARK = "\x00"
"""Stands for a hyphen and the line end after it, until the words of the whole file are known; in no scrubbed text."""

_HYPHENS = ("-", "\u2010")
# An address or a range of numbers that goes on.
_UNSPACED = re.compile(r"https?://\S*[/_.?=&#%-]$|\d[–-]$")
_WORD = re.compile(r"[\w\u2010-]{2,}")
_HEAD = re.compile(r"(?:[^\W\d_]+[-\u2010])*[^\W\d_]+$")
_TAIL = re.compile(r"[^\W_]+(?:[-\u2010'’][^\W_]+)*")
_MAX_WORD_CHARS = 80


class Words:
    """The words of a file, in lower case, without those that are broken at a line end."""

    def __init__(self, texts: Iterable[str]) -> None:
        pieces = "\n".join(texts).lower().split(HYPHEN_MARK)
        whole = " ".join(_without_broken(piece, number, len(pieces)) for number, piece in enumerate(pieces))
        self._counts = Counter(_WORD.findall(whole))
        parts: Counter[str] = Counter()
        for word, count in self._counts.items():
            if "-" in word or "\u2010" in word:
                for part in re.split(r"[-\u2010]", word):
                    parts[part] += count
        self._parts = parts

    def join_broken(self, text: str) -> str:
        """Return `text` with each mark of a broken word resolved: nothing, or the hyphen that belongs to the word."""
        if HYPHEN_MARK not in text:
            return text
        joined, *pieces = text.split(HYPHEN_MARK)
        for piece in pieces:
            head = _HEAD.search(joined, max(0, len(joined) - _MAX_WORD_CHARS))
            tail = _TAIL.match(piece)
            is_one = head is not None and tail is not None and self._is_one_word(head[0], tail[0])
            joined += piece if is_one else f"-{piece}"
        return joined

    def _is_one_word(self, before: str, after: str) -> bool:
        """Return whether the hyphen was put in to break the word.

        The form that stands elsewhere in the file decides. If neither does, the hyphen is kept before a capital or a
        digit, after a part of a word that has hyphens, and between two words of the file.
        """
        first, _, _ = after.lower().partition("-")
        head = re.split(r"[-\u2010]", before.lower())[-1]
        whole, hyphenated = f"{before}{after}".lower(), f"{before}-{after}".lower()
        joined = self._counts[whole] or self._counts[head + first]
        kept = self._counts[hyphenated] or self._counts[f"{head}-{first}"]
        if joined or kept:
            return joined >= kept
        if not after[0].islower() or "-" in before or "\u2010" in before:
            return False
        return not (self._stands_alone(head) and self._stands_alone(first))

    def _stands_alone(self, part: str) -> bool:
        return len(part) > 2 and (self._counts[part] > 0 or self._parts[part] > 0)


def _without_broken(piece: str, number: int, count: int) -> str:
    """Return a text between two broken words without their parts."""
    start = re.search(r"\s|$", piece).start() if number else 0  # type: ignore[union-attr]  # `$` matches
    end = max(piece.rfind(" "), piece.rfind("\n")) + 1 if number < count - 1 else len(piece)
    return piece[start:end]


def is_hyphenated(text: str, following: str) -> bool:
    return text.endswith(_HYPHENS) and text[-2:-1].isalpha() and following[:1].isalpha()


def joined(text: str, following: str) -> str:
    if is_hyphenated(text, following):
        return text[:-1] + HYPHEN_MARK + following
    return f"{text}{following}" if _UNSPACED.search(text, max(0, len(text) - 200)) else f"{text} {following}"
