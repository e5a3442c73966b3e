"""Whether a claim gives the number of another thing: by the words that stand nearest to the numbers of its evidence.

"A night costs 18 for members and 27 for others" has the number of "Members pay 27 a night", but the other words of this
claim stand nearer to 18. A model of this size does not see that: of 377 pairs of a true claim and the same with another
number, date or name of its evidence, it finds the true one more likely in 50 %, one trained on such pairs in 57 %.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from asky.evidence.verification.quantities import NUMBER_WORDS
from asky.text.terms import content_terms

_MONTHS = "january february march april may june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_NAMED = {**dict.fromkeys(_MONTHS.split(), "month"), **dict.fromkeys(_DAYS.split(), "day")}
_WORD = re.compile(r"\w+(?:[.,:]\d+)*|[^\w\s]")
_APART = {",": 2, ";": 4, ".": 4, "!": 4, "?": 4, "|": 4}  # words that such a sign parts like
_MUCH, _MOST = 0.2, 3.0  # of the logarithm: words stand so much nearer by chance; what nothing is near to

_Number = tuple[str, str]  # its kind, and its value


@dataclass(frozen=True, slots=True)
class DoubtedNumber:
    """A number of a claim, as the claim has it, that its evidence may give to something else.

    `odds` is how much nearer the other words of the claim stand to another number of the evidence: the logarithm of
    the ratio, more than 0.
    """

    written: str
    odds: float


def doubted_number(claim: str, evidence: str) -> DoubtedNumber | None:
    """Return the number of a claim whose words stand nearest to another one in the evidence, `None` if all are right.

    Numbers, months and days of the week are compared among their like, those of the claim that the evidence has. A word
    counts by the inverse of its distance. Source: of those 377 pairs the exchanged claims are supported in 52 % in
    place of 73 %, the true ones in 70 % in place of 80 %; on ten other sets balanced accuracy rises by .003.
    """
    own = {number: word for word in _WORD.findall(claim) if (number := _number(word)) is not None}
    if not own:
        return None
    words = _WORD.findall(evidence)
    places: dict[_Number, list[int]] = {}
    for at, word in enumerate(words):
        if (number := _number(word)) is not None:
            places.setdefault(number, []).append(at)
    others = {kind for kind, _ in places.keys() - own.keys()}
    if not any(number in places and number[0] in others for number in own):
        return None
    said = list(_where_said(claim, words))
    steps = list(_steps(words))
    near = {number: max(_nearness(said, steps, at) for at in found) for number, found in places.items()}
    doubts = []
    for number, written in own.items():
        rival = max((near[other] for other in near.keys() - own.keys() if other[0] == number[0]), default=0.0)
        if number in near and rival:
            odds = math.log(rival / near[number]) if near[number] else _MOST
            doubts.append(DoubtedNumber(written, min(odds, _MOST) - _MUCH))
    worst = max(doubts, key=lambda each: each.odds, default=None)
    return worst if worst is not None and worst.odds > 0 else None


def _number(word: str) -> _Number | None:
    lower = word.casefold()
    if word[0].isdigit() and all(each.isdigit() or each in ".,:" for each in word):
        return ("clock" if ":" in word else "number"), word.replace(",", "")
    if lower in NUMBER_WORDS:
        return "number", str(NUMBER_WORDS[lower])
    kind = _NAMED.get(lower) if word[0].isupper() else None
    return (kind, lower) if kind else None


def _where_said(claim: str, words: Sequence[str]) -> Iterator[list[int]]:
    """Yield the places in `words` of each term of the claim that is no number, as far as it has some."""
    terms = {term for word in _WORD.findall(claim) if _number(word) is None for term in content_terms(word)}
    found: dict[str, list[int]] = {term: [] for term in terms}
    for at, word in enumerate(words):
        for term in content_terms(word):
            if term in found:
                found[term].append(at)
    return (each for each in found.values() if each)


def _steps(words: Sequence[str]) -> Iterator[int]:
    """Yield how far from the first each word is; signs between words part them further."""
    far = 0
    for word in words:
        yield far
        far += 1 + _APART.get(word, 0)


def _nearness(said: Sequence[Sequence[int]], steps: Sequence[int], at: int) -> float:
    return math.fsum(max(1 / (1 + abs(steps[at] - steps[place])) for place in places) for places in said)
