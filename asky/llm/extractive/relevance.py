"""The decision whether units answer a question at all: a calibrated score.

For prose it is a logistic regression of four signals of the best units: the cosine of the question with the unit and
those beside it, the weighted share of the question's words there, the share of its names and numbers there, and the
support of the unit. Word order, the form of the answer and similarities of single words did not carry over.

Source: learned on ClapNQ (112 answerable questions, 104 not) and SQuAD 2.0 (103 and 107); area under the curve left out
.908 and .678, with the support alone .889 and .648; precision for the better 70 % of the answerable ones .918 and .610.
Trained on one of the sets, it has .903 and .684 on the other. See docs/concepts/extractive-model.md.

Records (rows, settings, log entries) and code have no sentences around them: there the support alone decides, and all
numbers of the question must be there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from asky.llm.extractive.measures import may_measure
from asky.llm.extractive.questions import ParsedQuestion
from asky.llm.extractive.scoring import Embed, ScoredUnit, Scorer
from asky.llm.extractive.units import Unit
from asky.text.terms import terms_of

_WINDOWS = 4  # best units that are read together with their neighbours
_INTERCEPT = -7.79
_OF_MEANING = 6.42
_OF_WORDS = 0.82
_OF_NAMES = 3.17
_OF_SUPPORT = 0.76
_OF_RECORD = 0.78  # so that a support of .39 is as much as prose needs
_ALL_WORDS = 0.99
_SEVERAL = 2
_NEAR = 0.4
_CODE = re.compile(r"[a-z]{1,4}\d{1,5}[a-z]?")
_NEAR_CODE = 0.2  # of a name such as E2, which has no meaning of its own
_CERTAIN = 0.5
_COLUMN = re.compile(r"(?:^|; )[^;:\n]{1,60}: ")
_WITHOUT_NUMBER = 0.5  # of the relevance to "how many" and "how much" is left if no number is in sight
_PROSE = frozenset({"sentence", "item", "list", "heading"})


def relevance(question: ParsedQuestion, scored: Sequence[ScoredUnit], scorer: Scorer, embed: Embed | None) -> float:
    """Return how likely the best of `scored`, best first, answer `question`, in [0, 1]; 0 without units.

    Raises what `embed` raises.
    """
    best = scored[:_WINDOWS]
    prose = [each for each in best if each.unit.kind in _PROSE]
    others = [_of_record(question, each, scorer) for each in best if each.unit.kind not in _PROSE]
    of_prose = max([_of_prose(question, prose, scorer, embed), *map(_of_words(question), prose)])
    texts = [unit.text for each in prose for unit in scorer.window(each.unit)]
    if not may_measure(question.text, texts):
        of_prose *= _WITHOUT_NUMBER
    return max([*others, of_prose])


def _of_words(question: ParsedQuestion) -> Callable[[ScoredUnit], float]:
    """Return a function that recognises a unit with all words of the question."""

    is_code = any(_CODE.fullmatch(term) for term in question.terms)

    def judge(scored: ScoredUnit) -> float:
        is_whole = scored.coverage >= _ALL_WORDS and (is_code or len(question.terms) >= _SEVERAL)
        return _CERTAIN if is_whole and (scored.meaning or 0.0) >= (_NEAR_CODE if is_code else _NEAR) else 0.0

    return judge


def _of_prose(question: ParsedQuestion, scored: Sequence[ScoredUnit], scorer: Scorer, embed: Embed | None) -> float:
    if not scored:
        return 0.0
    windows = [scorer.window(each.unit) for each in scored]
    meanings = _meanings(question, windows, embed)
    if meanings is None:
        return max(each.coverage for each in scored)
    terms = [scorer.terms_around(window) for window in windows]
    signal = (
        _INTERCEPT
        + _OF_MEANING * max(meanings)
        + _OF_WORDS * max(scorer.share(question.terms, each) for each in terms)
        + _OF_NAMES * max(_share(question.names, each) for each in terms)
        + _OF_SUPPORT * max(each.support for each in scored)
    )
    return 1 / (1 + math.exp(-signal))


def _meanings(question: ParsedQuestion, windows: Sequence[Sequence[Unit]], embed: Embed | None) -> list[float] | None:
    """Return the cosine of the question with each window; `None` without an embedding model."""
    if embed is None:
        return None
    vectors = embed([question.text, *(" ".join(unit.quote for unit in window) for window in windows)])
    if vectors is None:
        return None
    cosines: list[float] = (vectors[1:] @ vectors[0]).tolist()
    return cosines


def _of_record(question: ParsedQuestion, scored: ScoredUnit, scorer: Scorer) -> float:
    if scored.unit.kind == "row" and not scorer.share(question.terms, _values(scored.unit.text)):
        return 0.0  # all rows have its columns
    around = scorer.terms_around([scored.unit])
    numbers = {term for term in question.terms if term[:1].isdigit()}
    return _OF_RECORD * scored.support if numbers <= around else 0.0


def _share(wanted: frozenset[str], held: frozenset[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 1.0


def _values(row: str) -> frozenset[str]:
    """Return the terms of a row without those of its column names, if it has any."""
    return terms_of(_COLUMN.sub(" ", row))
