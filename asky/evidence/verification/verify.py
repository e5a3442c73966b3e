"""Verification of a claim against the passages that it cites: quotations, numbers, dates, negation, and shared terms.

The strictest applicable check decides the verdict. A quotation that no passage contains makes a claim unsupported. A
number, unit or date that none contains makes it at most partial, and contradicted if a sentence says nearly the same
with another number; so does a negation on one side only. Everything else depends on how many of the claim's terms the
passages contain. The check does not understand meaning: a free paraphrase may be rated partial, and a false claim in
its source's own words supported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from asky.evidence.marks import MARKED, mark
from asky.evidence.verification.claims import ClaimDraft, split_claims
from asky.evidence.verification.quantities import Quantity
from asky.evidence.verification.support import (
    Passage,
    Statement,
    coverage,
    measure_support,
    read_passage,
    read_statement,
)
from asky.text.terms import words
from asky.values import Claim, Span, Verdict

SUPPORTED_FROM = 0.55
PARTIAL_FROM = 0.25
"""The minimum scores of supported and of partly supported claims. Source: tests/quality/claims.py."""

_SAME_WITHOUT_NUMBERS = 0.8
_SAME_TERMS = 0.9
_SAME_TERMS_BACK = 0.8
_MIN_TERMS = 3
_MIN_QUOTE_WORDS = 4
_MIN_FRAGMENT_WORDS = 3
_SHORT_WORD_CHARS = 3
_TITLE_CAPITALS = 0.6
_MAX_NUMBERS = 50  # a claim with more numbers or quotations is not a sentence; the rest counts as missing
_MAX_QUOTES = 50
_ADJACENT = 2  # in words and signs: "12 March, 2020"

_QUOTED = re.compile(r'"([^"\n]{1,4000})"|“([^“”\n]{1,4000})”|«([^«»\n]{1,4000})»|„([^„“”\n]{1,4000})[“”]')
_ELLIPSIS = re.compile(r"\[?(?:\.\.\.|…)\]?")


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The result of checking a claim. `score` is in [0, 1]; `checks` says what was compared and what was missing."""

    verdict: Verdict
    score: float
    checks: Mapping[str, object]


def verify_answer(answer: str, citations_by_number: Mapping[int, str]) -> tuple[Claim, ...]:
    """Return the claims of a numbered answer, each checked against the passages it cites; linear in the texts.

    `citations_by_number` has the text of the passage behind each `[n]`. Spans refer to `answer`:
    `answer[claim.span.start : claim.span.end] == claim.text`. Beside what `verify_claim` lists, `checks` has `rules`,
    the verdict of these rules, which stays there if a model judges the claim too, and of a claim with citations
    `quotation`: if the whole claim stands in a cited passage word for word, `{"n", "start", "end"}` with the number of
    the first such citation and the characters in its passage, else `None`.
    """
    passages: dict[int, Passage] = {}
    claims = []
    for draft in split_claims(answer):
        cited = tuple(n for n in draft.citations if n in citations_by_number)
        for n in cited:
            if n not in passages:
                passages[n] = read_passage(citations_by_number[n])
        check = check_claim(draft.text, [passages[n] for n in cited])
        if _says_something(draft, check):
            text = answer[draft.span.start : draft.span.end]
            checks = check.checks
            if cited:
                checks = {**checks, "quotation": _quotation(draft.text, {n: passages[n] for n in cited})}
            checks = {"rules": check.verdict, **checks}
            claims.append(Claim(text, draft.span, cited, check.verdict, check.score, checks))
    return tuple(claims)


def _quotation(claim: str, passages: Mapping[int, Passage]) -> dict[str, int] | None:
    """Return where a passage contains all words of a claim in their order, if possible with its final stop."""
    whole = claim.strip()
    for n, passage in passages.items():
        found = passage.quotable.find(whole) or passage.quotable.find(whole.strip(",.;:!?"))
        if found is not None:
            return {"n": n, "start": found.start, "end": found.end}
    return None


def _says_something(draft: ClaimDraft, check: ClaimCheck) -> bool:
    """Return whether a checked draft is a claim: the words of a heading need not be those of its sources."""
    if draft.states == "count":
        return check.verdict == "contradicted"
    return draft.states is None or check.verdict != "unsupported" or bool(check.checks["missing_numbers"])


def mark_unsupported(answer: str, claims: Sequence[Claim]) -> tuple[str, tuple[Claim, ...]]:
    """Add `⚠` and the verdict after each claim that is unsupported or contradicted.

    Returns the marked answer, and the claims with their spans in it. Nothing else is changed or deleted. `claims` are
    those of `verify_answer` for this very text, in order.
    """
    parts: list[str] = []
    moved: list[Claim] = []
    position = added = 0
    for claim in claims:
        moved.append(replace(claim, span=Span(claim.span.start + added, claim.span.end + added)))
        if claim.verdict in MARKED:
            note = mark(claim.verdict)
            parts += [answer[position : claim.span.end], note]
            position = claim.span.end
            added += len(note)
    return "".join([*parts, answer[position:]]), tuple(moved)


def verify_claim(claim: str, passages: Sequence[str]) -> ClaimCheck:
    """Check the plain text of a claim, without markers and markup, against the texts of the passages it cites.

    Without passages the verdict is `uncited`. `score` is the mean of the shares of `Support`; it is below
    `SUPPORTED_FROM` for partial claims and below `PARTIAL_FROM` for unsupported and contradicted ones. `checks` has
    `window`, `together` and `pairs` (shares), `missing_quotes`, `missing_numbers` (as written) and `contradicted_by`
    (`"number"`, `"negation"` or `None`). Linear in the texts.
    """
    return check_claim(claim, [read_passage(text) for text in passages])


