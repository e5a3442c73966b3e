"""Scoring of units as answers: coverage, position, and form."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise

from asky.llm.extractive.numbered import names_another, numbered_things
from asky.llm.extractive.questions import AnswerKind, ParsedQuestion
from asky.llm.extractive.tasks import task_state
from asky.llm.extractive.units import RECORDS, PassageText, Unit, UnitKind, is_mail_head
from asky.text.terms import content_terms, stem, terms_of, words

# Weights beside coverage where no reader decides. Source: docs/concepts/extractive-model.md; the optimum is flat.
_RANK = 0.1
_POSITION = 0.1
_COMPLETE = 0.2
_IN_OBJECT = 0.9
_IN_CONTEXT = 0.75
_FIRST_PASSAGES = 6
_IN_UNIT_BEFORE = 0.3
_MIN_MISSPELLED = 5  # letters of a stem; shorter ones have too many neighbours
_ALMOST = 0.8  # by which `difflib` tells "seper" from "separ" but not "tabl" from "cabl"
_COLUMN = re.compile(r"(?:^|; )[^;:\n]{1,60}: ")
_OF_MAILS = re.compile(
    r"\b(?:e-?mails?|mails?|mailed|messages?|letters?|wr[io]tes?|written|writing|sen[dt]|sends|sender|subject|"
    r"repl(?:y|ies|ied)|answer(?:ed|s)?|receiv\w+|forward\w*|cc|contact|address)\b",
    re.IGNORECASE,
)
_WRITTEN: frozenset[UnitKind] = frozenset({"sentence", "item", "list", "heading"})
_WITHIN = re.compile(r"(?:(?<=[a-z,;] )|(?<= \())[A-Za-z][\w'-]+")

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_CUES: Mapping[AnswerKind, re.Pattern[str]] = {
    "time": re.compile(
        rf"\b(?:1\d{{3}}|20\d\d)s?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}\b|\b{_MONTH}\s+\d{{1,2}}\b|\bcentur(?:y|ies)\b",
        re.IGNORECASE,
    ),
    "number": re.compile(
        r"\b\d[\d,.]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|"
        r"hundred|thousand|million|billion|dozen|half|third|quarter)\b",
        re.IGNORECASE,
    ),
    "person": re.compile(r"(?<!^)(?<![.!?]\s)\b[A-Z][\w'’-]+"),
    "place": re.compile(r"\b(?:in|at|near|from|to|of|on)\s+(?:the\s+)?[A-Z][\w-]+"),
}


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A quotable unit with its scores for one question.

    `coverage` in [0, 1] is the share of the question's weighted terms that it contains; a term found only in its
    context or its title, or in the unit before it, counts for a part. `score` says which unit is best. `likely` is how
    likely it answers, in [0, 1], `None` if no reader has read it.
    """

    unit: Unit
    coverage: float
    score: float
    likely: float | None = None


