"""Selection of the units of an answer: the best ones that say different things."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from asky.llm.extractive.code_answers import constants_in
from asky.llm.extractive.questions import ParsedQuestion
from asky.llm.extractive.scoring import ScoredUnit, Scorer, dates, holds, is_asked_task
from asky.llm.extractive.units import RECORDS, Unit, is_mail_head
from asky.llm.extractive.whole_lists import asks_several, members_with

_POINTS_BACK = re.compile(
    r"[\"'“‘«(]*(?:it|its|he|his|him|she|her|they|their|them|this|these|that|those|such|both|here|there|however|but|"
    r"therefore|thus|instead|afterwards|then|also)\b"
    r"(?! (?:paper|article|study|report|thesis|book|chapter|section|page|document|guide|manual|tutorial|course)s?\b)",
    re.IGNORECASE,
)

_SETTING = re.compile(r"`?[a-z][a-z0-9]*(?:[_.-][a-z0-9]+)*`?")  # the heading of a setting is its name
_ASKS_VERSION = re.compile(r"\b(?:what|which|in what|since when) (?:\w+ )?(?:releases?|versions?)\b", re.IGNORECASE)
_VERSION = re.compile(r"\b\d+\.\d+")

# Of the odds of the best unit, what a further one needs: source docs/concepts/extractive-model.md.
_ABOUT_TASK = 0.4  # of the words of the question, those of a task and its headings
_ALSO_LIKELY = 0.5
_AS_MUCH = 0.7
_NAMED_LIKELY = 0.15  # of a unit that alone has a name of the question: the other half of an answer
_STEPS = 3
_OF_ODDS = 0.4
_OF_ODDS_IN_LIST = 0.03
_TOLD_AT_ONCE = frozenset({"time", "number", "person", "place"})  # by one sentence with such an item

# Source for these: docs/concepts/extractive-model.md. A unit is left out below such a share of the best one.
_KEEP = 0.7  # by its score, where no reader decides
_KEEP_RECORDS = 0.93  # of rows, settings and log entries, by coverage
_KEEP_OTHER = 0.9  # of another source than the best that adds no term of the question, by coverage
_ALIKE = 0.7  # the share of a unit that is already covered, above which it is left out
MAX_SENTENCES, MAX_RECORDS = 5, 12
"""Of an answer; items of a question for several things may be as many as records."""
MAX_WORDS, _MAX_LIST_WORDS = 120, 300
"""Of all units of an answer, and of one to such a question."""


def select_units(
    scorer: Scorer,
    question: ParsedQuestion,
    whole: Sequence[ScoredUnit],
    parts: Sequence[Sequence[ScoredUnit]],
) -> list[Unit]:
    """Return the units to quote, best first: one for each part that has one, then the best of the whole question.

    `whole` and each of `parts` are sorted best first. The first unit is quoted even if it alone is too long. A sentence
    that refers back ("It was ...") is quoted with the one before it if both fit.
    """
    if whole and is_asked_task(question, whole[0].unit) and _about(question, whole[0], scorer) >= _ABOUT_TASK:
        return _tasks(question, whole)
    if question.kind == "steps":
        whole = _steps_first(whole, question, scorer)
    several = asks_several(question)
    chosen = _Chosen(scorer, is_list=several)
    for part in parts:
        chosen.add_first_of(part)
    left, wants_list = list(whole), several
    while left and not chosen.is_full():
        best = left.pop(0)
        names_another = best.likely is None or best.likely >= _NAMED_LIKELY
        if _is_less(best, whole[0], wants_list=wants_list) and not (names_another and chosen.adds_name(best, question)):
            continue
        if chosen.is_padding(best, whole[0], question):
            continue
        chosen.add(best.unit)
        if several and best.unit in chosen.units:
            members = members_with(best.unit, question, scorer)
            is_list = len(members) > 1 or best.unit.kind == "list"
            wants_list = wants_list and (question.kind == "steps" or not is_list)
            if is_list:  # another list has to be about as much of the question
                left = [each for each in left if each.coverage >= _AS_MUCH * best.coverage]
            if len(members) > 1 and best.unit.kind == "item":  # one list of a source answers
                left = [each for each in left if not _is_other_item(each.unit, best.unit, scorer)]
            chosen.add_members(members)
        chosen.add_explanation(question)
    constants = constants_in(chosen.units[:1], scorer.quotable)
    return [*_telling_headings(scorer, question, chosen.units), *chosen.units, *constants]


def _steps_first(whole: Sequence[ScoredUnit], question: ParsedQuestion, scorer: Scorer) -> Sequence[ScoredUnit]:
    """Return `whole` with the list of steps first of which most are likely, if three are, and no items of other lists.

    One item that names what is asked ("so I bled the radiator") is no step.
    """
    likely = {id(each.unit) for each in whole if each.likely is not None and each.likely >= _ALSO_LIKELY}
    found, steps = _STEPS - 1, frozenset[int]()
    for each in whole:
        if each.unit.kind in ("item", "list"):
            run = members_with(each.unit, question, scorer)
            count = sum((unit.text.count("\n") + 1 if unit.kind == "list" else 1) for unit in run if id(unit) in likely)
            if count > found:
                found, steps = count, frozenset(map(id, run))
    if not steps:
        return whole
    own = [each for each in whole if id(each.unit) in steps]
    return [*own, *(each for each in whole if each.unit.kind not in ("item", "list"))]


def _is_other_item(unit: Unit, told: Unit, scorer: Scorer) -> bool:
    return unit.kind == "item" and scorer.title_of(unit) == scorer.title_of(told)


def _is_less(scored: ScoredUnit, best: ScoredUnit, *, wants_list: bool) -> bool:
    """Return whether a unit answers too little to be quoted beside the best one."""
    if scored is best:
        return False
    if scored.unit.kind in RECORDS and best.unit.kind in RECORDS:
        # rows of a table resemble each other: those with as many words of the question are told
        is_unlikely = scored.likely is not None and scored.likely < _ALSO_LIKELY
        return is_unlikely or scored.coverage < _KEEP_RECORDS * best.coverage
    if scored.likely is not None and best.likely is not None:
        return not _is_near(scored.likely, best.likely, is_list=wants_list)
    return scored.score < _KEEP * best.score


def _is_near(likely: float, best: float, *, is_list: bool) -> bool:
    """Return whether a unit that answers this likely is quoted beside the best one: by their odds."""
    odds, best_odds = (each / max(1e-6, 1 - each) for each in (likely, best))
    return likely >= _ALSO_LIKELY and odds >= (_OF_ODDS_IN_LIST if is_list else _OF_ODDS) * best_odds


def tasks_first(question: ParsedQuestion, scored: Sequence[ScoredUnit], scorer: Scorer) -> list[ScoredUnit]:
    """Return `scored` with the tasks that are asked for first; they answer if they are about its subject."""
    if question.tasks is None:
        return list(scored)
    about = {id(each): _about(question, each, scorer) for each in scored if is_asked_task(question, each.unit)}
    asked = [replace(each, score=about[id(each)]) for each in scored if about.get(id(each), 0.0) >= _ABOUT_TASK]
    taken = {id(each.unit) for each in asked}
    return [*sorted(asked, key=lambda each: -each.score), *(each for each in scored if id(each.unit) not in taken)]


def _about(question: ParsedQuestion, task: ScoredUnit, scorer: Scorer) -> float:
    """Return the share of the question's words that a task has; 1 if it has none of a question without a name."""
    share = scorer.share(question.terms, scorer.terms_around([task.unit])) if question.terms else 1.0
    return share if share or question.names else 1.0