def check_claim(claim: str, passages: Sequence[Passage]) -> ClaimCheck:
    """Check like `verify_claim`, against passages that have been analysed already."""
    if not passages:
        return ClaimCheck("uncited", 0.0, {})
    statement = read_statement(claim)
    support = measure_support(statement, passages)
    quoted = quotations(claim)
    quotes = [quote for quote in quoted[:_MAX_QUOTES] if not _is_held(quote, passages)] + quoted[_MAX_QUOTES:]
    numbers = _missing_numbers(statement, passages)
    contradicted_by = _contradiction(statement, numbers, passages)
    checks = {
        "window": round(support.window, 3),
        "together": round(support.together, 3),
        "pairs": round(support.pairs, 3),
        "missing_quotes": quotes,
        "missing_numbers": [quantity.written for quantity in numbers],
        "contradicted_by": contradicted_by,
    }
    verdict = _verdict(support.score, bool(quotes), bool(numbers), contradicted_by is not None)
    return ClaimCheck(verdict, _capped(support.score, verdict), checks)


def _verdict(score: float, quote_missing: bool, number_missing: bool, contradicted: bool) -> Verdict:
    if contradicted:
        return "contradicted"
    if quote_missing or score < PARTIAL_FROM:
        return "unsupported"
    return "partial" if number_missing or score < SUPPORTED_FROM else "supported"


def _capped(score: float, verdict: Verdict) -> float:
    ceiling = {"supported": 1.0, "partial": SUPPORTED_FROM - 0.001}.get(verdict, PARTIAL_FROM - 0.001)
    return round(min(score, ceiling), 3)


def quotations(claim: str) -> list[str]:
    """Return the quoted strings of at least four words in `claim` that are neither titles nor questions, each once."""
    found = dict.fromkeys(next(filter(None, match.groups())) for match in _QUOTED.finditer(claim))
    return [quote for quote in found if len(words(quote)) >= _MIN_QUOTE_WORDS and not _is_title_or_question(quote)]


def _is_title_or_question(quote: str) -> bool:
    """Return whether `quote` is the title of a work, with its longer words capitalised, or repeats a question."""
    longer = [word for word in quote.split() if len(word) > _SHORT_WORD_CHARS]
    capitals = sum(word.strip("'(“‘")[:1].isupper() for word in longer)
    return quote.rstrip().endswith("?") or capitals > _TITLE_CAPITALS * len(longer)


def _is_held(quote: str, passages: Sequence[Passage]) -> bool:
    """Return whether one passage contains every part of `quote` between ellipses; case and final stops are ignored."""
    parts = [part.strip(" ,.;:!?") for part in _ELLIPSIS.split(quote)]
    parts = [part for part in parts if len(words(part)) >= _MIN_FRAGMENT_WORDS] or parts
    return any(all(passage.quotable.find(part) for part in parts) for passage in passages)


def _missing_numbers(claim: Statement, passages: Sequence[Passage]) -> list[Quantity]:
    """Return the numbers and months of `claim` that no passage contains."""
    certain = [quantity for quantity in claim.quantities if quantity.certain]
    missing = [quantity for quantity in certain[:_MAX_NUMBERS] if not _occurs(quantity, certain, passages)]
    return missing + certain[_MAX_NUMBERS:]


def _occurs(wanted: Quantity, certain: Sequence[Quantity], passages: Sequence[Passage]) -> bool:
    if wanted.month is None:
        return any(_unit_agrees(wanted, passage.units.get(value)) for passage in passages for value in wanted.values)
    date = [other for other in certain[:_MAX_NUMBERS] if abs(other.position - wanted.position) <= _ADJACENT]
    return any(_holds_date(date, sentence) for passage in passages for sentence in passage.sentences)


def _unit_agrees(wanted: Quantity, units: frozenset[str | None] | None) -> bool:
    return units is not None and (wanted.unit is None or wanted.unit in units or None in units)


def _holds_date(date: Sequence[Quantity], sentence: Statement) -> bool:
    return all(
        part.month in sentence.months if part.month is not None else not part.values.isdisjoint(sentence.values)
        for part in date
    )


def _contradiction(claim: Statement, missing: Sequence[Quantity], passages: Sequence[Passage]) -> str | None:
    sentences = (sentence for passage in passages for sentence in passage.sentences)
    compared = frozenset(term for term in claim.terms if not term[0].isdigit()) if missing else claim.terms
    if len(compared) < _MIN_TERMS:
        return None
    if missing:
        kinds = {_kind(quantity) for quantity in missing}
        alike = (sentence for sentence in sentences if coverage(compared, sentence.terms) >= _SAME_WITHOUT_NUMBERS)
        return "number" if any(_has_another_number(sentence, kinds, claim) for sentence in alike) else None
    opposite = False
    for sentence in sentences:
        if _are_alike(claim, sentence):
            if sentence.negated == claim.negated:
                return None
            opposite = True
    return "negation" if opposite else None


def _has_another_number(sentence: Statement, kinds: set[str], claim: Statement) -> bool:
    """Return whether `sentence` has a number of one of these kinds that `claim` doesn't have."""
    return any(
        quantity.certain
        and _kind(quantity) in kinds
        and quantity.month not in claim.months
        and quantity.values.isdisjoint(claim.values)
        for quantity in sentence.quantities
    )


def _kind(quantity: Quantity) -> str:
    if quantity.month is not None:
        return "month"
    year = any(len(value) == 4 and value[:2] in ("16", "17", "18", "19", "20") for value in quantity.values)
    return quantity.unit or ("year" if year else "number")


def _are_alike(claim: Statement, sentence: Statement) -> bool:
    if coverage(claim.terms, sentence.terms) < _SAME_TERMS:
        return False
    return coverage(sentence.terms, claim.terms) >= _SAME_TERMS_BACK
