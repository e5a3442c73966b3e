"""Sentinel characters in an answer's Markdown that mark where doubtful claims begin and end, and survive rendering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Markdown treats these characters as punctuation, so that emphasis begins and ends next to them as next to a full stop,
# and hardly any text contains them: they are cuneiform.
_SIGNS = tuple(map(chr, range(0x12470, 0x12475)))


@dataclass(frozen=True, slots=True)
class Marked:
    """An answer with `begin` before and `end` after each doubtful claim; both are empty if there are none.

    `claims` are the indices of those claims among all claims, in the order of their marks.
    """

    text: str
    begin: str = ""
    end: str = ""
    claims: tuple[int, ...] = ()

    def plain(self, text: str) -> str:
        """Return `text` without the marks."""
        return text.replace(self.begin, "").replace(self.end, "") if self.claims else text


def mark_claims(text: str, claims: Sequence[Mapping[str, Any]], doubtful: Sequence[int]) -> Marked:
    """Return `text` with marks around the `doubtful` claims, in order; unmarked if it has such characters already."""
    free = [sign for sign in _SIGNS if sign not in text][:2]
    if len(free) < 2 or not doubtful:
        return Marked(text)
    begin, end = free
    parts, position = [], 0
    for number in doubtful:
        claim = claims[number]
        if not position <= claim["start"] < claim["end"] <= len(text):
            return Marked(text)  # the spans do not belong to this text
        parts += [text[position : claim["start"]], begin, text[claim["start"] : claim["end"]], end]
        position = claim["end"]
    return Marked("".join([*parts, text[position:]]), begin, end, tuple(doubtful))