class Scorer:
    """Scores the units of passages, which are in rank order, for any number of questions.

    `quotable` are those that may be quoted, in the order of the passages.
    """

    def __init__(self, passages: Sequence[PassageText], units: Sequence[Unit]) -> None:
        self.passages = passages
        self.units = units
        self._names = [passage.title for passage in passages]
        self._titles = [terms_of(name) for name in self._names]
        self._at = {(unit.passage, unit.position): unit for unit in units}
        self.quotable = [unit for unit in units if unit.quotable]
        self._counts = Counter(term for unit in units for term in unit.terms)
        self._total = len(units)
        self._capitalised = _capitalised(units)
        self._joined: dict[str, frozenset[str]] = {}  # "progressbar", for a question about a progress bar
        self._words = sorted({*self._counts, *(term for unit in units for term in unit.context)})

    def candidates(self, question: ParsedQuestion, most: int) -> list[ScoredUnit]:
        """Return the `most` units with the best coverage, best first; ties keep the order.

        Each of the first passages, which search found by meaning too, has its best unit among them.
        """
        scored = sorted(self._scored(question), key=lambda each: (-each.coverage, -each.score))
        firsts: dict[int, int] = {}
        for place, each in enumerate(scored):
            if each.unit.passage < _FIRST_PASSAGES:
                firsts.setdefault(each.unit.passage, place)
        others = (place for place in range(len(scored)) if place not in firsts.values())
        return [scored[place] for place in sorted([*firsts.values(), *others][:most])]

    def score(self, question: ParsedQuestion) -> list[ScoredUnit]:
        """Return the units that may answer, best first, without a reader; ties keep the order of the passages."""
        return sorted(self._scored(question), key=lambda each: -each.score)

    def _scored(self, question: ParsedQuestion) -> list[ScoredUnit]:
        self._joined = {term: parts for term, parts in _joined(question.text) if term in self._counts}
        terms = self._spelled(question.terms)
        return [self._scored_unit(terms, unit) for unit in self._fitting(question)]

    def _fitting(self, question: ParsedQuestion) -> list[Unit]:
        """Return the units that may answer; of rows those with a word of the question among their values, if any has.

        All rows of a table have its columns.
        """
        fitting = [unit for unit in self.quotable if self._may_answer(question, unit)]
        terms = self._spelled(question.terms)
        telling = {id(unit) for unit in fitting if unit.kind == "row" and terms & terms_of(_COLUMN.sub(" ", unit.text))}
        return [unit for unit in fitting if unit.kind != "row" or id(unit) in telling] if telling else fitting

    def _may_answer(self, question: ParsedQuestion, unit: Unit) -> bool:
        """Return whether a unit may answer: what names "buoy 40" tells nothing of "buoy 50".

        A record needs the numbers of the question, a property of a note its name; what stands above a mail tells of the
        mail alone.
        """
        above = f"{unit.section}; {unit.heading}; {self.title_of(unit)}"
        if names_another(numbered_things(question.text), unit.labelled or unit.text, above):
            return False
        if unit.kind == "property" and not terms_of(unit.text.partition(":")[0]) & question.terms:
            return False
        if is_mail_head(unit):
            return _OF_MAILS.search(question.text) is not None
        numbers = {term for term in question.terms if term[:1].isdigit()}
        return unit.kind not in RECORDS or numbers <= self.terms_around([unit])

    def names_of(self, question: ParsedQuestion) -> frozenset[str]:
        """Return the terms of the question that are names, also those that only the passages write with a capital."""
        return question.names | (question.terms & self._capitalised)

    def respelled(self, text: str) -> str:
        """Return `text` with words that no passage contains replaced by those spelled almost the same."""
        return " ".join(self._respelled_word(word) for word in text.split())

    def _respelled_word(self, word: str) -> str:
        terms = content_terms(word)
        if len(terms) != 1 or terms[0] in self._counts or (near := self._nearest(terms[0])) == terms[0]:
            return word
        found = (each for unit in self.units for each in words(unit.text) if stem(each) == near)
        return next(found, word)

    def _spelled(self, terms: frozenset[str]) -> frozenset[str]:
        """Return `terms` with those that no passage contains replaced by one that is spelled almost the same."""
        known = self._counts
        return frozenset(term if term in known else self._nearest(term) for term in terms)

    def _nearest(self, term: str) -> str:
        if len(term) < _MIN_MISSPELLED or not term.isalpha():
            return term
        near = get_close_matches(term, self._words, n=1, cutoff=_ALMOST)
        return near[0] if near and near[0][0] == term[0] else term

    def heading_of(self, unit: Unit) -> Unit | None:
        """Return the heading above a unit in its passage."""
        return next((above for above in self._above(unit) if above.kind == "heading"), None)

    def mail_head_of(self, unit: Unit) -> Unit | None:
        """Return who wrote the mail that a unit is of, to whom and when, if its passage has that."""
        return next((above for above in self._above(unit) if is_mail_head(above)), None)

    def _above(self, unit: Unit) -> Iterator[Unit]:
        """Yield the units before one in its passage, the nearest first."""
        for position in range(unit.position - 1, -1, -1):
            above = self._at.get((unit.passage, position))
            if above is not None:
                yield above

    def title_of(self, unit: Unit) -> str:
        """Return the title of the source that the unit is of."""
        return self._names[unit.passage]

    def before(self, unit: Unit) -> Unit | None:
        """Return the unit before it in its passage."""
        return self._at.get((unit.passage, unit.position - 1))

    def after(self, unit: Unit) -> Unit | None:
        """Return the unit after it in its passage."""
        return self._at.get((unit.passage, unit.position + 1))

    def terms_around(self, units: Sequence[Unit]) -> frozenset[str]:
        """Return the terms of units of one passage, of their context and of the title."""
        own = (unit.terms | unit.context | self._titles[unit.passage] for unit in units)
        return frozenset[str]().union(*own)

    def similarity(self, a: Unit, b: Unit) -> float:
        """Return the weighted share of terms that two units have in common, in [0, 1]."""
        return self._weigh(a.terms & b.terms) / (self._weigh(a.terms | b.terms) or 1.0)

    def share(self, wanted: frozenset[str], held: frozenset[str]) -> float:
        """Return the weighted share of the terms `wanted` that are in `held`, in [0, 1]."""
        wanted = self._spelled(wanted)
        return self._weigh(wanted & held) / (self._weigh(wanted) or 1.0)

    def _scored_unit(self, terms: frozenset[str], unit: Unit) -> ScoredUnit:
        coverage = self._coverage(terms, unit)
        place = _RANK / (1 + unit.passage) + _POSITION / (1 + unit.position)
        return ScoredUnit(unit, coverage, coverage + place + _COMPLETE * (unit.complete or unit.kind != "sentence"))

    def _coverage(self, terms: frozenset[str], unit: Unit) -> float:
        before = self.before(unit)
        names = terms_of(" ".join(_COLUMN.findall(unit.text))) if unit.kind == "row" else frozenset[str]()
        own = self._with_joined(unit.terms - names | terms_of(_COLUMN.sub(" ", unit.text)) if names else unit.terms)
        left = terms - own
        # the port of the object called "web" is asked for by both
        in_object = left & self._with_joined(unit.beside) if unit.key & terms else frozenset[str]()
        left -= in_object
        in_context = left & (unit.context | names | self._titles[unit.passage])
        in_before = (left - in_context) & before.terms if before else frozenset()
        held = self._weigh(terms & own) + _IN_OBJECT * self._weigh(in_object)
        return (held + _IN_CONTEXT * self._weigh(in_context) + _IN_UNIT_BEFORE * self._weigh(in_before)) / (
            self._weigh(terms) or 1.0
        )

    def _with_joined(self, terms: frozenset[str]) -> frozenset[str]:
        return terms.union(*(self._joined[term] for term in self._joined.keys() & terms))

    def _weigh(self, terms: frozenset[str]) -> float:
        """Return the sum of the weights of terms, the same in any order of the set."""
        return math.fsum(math.log(2 + self._total / (1 + self._counts[term])) for term in terms)