def _tasks(question: ParsedQuestion, whole: Sequence[ScoredUnit]) -> list[Unit]:
    """Return the tasks that are asked for, of the passage of the best one if the question names a subject."""
    best = whole[0]
    return [
        each.unit
        for each in whole
        if is_asked_task(question, each.unit)
        and (not question.terms or (each.unit.passage == best.unit.passage and each.score == best.score))
    ][:MAX_RECORDS]


def _telling_headings(scorer: Scorer, question: ParsedQuestion, units: Sequence[Unit]) -> list[Unit]:
    """Return the headings that say what their units leave open.

    That is the date or the version that the question asks for, the name of the setting that the best unit is about, and
    of a mail who wrote it, if that is asked for.
    """
    told = [unit for unit in units[:1] if _SETTING.fullmatch(unit.heading) and unit.heading not in unit.text]
    if question.kind == "time":
        told += [unit for unit in units if not dates(unit.text) and dates(unit.heading)]
    if _ASKS_VERSION.search(question.text):
        said = set(_VERSION.findall(question.text))
        told += [
            unit for unit in units if not set(_VERSION.findall(unit.text)) - said and _VERSION.search(unit.heading)
        ]
    headings = [heading for unit in told if (heading := scorer.heading_of(unit)) is not None]
    if question.kind == "person" and not any(is_mail_head(unit) for unit in units):
        headings += [head for unit in units[:1] if (head := scorer.mail_head_of(unit)) is not None]
    return list(dict.fromkeys(headings))


