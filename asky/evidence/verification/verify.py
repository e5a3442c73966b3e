"""Verification of a claim against the passages that it cites: quotations, numbers, values, roles, and shared terms.

The strictest applicable check decides the verdict. A quotation, a number, a unit or a date that no passage contains
makes a claim unsupported, unless the number may only count what the claim lists. A sentence that says the same but for
one thing (`contradictions`), or a value of a record that is another one (`records`), contradicts it. Everything else
depends on how many of the claim's terms the passages contain. The check does not understand meaning: a free paraphrase
may be rated partial, and a false claim in its source's own words supported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from asky.evidence.marks import MARKED, mark
from asky.evidence.verification.claims import ClaimDraft, split_claims
from asky.evidence.verification.contradictions import contradiction
from asky.evidence.verification.numerals import DECIMAL, converted
from asky.evidence.verification.quantities import Quantity, quantities
from asky.evidence.verification.record_claims import value_faults
from asky.evidence.verification.support import (
    Passage,
    Statement,
    Support,
    measure_support,
    read_passage,
    read_statement,
)
from asky.text.beside.remarks import is_about_remarks, is_within_remark, without_remarks
from asky.text.terms import content_terms, terms_of, words
from asky.values import Claim, Span, Verdict

SUPPORTED_FROM = 0.55
PARTIAL_FROM = 0.25
"""The minimum scores of supported and of partly supported claims. Source: tests/quality/claims.py."""

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
_MIN_QUOTE_WORDS = 4
_MIN_FRAGMENT_WORDS = 3
_SHORT_WORD_CHARS = 3
_TITLE_CAPITALS = 0.6
_MAX_NUMBERS = 50  # a claim with more numbers or quotations is not a sentence; the rest counts as missing
_MAX_QUOTES = 50
_MAX_TRIED = 3  # passages that may support a claim better
_NOTHING_KNOWN: Mapping[int, str] = MappingProxyType({})
_ROUNDED = 0.02  # of a measure in another unit
_HEAT = frozenset({"celsius", "fahrenheit"})
_ADJACENT = 2  # in words and signs: "12 March, 2020"

_QUOTED = re.compile(r'"([^"\n]{1,4000})"|“([^“”\n]{1,4000})”|«([^«»\n]{1,4000})»|„([^„“”\n]{1,4000})[“”]')
_SAYING = terms_of(
    "says said reads read states stated writes wrote written calls called names named tells told answers answered "
    "replies replied text table passage source document note page heading sign label word"
)
_NAME = re.compile(r"""(?<=[\w,;:)’'&–-] )["“'(]?([A-Z][\w’'&-]+)""")
_ENDING = re.compile(r"(?:st|nd|rd|th|s)$")  # of "16th" and "1970s"
_ELLIPSIS = re.compile(r"\[?(?:\.\.\.|…)\]?")


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """The result of checking a claim. `score` is in [0, 1]; `checks` says what was compared and what was missing."""

    verdict: Verdict
    score: float
    checks: Mapping[str, object]


def verify_answer(
    answer: str,
    citations_by_number: Mapping[int, str],
    *,
    question: str = "",
    about: Mapping[int, str] = _NOTHING_KNOWN,
    columns: Mapping[int, str | None] = _NOTHING_KNOWN,
    others: Sequence[tuple[str, str]] = (),
) -> tuple[Claim, ...]:
    """Return the claims of a numbered answer, each checked against the passages it cites; linear in the texts.

    `citations_by_number` has the text of the passage behind each `[n]`, `about` what is known of it, such as its title
    and page: a number that stands there is not missing. `columns` are those of `Location`. Claims of a few words
    are judged with the `question`. Spans refer to `answer`: `answer[claim.span.start : claim.span.end] == claim.text`.

    Beside what `verify_claim` lists, `checks` has `rules`, the verdict of these rules, which stays there if a model
    judges the claim too, and of a claim with citations `quotation`: if the whole claim stands in a cited passage word
    for word, `{"n", "start", "end"}` with the number of the first such citation and the characters in its passage, else
    `None`. A claim that is not supported has `better` if one of `others`, keys with the texts of passages, supports it:
    the key of the best one, the first of equals.
    """
    passages: dict[tuple[int, bool], Passage] = {}
    read_others: dict[str, Passage] = {}
    claims = []
    for draft in split_claims(answer):
        cited = tuple(n for n in draft.citations if n in citations_by_number)
        remarks = is_about_remarks(draft.text) or is_within_remark(answer, draft.span.start)
        for n in cited:
            if (n, remarks) not in passages:
                passages[n, remarks] = read_passage(said_in(citations_by_number[n], remarks=remarks), columns.get(n))
        known = " ".join(about[n] for n in cited if n in about)
        text = answer[draft.span.start : draft.span.end]
        check = check_claim(
            draft.text,
            [passages[n, remarks] for n in cited],
            question=question,
            about=known,
            written=text,
            answer=answer,
        )
        if _says_something(draft, check):
            checks = {"rules": check.verdict, **check.checks}
            if isinstance(place := checks.get("quotation"), dict):
                checks["quotation"] = {**place, "n": cited[place["n"] - 1]}
            if others and check.verdict != "supported" and draft.states is None:
                read_others = read_others or {key: read_passage(without_remarks(text)) for key, text in others}
                better = _better(draft.text, read_others, question)
                checks = {**checks, "better": better} if better is not None else checks
            claims.append(Claim(text, draft.span, cited, check.verdict, check.score, checks))
    return tuple(claims)


def said_in(passage: str, *, remarks: bool) -> str:
    """Return what a passage says, with the `remarks` of others in it only for a claim about such; offsets stay."""
    return passage if remarks else without_remarks(passage)


def _better(claim: str, passages: Mapping[str, Passage], question: str) -> str | None:
    """Return the key of the passage that supports a claim best alone; `None` if none does.

    Only the few that contain most of its terms are compared in full.
    """
    terms = read_statement(claim).terms
    near = {key: len(terms & passage.terms) for key, passage in passages.items()}
    tried = sorted((key for key in near if near[key] > len(terms) * SUPPORTED_FROM), key=lambda key: -near[key])
    checked = {key: check_claim(claim, [passages[key]], question=question) for key in tried[:_MAX_TRIED]}
    supported = [key for key, check in checked.items() if check.verdict == "supported"]
    return max(supported, key=lambda key: checked[key].score, default=None)


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


def verify_claim(claim: str, passages: Sequence[str], *, question: str = "", about: str = "") -> ClaimCheck:
    """Check the plain text of a claim, without markers and markup, against the texts of the passages it cites.

    Without passages the verdict is `uncited`. `score` is the mean of the shares of `Support`; it is below
    `SUPPORTED_FROM` for partial claims and below `PARTIAL_FROM` for unsupported and contradicted ones. `checks` has
    `window`, `together` and `pairs` (shares), `missing_quotes`, `missing_numbers` (as written) and `contradicted_by`
    (`"number"`, `"negation"`, `"opposite"`, `"roles"`, `"value"` or `None`); where a claim differs from values of a
    record, `values` (`{"name", "value"}`, `null` for an unknown one), and `missing_names`, which a record lacks. Linear
    in the texts.

    An answer of a few words is judged with its `question`; a number that stands in `about`, what is known of the
    passages beside their text, is not missing.
    """
    remarks = is_about_remarks(claim)
    said = [read_passage(said_in(text, remarks=remarks)) for text in passages]
    return check_claim(claim, said, question=question, about=about)


def check_claim(
    claim: str,
    passages: Sequence[Passage],
    *,
    question: str = "",
    about: str = "",
    written: str = "",
    answer: str = "",
) -> ClaimCheck:
    """Check like `verify_claim`, against passages that have been analysed already.

    `written` is the claim with its links and addresses, `answer` the whole text that it is part of.
    """
    if not passages:
        return ClaimCheck("uncited", 0.0, {})
    for n, passage in enumerate(passages, start=1):
        place = passage.whole.find(claim, written=written, answer=answer)
        if place is not None:
            return ClaimCheck("supported", 1.0, {**_WORD_FOR_WORD, "quotation": _place(n, place)})
    statement = read_statement(claim)
    numbers = _missing_numbers(statement, passages, about)
    support = _support(_without_other_forms(statement, numbers, passages), passages, question)
    quoted = quotations(claim)
    quotes = [quote for quote in quoted[:_MAX_QUOTES] if not _is_held(quote, passages)] + quoted[_MAX_QUOTES:]
    records = [passage.record for passage in passages if passage.record is not None]
    is_part = bool(records) and any(passage.whole.contain(claim) for passage in passages)
    faults = [] if is_part else [fault for record in records for fault in value_faults(claim, record)]
    is_described = all(passage.is_description for passage in passages)
    names = _missing_names(claim, passages) if is_described else []
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
        **({"missing_names": names} if names else {}),
    }
    is_missing = bool(quotes or len(faults) > len(differing)) or _is_decisive(numbers, question)
    is_partial = bool(numbers or names)
    score = support.score if not is_described else SUPPORTED_FROM if support.window >= DESCRIBED_FROM else 0.0
    verdict = _verdict(score, is_missing, is_partial, contradicted_by is not None)
    return ClaimCheck(verdict, _capped(max(score, support.score), verdict), checks)


def _place(n: int, span: Span) -> dict[str, int]:
    return {"n": n, "start": span.start, "end": span.end}


def _missing_names(claim: str, passages: Sequence[Passage]) -> list[str]:
    """Return the capitalised words inside a claim that no passage contains."""
    held = frozenset().union(*(passage.terms for passage in passages))
    names = dict.fromkeys(match[1] for match in _NAME.finditer(claim))
    return [name for name in names if not held.issuperset(content_terms(name))]


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
    """Return whether a passage has a number that an approximate one may stand for, or a measure in another unit."""
    said = [float(value) for value in wanted.values if DECIMAL.fullmatch(value)]
    low, high = wanted.leeway or (1, 1)
    wished = [(low * value, high * value, wanted.unit) for value in said if wanted.leeway]
    wished += [
        (each - _ROUNDED * abs(each) - 1, each + _ROUNDED * abs(each) + 1, unit)
        for value in said
        for each, unit in (converted(value, wanted.unit) if wanted.unit else ())
    ]
    return bool(wished) and any(
        least <= float(held) <= most and (unit in units or (unit == wanted.unit and _unit_agrees(wanted, units)))
        for held, units in passage.units.items()
        if DECIMAL.fullmatch(held)
        for least, most, unit in wished
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