def _capitalised(units: Sequence[Unit]) -> frozenset[str]:
    """Return the terms that are written with a capital wherever they stand within a sentence."""
    names: set[str] = set()
    others: set[str] = set()
    for unit in units:
        if unit.kind in _WRITTEN:
            for match in _WITHIN.finditer(unit.text):
                (names if match[0][0].isupper() else others).update(content_terms(match[0]))
    return frozenset(names - others)


def dates(text: str) -> bool:
    """Return whether `text` has a date or a year."""
    return _CUES["time"].search(text) is not None


def _joined(question: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the neighbouring words of a question as one word, with the stems of both: code writes them so."""
    for one, other in pairwise(words(question)):
        if one.isalpha() and other.isalpha() and len(one) > 1 and len(other) > 1:
            yield stem(one + other), frozenset(content_terms(f"{one} {other}"))


def holds(question: ParsedQuestion, unit: Unit) -> float:
    """Return 1 if the unit has an item of the required form that the question lacks; 0.5 if no form is required."""
    cue = _CUES.get(question.kind) if question.kind is not None else None
    if cue is None:
        return 0.5
    question_words = set(words(question.text))
    return float(any(match.group().casefold() not in question_words for match in cue.finditer(unit.text)))


def is_asked_task(question: ParsedQuestion, unit: Unit) -> bool:
    """Return whether the unit is a task in the state that the question asks for."""
    return unit.kind == "task" and question.tasks is not None and task_state(f"- {unit.text}") == question.tasks