class _Chosen:
    """The units chosen so far, and the remaining limits."""

    def __init__(self, scorer: Scorer, *, is_list: bool = False) -> None:
        self._scorer = scorer
        self._is_list = is_list
        self._words = 0
        self.units: list[Unit] = []

    def is_full(self) -> bool:
        records = self._is_list or all(unit.kind in RECORDS for unit in self.units)
        return len(self.units) >= (MAX_RECORDS if records else MAX_SENTENCES)

    def adds_name(self, scored: ScoredUnit, question: ParsedQuestion) -> bool:
        """Return whether a unit has a name of the question that no chosen unit has: the second of two to compare."""
        said = frozenset().union(*(self._scorer.terms_around([unit]) for unit in self.units))
        lacking = self._scorer.names_of(question) - said
        return bool(self.units) and bool(lacking & self._scorer.terms_around([scored.unit]))

    def is_padding(self, scored: ScoredUnit, best: ScoredUnit, question: ParsedQuestion) -> bool:
        """Return whether a unit of another source adds no term of the question, and has less of it than the best."""
        if not self.units or self._scorer.title_of(scored.unit) == self._scorer.title_of(best.unit):
            return False
        said = frozenset().union(*(self._scorer.terms_around([unit]) for unit in self.units))
        adds = (self._scorer.terms_around([scored.unit]) - said) & question.terms
        return not adds and scored.coverage < _KEEP_OTHER * best.coverage

    def add_first_of(self, scored: Sequence[ScoredUnit]) -> None:
        """Add the best unit that is not chosen yet."""
        best = next((each.unit for each in scored if each.unit not in self.units), None)
        if best is not None:
            self.add(best)

    def add(self, unit: Unit) -> None:
        """Add `unit` unless it is already chosen, says nothing new or does not fit."""
        if unit in self.units or self._repeats(unit):
            return
        before = self._scorer.before(unit) if _POINTS_BACK.match(unit.text) else None
        if before is not None and before.quotable and before not in self.units and self._fits(before, unit):
            self._take(before)
        if self._fits(unit) or not self.units:
            self._take(unit)

    def add_members(self, members: Sequence[Unit]) -> None:
        """Add the other members of a list that a chosen unit is one of."""
        for unit in members:
            if unit not in self.units and self._fits(unit):
                self._take(unit)

    def add_explanation(self, question: ParsedQuestion) -> None:
        """Add the sentence behind the only one so far, which often says more; to "why", also the one before it."""
        (unit,) = self.units[:1] if len(self.units) == 1 and self.units[0].kind == "sentence" else (None,)
        if unit is None or (question.kind in _TOLD_AT_ONCE and holds(question, unit) == 1.0):
            return
        beside = [self._scorer.after(unit), *([self._scorer.before(unit)] if question.kind == "reason" else [])]
        for other in beside:
            if other is not None and other.quotable and other.kind == "sentence" and self._fits(other):
                self._take(other)

    def _repeats(self, unit: Unit) -> bool:
        if unit.kind in RECORDS:
            return False
        return any(self._scorer.similarity(unit, other) > _ALIKE for other in self.units)

    def _fits(self, *units: Unit) -> bool:
        most = _MAX_LIST_WORDS if self._is_list else MAX_WORDS
        return not self.is_full() and self._words + sum(len(unit.text.split()) for unit in units) <= most

    def _take(self, unit: Unit) -> None:
        self.units.append(unit)
        self._words += len(unit.text.split())
