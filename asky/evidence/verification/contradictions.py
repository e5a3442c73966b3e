"""Contradictions: a claim and the sentence of a passage that says nearly the same, but for one thing.

The two are aligned by their terms in both directions, so that whatever differs stands out: another number, a negation,
the opposite word ("grew" for "levelled off"), or the same things in exchanged roles ("A hit B" for "B hit A"). Where
another sentence agrees in what differs, nothing is contradicted.

Of the 36,500 claims about documents written for the reader (`tools/reader_data`), which chose nothing here but the
bounds for numbers, people call contradicted 23 of 25 with exchanged roles, 41 of 47 with an opposite word and 32 of 46
with a negation, and entailed 1, 6 and 5. The reader takes seven of eight exchanged roles in the tests for the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from asky.evidence.verification.opposites import opposed_axes
from asky.evidence.verification.quantities import Quantity
from asky.evidence.verification.roles import roles_exchanged
from asky.evidence.verification.support import Passage, Statement, coverage
from asky.text.terms import content_terms

Contradiction = Literal["number", "negation", "opposite", "roles", "value"]

_SAME_WITHOUT_NUMBERS = 0.8
_SAME_WITHOUT_NUMBERS_BACK = 0.85
"""Of the terms of a claim in the sentence, and the other way round, numbers left out.

Source: with as many numbers on both sides, these are right for 11 of 19 claims of the written documents, .9 and .95 for
7 of 10; .8 and .5 without that for 61 of 231, most of them about sums and differences of what the sentence says.
"""
_SAME_TERMS = 0.9
_SAME_TERMS_BACK = 0.85
_SAME_FIGURES_BACK = 0.5
"""Of the terms of a sentence with a number of the claim, for an opposite word.

Source: of 0.3 to 0.85, the lowest at which no claim of the public sets in `tests/quality/claims.py` is contradicted.
"""
_SAME_NAMES = 0.4
"""Of the terms of a claim in a sentence in which two names have exchanged their roles.

Source: as above, of 0.3 to 0.9; of other words that have exchanged them, one pair of four was right below 0.9.
"""
_MIN_TERMS = 3


def contradiction(claim: Statement, missing: Sequence[Quantity], passages: Sequence[Passage]) -> Contradiction | None:
    """Return in what a sentence that says nearly the same as `claim` differs from it, or `None`.

    `missing` are the numbers of the claim that no passage contains.
    """
    sentences = (sentence for passage in passages for sentence in passage.sentences)
    if missing:
        return "number" if any(_has_another_number(claim, missing, sentence) for sentence in sentences) else None
    if len(claim.terms) < _MIN_TERMS:
        return None
    found: Contradiction | None = None
    names = frozenset(term for word in claim.text.split() if word[:1].isupper() for term in content_terms(word))
    for sentence in sentences:
        differs = _difference(claim, names, sentence)
        if differs == "nothing":
            return None
        found = found or differs
    return found


def _difference(
    claim: Statement, names: frozenset[str], sentence: Statement
) -> Contradiction | Literal["nothing"] | None:
    """Return in what two statements differ; `None` if they are not about the same. `names` are those of the claim."""
    for words_of_axis in opposed_axes(claim.poles, sentence.poles) if claim.poles != sentence.poles else ():
        said, held = claim.terms - words_of_axis, sentence.terms - words_of_axis
        least = _SAME_FIGURES_BACK if claim.values & sentence.values else _SAME_TERMS_BACK
        if len(said) >= _MIN_TERMS - 1 and claim.negated == sentence.negated and _are_alike(said, held, least):
            return "opposite"
    shared = coverage(claim.terms, sentence.terms)
    if shared < _SAME_TERMS:
        may_exchange = shared >= _SAME_NAMES and len(names & sentence.terms) > 1
        return "roles" if may_exchange and roles_exchanged(claim.text, sentence.text, names_only=True) else None
    if roles_exchanged(claim.text, sentence.text):
        return "roles"
    if not _are_alike(claim.terms, sentence.terms):
        return None
    return "nothing" if claim.negated == sentence.negated else "negation"


def _are_alike(claim: frozenset[str], sentence: frozenset[str], least_back: float = _SAME_TERMS_BACK) -> bool:
    return coverage(claim, sentence) >= _SAME_TERMS and coverage(sentence, claim) >= least_back


def _has_another_number(claim: Statement, missing: Sequence[Quantity], sentence: Statement) -> bool:
    """Return whether `sentence` says the same as `claim` with as many other numbers of the kinds of the missing."""
    compared = _without_numbers(claim)
    if len(compared) < _MIN_TERMS or coverage(compared, sentence.terms) < _SAME_WITHOUT_NUMBERS:
        return False
    if coverage(_without_numbers(sentence), compared) < _SAME_WITHOUT_NUMBERS_BACK:
        return False
    wanted = Counter(_kind(quantity) for quantity in missing)
    others = Counter(
        _kind(quantity)
        for quantity in sentence.quantities
        if quantity.certain and quantity.month not in claim.months and quantity.values.isdisjoint(claim.values)
    )
    return all(others[kind] == count for kind, count in wanted.items())


def _without_numbers(statement: Statement) -> frozenset[str]:
    return frozenset(term for term in statement.terms if not term[0].isdigit())


def _kind(quantity: Quantity) -> str:
    if quantity.month is not None:
        return "month"
    year = any(len(value) == 4 and value[:2] in ("16", "17", "18", "19", "20") for value in quantity.values)
    return quantity.unit or ("year" if year else "number")
