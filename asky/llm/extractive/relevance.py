"""The likelihood that passages answer a question: the decision between an answer and an abstention.

A logistic regression of what the best units say: their support; the share of the question's names and numbers that the
best is about; for records (rows, settings, log entries) the words covered, and how near one of its entries comes to the
others; whether reasons are asked for, which are told in other words than they are asked for; whether a number that is
asked for is there with what it counts, or at least in sight. Similarities of single words and of windows of sentences,
and the form of other answers, did not carry over.

Source: `tests/quality/relevance_signals.csv`, from ClapNQ, SQuAD 2.0 and five sets of questions about people's own
documents; `python -m tests.quality.relevance` learns the weights again and shows what carries over to a set left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from asky.llm.extractive.measures import may_measure, measures
from asky.llm.extractive.numbered import names_another, numbered_things
from asky.llm.extractive.questions import ParsedQuestion
from asky.llm.extractive.scoring import Embed, ScoredUnit, Scorer, is_asked_task
from asky.llm.extractive.units import RECORDS, Unit, is_mail_head
from asky.text.terms import terms_of

_BEST = 4  # units whose support is compared
_INTERCEPT = -7.37
_OF_SUPPORT = 5.49
_OF_NAMES = 1.79
_OF_RECORD = 2.18
_FOR_REASON = 1.76
_UNCOUNTED = -1.9
_IN_SIGHT = 1.16
_MEASURED = 2.12
_OF_NEARNESS = 1.64
_ALL_WORDS = 0.99
_SEVERAL = 2
_NEAR = 0.4
_CODE = re.compile(r"[a-z]{1,4}\d{1,5}[a-z]?")
_NEAR_CODE = 0.2  # of a name such as E2, which has no meaning of its own
_CERTAIN = 0.5
_DIGIT = re.compile(r"[:=;|]\s*\W?\d")
_OF_MAILS = re.compile(
    r"\b(?:e-?mails?|mails?|mailed|messages?|letters?|wr[io]tes?|written|writing|sen[dt]|sends|sender|subject|repl(?:y|ies|ied)|"
    r"answer(?:ed|s)?|receiv\w+|forward\w*|cc|contact|address)\b",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"\b[A-Z]{1,5}[- ]?\d[\dA-Z-]*\d\b")
_BETWEEN_ENTRIES = re.compile(r"[;|\n]|, ")
_MAX_ENTRIES = 40
_COLUMN = re.compile(r"(?:^|; )[^;:\n]{1,60}: ")


@dataclass(frozen=True, slots=True)
class Signals:
    """What the best units say about a question.

    `support` in [-1, 1] is the best unit's. `names` in [0, 1] is the share of the question's names and numbers that the
    best unit is about, and `record` its coverage if it is a record, else 0. `is_uncounted` is set if a number is asked
    for and none is counted with its noun, and `is_measured` if the best unit has a number with its noun or its measure;
    `is_in_sight` if something near has the form that is asked for, such as a number, an amount, a time or a phone
    number, or none is asked for. `nearness` in [-1, 1] is the cosine of the words that a record lacks to the nearest of
    its entries: a member's row without a phone number does not tell it. It is 1 if nothing is lacking.
    """

    support: float
    names: float
    record: float
    asks_reason: bool
    is_uncounted: bool
    is_in_sight: bool
    is_measured: bool
    nearness: float

    def probability(self) -> float:
        """Return how likely an answer is, in [0, 1]."""
        signal = (
            _INTERCEPT
            + _OF_SUPPORT * self.support
            + _OF_NAMES * self.names
            + _OF_RECORD * self.record
            + _FOR_REASON * self.asks_reason
            + _UNCOUNTED * self.is_uncounted
            + _IN_SIGHT * self.is_in_sight
            + _MEASURED * self.is_measured
            + _OF_NEARNESS * self.nearness
        )
        return 1 / (1 + math.exp(-signal))


def relevance(
    question: ParsedQuestion, scored: Sequence[ScoredUnit], scorer: Scorer, embed: Embed | None = None
) -> float:
    """Return how likely the best of `scored`, best first, answer `question`, in [0, 1]; 0 without units.

    If they are not embedded, it is the coverage of the best. Raises what `embed` raises.
    """
    if not scored:
        return 0.0
    best = scored[:_BEST]
    if is_asked_task(question, best[0].unit):
        around = scorer.terms_around([best[0].unit])
        return scorer.share(question.terms, around) if question.terms else _CERTAIN
    fitting = [each for each in best if may_answer(question, each, scorer)]
    if best[0].meaning is None:
        return max((each.coverage for each in fitting), default=0.0)
    if not fitting:
        return 0.0
    certain = _CERTAIN if any(_has_all_words(question, each) or _is_looked_up(question, each) for each in best) else 0.0
    return max(certain, read_signals(question, fitting, scorer, embed).probability())


def read_signals(
    question: ParsedQuestion, best: Sequence[ScoredUnit], scorer: Scorer, embed: Embed | None = None
) -> Signals:
    """Return the signals of the best units, which are not empty, for `question`."""
    unit = best[0].unit
    about = scorer.terms_around([unit]) | unit.beside
    names = scorer.names_of(question)
    texts = [each.text for scored in best for each in scorer.window(scored.unit)]
    return Signals(
        support=max(each.support for each in best),
        names=len(names & about) / len(names) if names else 1.0,
        record=best[0].coverage if unit.kind in RECORDS else 0.0,
        asks_reason=question.kind == "reason",
        is_uncounted=question.kind == "number" and not any(_counts(question, each.unit) for each in best),
        is_in_sight=may_measure(question.text, texts),
        is_measured=measures(question.text, unit.labelled or unit.text),
        nearness=_nearness(scorer.lacking(question, about), unit, embed) if unit.kind in RECORDS else 1.0,
    )


def _nearness(words: str, record: Unit, embed: Embed | None) -> float:
    """Return the cosine of `words` to the nearest entry or name of `record`; 1 without words or an embedding model."""
    entries = _BETWEEN_ENTRIES.split(record.labelled or record.text)[:_MAX_ENTRIES] + record.heading.split("; ")
    vectors = embed([words, *filter(str.strip, entries)]) if words and embed is not None else None
    return 1.0 if vectors is None else float((vectors[1:] @ vectors[0]).max())


def _counts(question: ParsedQuestion, unit: Unit) -> bool:
    """Return whether a unit counts what is asked for; a record names by its keys what its numbers count."""
    return measures(question.text, unit.text) or (unit.kind in RECORDS and _DIGIT.search(unit.text) is not None)


def may_answer(question: ParsedQuestion, scored: ScoredUnit, scorer: Scorer) -> bool:
    """Return whether a unit may answer: a record needs the numbers of the question, a row a word among its values.

    What stands above a mail tells of the mail alone. What names "buoy 40" tells nothing of "buoy 50".
    """
    unit = scored.unit
    above = f"{unit.section}; {unit.heading}; {scorer.title_of(unit)}"
    if names_another(numbered_things(question.text), unit.labelled or unit.text, above):
        return False
    if is_mail_head(unit):
        return _OF_MAILS.search(question.text) is not None
    if unit.kind not in RECORDS:
        return True
    if unit.kind == "row" and not scorer.share(question.terms, terms_of(_COLUMN.sub(" ", unit.text))):
        return False  # all rows have its columns
    return {term for term in question.terms if term[:1].isdigit()} <= scorer.terms_around([unit])


def _is_looked_up(question: ParsedQuestion, scored: ScoredUnit) -> bool:
    """Return whether the unit is the record of what the question identifies: `PO-24144`."""
    identifiers = _IDENTIFIER.findall(question.text)
    return scored.unit.kind in RECORDS and bool(identifiers) and all(each in scored.unit.text for each in identifiers)


def _has_all_words(question: ParsedQuestion, scored: ScoredUnit) -> bool:
    is_code = any(_CODE.fullmatch(term) for term in question.terms)
    is_whole = scored.coverage >= _ALL_WORDS and (is_code or len(question.terms) >= _SEVERAL)
    return is_whole and (scored.meaning or 0.0) >= (_NEAR_CODE if is_code else _NEAR)
