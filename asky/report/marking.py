"""Signs in the Markdown of an answer for where its doubtful claims begin and end, which survive its rendering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Characters that Markdown takes for punctuation, so that emphasis begins and ends beside them as beside a full stop,
# and that hardly any text has: they are of cuneiform.
_SIGNS = tuple(map(chr, range(0x12470, 0x12475)))


@dataclass(frozen=True, slots=True)
class Marked:
    """An answer with `begin` before each doubtful claim and `end` after it; both are empty where there is none.

    `claims` are the numbers of those claims, counted from 0 among all claims, in the order of their signs.
    """

    text: str
    begin: str = ""
    end: str = ""
    claims: tuple[int, ...] = ()

    def plain(self, text: str) -> str:
        """`text` without the signs."""
        return text.replace(self.begin, "").replace(self.end, "") if self.claims else text


def mark_claims(text: str, claims: Sequence[Mapping[str, Any]], doubtful: Sequence[int]) -> Marked:
    """`text` with signs around the claims of those numbers, in order; without any for a text that has them already."""
    free = [sign for sign in _SIGNS if sign not in text][:2]
    if len(free) < 2 or not doubtful:
        return Marked(text)
    begin, end = free
    parts, position = [], 0
    for number in doubtful:
        claim = claims[number]
        if not position <= claim["start"] < claim["end"] <= len(text):
            return Marked(text)  # they are not of this text
        parts += [text[position : claim["start"]], begin, text[claim["start"] : claim["end"]], end]
        position = claim["end"]
    return Marked("".join([*parts, text[position:]]), begin, end, tuple(doubtful))
