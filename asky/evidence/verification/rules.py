"""The rules: what can be said of a claim and its passages by quotations, numbers, values and shared words.

The strictest applicable rule decides. A quotation, a number, a unit or a date that no passage contains makes a claim
unsupported, unless the number may only count what the claim lists. A sentence that says the same but for one thing
(`contradictions`), or a value of a record that is another one (`records`), contradicts it. Everything else is left open
for the reader (`meaning`), with a verdict by the share of the claim's words that the passages contain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from asky.evidence.verification.contradictions import contradiction
from asky.evidence.verification.meaning import PARTIAL_FROM, SUPPORTED_FROM, ClaimCheck, Ruled, capped
from asky.evidence.verification.quantities import Quantity, quantities, stands_for
from asky.evidence.verification.record_claims import value_faults
from asky.evidence.verification.support import (
    Passage,
    Statement,
    Support,
    measure_support,
    read_statement,
)
from asky.text.terms import content_terms, terms_of, words
from asky.values import Span, Verdict

DESCRIBED_FROM = 0.2
"""The minimum share of a claim's words in three sentences of a record with texts, which claims sum up in other words.

Source: of 0.1 to 0.35, chosen in ten of fifteen folds by source of RAGTruth's data-to-text answers, else 0.1. Answers
with a hallucination are found with an F1 of .83 left out (.835 where chosen, .765 for flagging every answer).
"""

_WORD_FOR_WORD: Mapping[str, object] = MappingProxyType(
    {
        **dict.fromkeys(("window", "together", "pairs"), 1.0),
        "missing_quotes": [],
        "missing_numbers": [],
        "contradicted_by": None,
    }
)
"""The checks of a claim that stands word for word in a passage, to which no rule applies."""

_BARE_TERMS = 3
_BARE_WORDS = 3
_MIN_QUOTE_WORDS = 4
_MIN_FRAGMENT_WORDS = 3
_SHORT_WORD_CHARS = 3
_TITLE_CAPITALS = 0.6
_MAX_NUMBERS = 50  # a claim with more numbers or quotations is not a sentence; the rest counts as missing
_MAX_QUOTES = 50
_HEAT = frozenset({"celsius", "fahrenheit"})
_ADJACENT = 2  # in words and signs: "12 March, 2020"

_QUOTED = re.compile(r'"([^"\n]{1,4000})"|“([^“”\n]{1,4000})”|«([^«»\n]{1,4000})»|„([^„“”\n]{1,4000})[“”]')
_SAYING = terms_of(
    "says said reads read states stated writes wrote written calls called names named tells told answers answered "
    "replies replied text table passage source document note page heading sign label word"
)
_ENDING = re.compile(r"(?:st|nd|rd|th|s)$")  # of "16th" and "1970s"
_ELLIPSIS = re.compile(r"\[?(?:\.\.\.|…)\]?")


def check_by_rules(
    claim: str,
    passages: Sequence[Passage],
    *,
    question: str = "",
    about: str = "",
    written: str = "",
    answer: str = "",
    may_be_read: bool = True,
) -> Ruled:
    """Return what the rules find; see `verify_claim` for the checks.

    `written` is the claim with its links and addresses, `answer` the whole text that it is part of. A claim of a few
    words is never left open, nor one that not `may_be_read`.
    """
    if not passages:
        return Ruled(claim, passages, ClaimCheck("uncited", 0.0, {}))
    for n, passage in enumerate(passages, start=1):
        place = passage.whole.find(claim, written=written, answer=answer)
        if place is not None:
            return Ruled(
                claim, passages, ClaimCheck("supported", 1.0, {**_WORD_FOR_WORD, "quotation": _place(n, place)})
            )
    statement = read_statement(claim)
    numbers = _missing_numbers(statement, passages, about)
    support = _support(_without_other_forms(statement, numbers, passages), passages, question)
    quoted = quotations(claim)
    quotes = [quote for quote in quoted[:_MAX_QUOTES] if not _is_held(quote, passages)] + quoted[_MAX_QUOTES:]
    records = [passage.record for passage in passages if passage.record is not None]
    is_part = bool(records) and any(passage.whole.contain(claim) for passage in passages)
    faults = [] if is_part else [fault for record in records for fault in value_faults(claim, record)]
    is_described = all(passage.is_description for passage in passages)
    differing = [fault for fault in faults if fault.is_certain and not fault.is_unknown]
    contradicted_by = "value" if differing else contradiction(statement, numbers, passages)
    checks = {
        "window": round(support.window, 3),
        "together": round(support.together, 3),
        "pairs": round(support.pairs, 3),
        "missing_quotes": quotes,
        "missing_numbers": [quantity.written for quantity in numbers],
        "contradicted_by": contradicted_by,
        "quotation": None,
        **({"values": [{"name": fault.name, "value": fault.value} for fault in faults]} if faults else {}),
    }
    is_missing = bool(quotes or len(faults) > len(differing)) or _is_decisive(numbers, question)
    score = support.score if not is_described else SUPPORTED_FROM if support.window >= DESCRIBED_FROM else 0.0
    verdict = _verdict(score, is_missing, bool(numbers), contradicted_by is not None)
    score = max(score, support.score)
    ceiling = score if verdict == "supported" else capped(score, verdict)
    check = ClaimCheck(verdict, round(ceiling, 3), checks)
    is_decided = is_missing or contradicted_by is not None or is_described or bool(_quoted_alone(claim))
    is_bare = len(words(claim)) <= _BARE_WORDS and len(statement.terms) <= _BARE_TERMS
    return Ruled(claim, passages, check, statement, support.score, may_be_read and not (is_decided or is_bare))


def _place(n: int, span: Span) -> dict[str, int]:
    return {"n": n, "start": span.start, "end": span.end}


def _without_other_forms(claim: Statement, missing: Sequence[Quantity], passages: Sequence[Passage]) -> Statement:
    """Return a claim without the terms of numbers that the passages write in another form ("2 pm" for "14:00")."""
    certain = [each for each in claim.quantities if each.certain][:_MAX_NUMBERS]
    held = [each for each in certain if each not in missing[:_MAX_NUMBERS]]
    known = frozenset().union(*(passage.terms for passage in passages))
    exact = [each for each in held if any(value in passage.units for passage in passages for value in each.values)]
    written = {term for each in exact for term in content_terms(each.written)}
    forms = {term for term in claim.terms - known if term[0].isdigit() and _ENDING.sub("", term) in written}
    if not forms:
        return claim
    return replace(claim, terms=claim.terms - forms, pairs=frozenset(p for p in claim.pairs if forms.isdisjoint(p)))


def _support(statement: Statement, passages: Sequence[Passage], question: str) -> Support:
    """Return the support of a statement; one of few words, which says nothing alone, is taken with its question.

    A whole sentence of a passage with two words or more says something alone. A quotation in its marks says that it
    stands there.
    """
    if quoted := _quoted_alone(statement.text):
        held = [passage for passage in passages if all(passage.whole.contain(part) for part in quoted)]
        if held:
            return measure_support(read_statement(" ".join(quoted)), held)
    support = measure_support(statement, passages)
    if not question or len(statement.terms) > _BARE_TERMS or support.together < 1:
        return support
    sentences = (sentence for passage in passages for sentence in passage.sentences)
    if len(statement.terms) > 1 and any(_is_whole(statement, sentence) for sentence in sentences):
        return support
    return measure_support(read_statement(f"{question} {statement.text}"), passages)


def _quoted_alone(claim: str) -> list[str]:
    """Return what a claim quotes if it says no more than that somebody says or calls it so."""
    others = content_terms(_QUOTED.sub(" ", claim))
    return [match[0][1:-1] for match in _QUOTED.finditer(claim)] if _SAYING.issuperset(others) else []


def _is_whole(statement: Statement, sentence: Statement) -> bool:
    """Return whether a statement has all words of a sentence, but for the number of a list item."""
    return statement.terms <= sentence.terms and all(term.isdigit() for term in sentence.terms - statement.terms)


def _is_decisive(missing: Sequence[Quantity], question: str) -> bool:
    """Return whether missing numbers make a claim unsupported: not if they are the question's, or count a list.

    Source: of the claims that this alone makes unsupported, people found 90 % not supported on AttributionBench, 96 %
    on WiCE, 92 % on Factcheck-GPT, 93 % on RAGTruth's summaries and 67 % on its answers to questions. Of those that
    lack only a small number word: 25 % on FaithBench and 17 % on RAGTruth's summaries.
    """
    asked = {value for quantity in quantities(question) for value in quantity.values} if missing and question else set()
    return any(each.month is None and not each.is_small_word and asked.isdisjoint(each.values) for each in missing)


def _verdict(score: float, is_missing: bool, is_partial: bool, contradicted: bool) -> Verdict:
    if contradicted:
        return "contradicted"
    if is_missing or score < PARTIAL_FROM:
        return "unsupported"
    return "partial" if is_partial or score < SUPPORTED_FROM else "supported"


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


def _missing_numbers(claim: Statement, passages: Sequence[Passage], about: str) -> list[Quantity]:
    """Return the numbers and months of `claim` that no passage contains, nor what is known `about` the passages."""
    certain = [quantity for quantity in claim.quantities if quantity.certain]
    missing = [quantity for quantity in certain[:_MAX_NUMBERS] if not _occurs(quantity, certain, passages)]
    if missing and about:
        told = read_statement(about)
        missing = [each for each in missing if each.values.isdisjoint(told.values) and each.month not in told.months]
    return missing + certain[_MAX_NUMBERS:]


def _occurs(wanted: Quantity, certain: Sequence[Quantity], passages: Sequence[Passage]) -> bool:
    if wanted.month is None:
        held = any(_unit_agrees(wanted, passage.units.get(value)) for passage in passages for value in wanted.values)
        return held or any(_is_near(wanted, passage) for passage in passages)
    date = [other for other in certain[:_MAX_NUMBERS] if abs(other.position - wanted.position) <= _ADJACENT]
    return any(_holds_date(date, sentence) for passage in passages for sentence in passage.sentences)


def _is_near(wanted: Quantity, passage: Passage) -> bool:
    """Return whether a passage has a number that an approximate one may stand for."""
    return wanted.leeway is not None and any(
        stands_for(wanted, held) and _unit_agrees(wanted, units) for held, units in passage.units.items()
    )


def _unit_agrees(wanted: Quantity, units: frozenset[str | None] | None) -> bool:
    if units is None:
        return False
    if wanted.unit is None or wanted.unit in units or None in units:
        return True
    return "°" in units if wanted.unit in _HEAT else wanted.unit == "°" and not units.isdisjoint(_HEAT)


def _holds_date(date: Sequence[Quantity], sentence: Statement) -> bool:
    return all(
        part.month in sentence.months if part.month is not None else not part.values.isdisjoint(sentence.values)
        for part in date
    )
