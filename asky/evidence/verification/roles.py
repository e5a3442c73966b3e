"""Roles: whether two sentences of the same words say who does what the other way round, as "A hit B" and "B hit A".

No parser is needed where the words are the same: the nearest words on both sides of a third one are compared. They have
exchanged their roles if they stand the other way round with the same preposition, or the same way with one sentence in
the passive ("A was hit by B"). Joined things ("A and B met"), lists, and verbs that hold both ways are left alone.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from asky.text.terms import STOP_WORDS, stem

_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:()\"“”—–/]")
_PREPOSITIONS = frozenset(
    "by of to from for with in on at into over under than against between among through after before about".split()  # noqa: SIM905
)
_JOINING = frozenset("and or nor but as while which who that whose where when if because like".split())  # noqa: SIM905
_BE = frozenset("is are was were be been being get got gets".split())  # noqa: SIM905
_WITHIN = frozenset({"", "of"})  # between an argument's own words and the verb: "the chief of police fired"
_REACH = 3  # content words after the verb among which its other argument is looked for
_BOTH_WAYS = frozenset({"with", "between", "among", "and"})
_SYMMETRIC = frozenset(
    stem(word)
    for word in "met meet meets married marry equal equals resemble resembles border borders adjacent".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class _Link:
    """What stands between a word and one on its right: "" for nothing but articles, a preposition, `None` otherwise."""

    preposition: str | None
    has_be: bool


def roles_exchanged(claim: str, sentence: str, *, names_only: bool = False) -> bool:
    """Return whether `claim` says in the words of `sentence` who does what the other way round.

    With `names_only`, what is exchanged are words with a capital in both.
    """
    said, held = _Words(claim), _Words(sentence)
    common = said.once.keys() & held.once.keys()
    for n, at in enumerate(said.content[1:-1], start=1):
        left, pivot = said.stems[said.content[n - 1]], said.stems[at]
        if pivot in _SYMMETRIC or not {left, pivot} <= common:
            continue
        for after in said.content[n + 1 : n + 1 + _REACH]:
            right = said.stems[after]
            if names_only and not {left, right} <= said.names & held.names:
                continue
            if right in common and _exchanged(said, (said.content[n - 1], at, after), held, (left, pivot, right)):
                return True
    return False


def _exchanged(said: _Words, places: tuple[int, int, int], held: _Words, stems: tuple[str, str, str]) -> bool:
    """Return whether the words at `places` of one sentence have other roles in the other one."""
    opening, closing = said.link(places[0], places[1]), said.link(places[1], places[2])
    if opening.preposition not in _WITHIN or closing.preposition in (None, *_BOTH_WAYS):
        return False
    left, pivot, right = (held.once[word] for word in stems)
    is_passive = opening.has_be and closing.preposition == "by"
    if right < pivot < left:
        there, then = held.link(right, pivot), held.link(pivot, left)
        same_form = then.preposition == closing.preposition and there.has_be == opening.has_be
        return there.preposition in _WITHIN and same_form
    if left < pivot < right:
        there, then = held.link(left, pivot), held.link(pivot, right)
        other_form = is_passive != (there.has_be and then.preposition == "by")
        return there.preposition in _WITHIN and other_form and "" in (closing.preposition, then.preposition)
    return False


class _Words:
    """A sentence as words and signs, with the positions of its content words."""

    def __init__(self, text: str) -> None:
        written = _TOKEN.findall(text)
        self.tokens = [token.lower() for token in written]
        self.stems = [stem(token) for token in self.tokens]
        self.names = {stemmed for stemmed, token in zip(self.stems, written, strict=True) if token[0].isupper()}
        self.content = [
            at
            for at, token in enumerate(self.tokens)
            if token[0].isalnum() and token not in STOP_WORDS and token not in _BE
        ]
        counted = Counter(self.stems[at] for at in self.content)
        self.once = {self.stems[at]: at for at in self.content if counted[self.stems[at]] == 1}

    def link(self, start: int, end: int) -> _Link:
        between = self.tokens[start + 1 : end]
        if any(token in _JOINING or not token[0].isalnum() for token in between):
            return _Link(None, False)
        near = [word for word in between if word in _PREPOSITIONS or word not in STOP_WORDS]
        own = [word for word in near if word in _PREPOSITIONS and word != "of"]  # "the chief of police" is one
        preposition = own[-1] if own else "of" if near[:1] == ["of"] else ""
        return _Link(preposition, any(token in _BE for token in between))
