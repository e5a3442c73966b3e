"""The likelihood that passages answer a question: the decision between an answer and an abstention.

A logistic regression of what can be read off the best units: their support; the share of the question's names and
numbers that the best one is about; whether a number that is asked for is counted there, or in sight at all; whether
reasons are asked for, which are told in other words than they are asked for; and for records (rows, settings, log
entries) the words covered. Similarities of single words, of windows of sentences, and the form of other answers did not
carry over.

Source: learned on ClapNQ, SQuAD 2.0 and four sets of questions about papers, notes, code, tables, settings, mail and
manuals that people wrote without knowing asky; on each of seven sets left out in turn the area under the curve is .837
on average, .771 for the support alone. See docs/concepts/extractive-model.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from asky.llm.extractive.measures import may_measure, measures
from asky.llm.extractive.questions import ParsedQuestion
from asky.llm.extractive.scoring import ScoredUnit, Scorer, is_asked_task
from asky.llm.extractive.units import RECORDS
from asky.text.terms import terms_of

_BEST = 4  # units whose support is compared
_INTERCEPT = -7.38
_OF_SUPPORT = 5.3
_OF_NAMES = 1.9
_OF_RECORD = 0.99
_FOR_REASON = 1.58
_FOR_NUMBER = 1.46
_NOT_COUNTED = -2.86
_IN_SIGHT = 2.76
_ALL_WORDS = 0.99
_SEVERAL = 2
_NEAR = 0.4
_CODE = re.compile(r"[a-z]{1,4}\d{1,5}[a-z]?")
_NEAR_CODE = 0.2  # of a name such as E2, which has no meaning of its own
_CERTAIN = 0.5
_COLUMN = re.compile(r"(?:^|; )[^;:\n]{1,60}: ")


@dataclass(frozen=True, slots=True)
class Signals:
    """What the best units say about a question; shares are in [0, 1]."""

    support: float
    names: float
    record: float
    asks_reason: bool
    asks_number: bool
    is_counted: bool
    number_in_sight: bool

    def probability(self) -> float:
        """Return how likely an answer is, in [0, 1]."""
        signal = (
            _INTERCEPT
            + _OF_SUPPORT * self.support
            + _OF_NAMES * self.names
            + _OF_RECORD * self.record
            + _FOR_REASON * self.asks_reason
            + _FOR_NUMBER * self.asks_number
            + _NOT_COUNTED * (self.asks_number and not self.is_counted)
            + _IN_SIGHT * self.number_in_sight
        )
        return 1 / (1 + math.exp(-signal))


def relevance(question: ParsedQuestion, scored: Sequence[ScoredUnit], scorer: Scorer) -> float:
    """Return how likely the best of `scored`, best first, answer `question`, in [0, 1]; 0 without units.

    If they are not embedded, it is the coverage of the best.
    """
    if not scored:
        return 0.0
    best = scored[:_BEST]
    if is_asked_task(question, best[0].unit):
        around = scorer.terms_around([best[0].unit])
        return scorer.share(question.terms, around) if question.terms else _CERTAIN
    fitting = [each for each in best if _may_answer(question, each, scorer)]
    if best[0].meaning is None:
        return max((each.coverage for each in fitting), default=0.0)
    if not fitting:
        return 0.0
    certain = _CERTAIN if any(_has_all_words(question, each) for each in best) else 0.0
    return max(certain, read_signals(question, fitting, scorer).probability())


def read_signals(question: ParsedQuestion, best: Sequence[ScoredUnit], scorer: Scorer) -> Signals:
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
        asks_number=question.kind == "number",
        is_counted=measures(question.text, unit.text),
        number_in_sight=may_measure(question.text, texts),
    )


def _may_answer(question: ParsedQuestion, scored: ScoredUnit, scorer: Scorer) -> bool:
    """Return whether a unit may answer: a record needs the numbers of the question, a row a word among its values."""
    unit = scored.unit
    if unit.kind not in RECORDS:
        return True
    if unit.kind == "row" and not scorer.share(question.terms, terms_of(_COLUMN.sub(" ", unit.text))):
        return False  # all rows have its columns
    return {term for term in question.terms if term[:1].isdigit()} <= scorer.terms_around([unit])


def _has_all_words(question: ParsedQuestion, scored: ScoredUnit) -> bool:
    is_code = any(_CODE.fullmatch(term) for term in question.terms)
    is_whole = scored.coverage >= _ALL_WORDS and (is_code or len(question.terms) >= _SEVERAL)
    return is_whole and (scored.meaning or 0.0) >= (_NEAR_CODE if is_code else _NEAR)
