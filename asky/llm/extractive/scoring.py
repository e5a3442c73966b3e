"""Scoring of sentences as answers: coverage, meaning, position, and form."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.llm.extractive.questions import AnswerKind, ParsedQuestion
from asky.llm.extractive.sentences import PassageText, Sentence
from asky.text.terms import content_terms, words

if TYPE_CHECKING:
    import numpy as np

Embed = Callable[[Sequence[str]], "np.ndarray | None"]
"""Maps texts to unit vectors, `float32[n, dim]`; `None` without an embedding model."""

# Weight of each cue relative to coverage. Source: docs/concepts/extractive-model.md; the optimum is flat.
_MEANING = 0.7
_RANK = 0.1
_POSITION = 0.1
_KIND = 0.1
_COMPLETE = 0.2
_IN_TITLE = 0.5
_IN_SENTENCE_BEFORE = 0.3

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
    "reason": re.compile(
        r"\b(?:because|due to|since|so that|in order to|caus\w+|reasons?|result(?:s|ed)?|led to|therefore|thus|why)\b",
        re.IGNORECASE,
    ),
    "definition": re.compile(r"\b(?:is|are|was|were|means|refers to|stands for|known as|called)\b", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A quotable sentence with its scores for one question.

    `coverage` in [0, 1] is the share of the question's weighted terms that it contains; a term found only in its title
    or the sentence before it counts for half and for three tenths. `meaning` is its cosine to the question, `None` if
    it was not embedded. `support` in [-1, 1] says whether there is an answer at all, `score` which sentence is best.
    """

    sentence: Sentence
    coverage: float
    meaning: float | None
    support: float
    score: float


class Scorer:
    """Scores the quotable sentences of passages, which are in rank order, for any number of questions."""

    def __init__(self, passages: Sequence[PassageText], sentences: Sequence[Sentence]) -> None:
        self._titles = [frozenset(content_terms(passage.title)) for passage in passages]
        self._at = {(sentence.passage, sentence.position): sentence for sentence in sentences}
        self._quotable = [sentence for sentence in sentences if sentence.quotable]
        self._counts = Counter(term for sentence in sentences for term in sentence.terms)
        self._total = len(sentences)

    def score(
        self, questions: Sequence[ParsedQuestion], *, embed: Embed | None, max_embedded: int
    ) -> list[list[ScoredSentence]]:
        """Return for each question its sentences, best first; ties keep the order of the passages.

        With `embed`, only the `max_embedded` sentences with the best coverage of any question are scored, which bounds
        the time. Raises what `embed` raises.
        """
        candidates = self._quotable
        rows: Sequence[Sequence[float | None]] = [[None] * len(candidates)] * len(questions)
        if embed is not None and candidates:
            promising = self._best_covering(questions, max_embedded)
            cosines = _cosines(embed, [question.text for question in questions], [s.quote for s in promising])
            if cosines is not None:
                candidates, rows = promising, cosines
        return [
            sorted(
                (self._scored(question, sentence, meaning) for sentence, meaning in zip(candidates, row, strict=True)),
                key=lambda scored: -scored.score,
            )
            for question, row in zip(questions, rows, strict=True)
        ]

    def centrality(self, sentence: Sentence, chosen: Collection[Sentence] = ()) -> float:
        """Return how central a sentence is; passages open with their topic, so openings score higher.

        Each term counts for the share of the sentences that contain it, squared once a sentence of `chosen` contains
        it.

        Source: SumBasic, Nenkova and Vanderwende, Microsoft Research MSR-TR-2005-101; divided by the root of the number
        of terms, because the mean favours the shortest sentences.
        """
        covered = {term for other in chosen for term in other.terms}
        shares = [self._counts[term] / self._total for term in sentence.terms - covered]
        shares += [(self._counts[term] / self._total) ** 2 for term in sentence.terms & covered]
        return math.fsum(shares) / math.sqrt(len(shares) or 1) * (1 + 1 / (1 + sentence.position))

    @property
    def quotable(self) -> Sequence[Sentence]:
        """Return the sentences that may be quoted, in the order of the passages."""
        return self._quotable

    def before(self, sentence: Sentence) -> Sentence | None:
        """Return the sentence before it in its passage."""
        return self._at.get((sentence.passage, sentence.position - 1))

    def similarity(self, a: Sentence, b: Sentence) -> float:
        """Return the weighted share of terms that two sentences have in common, in [0, 1]."""
        return self._weigh(a.terms & b.terms) / (self._weigh(a.terms | b.terms) or 1.0)

    def share(self, wanted: frozenset[str], held: frozenset[str]) -> float:
        """Return the weighted share of the terms `wanted` that are in `held`, in [0, 1]."""
        return self._weigh(wanted & held) / (self._weigh(wanted) or 1.0)

    def _scored(self, question: ParsedQuestion, sentence: Sentence, meaning: float | None) -> ScoredSentence:
        coverage = self._coverage(question.terms, sentence)
        support = coverage if meaning is None else (coverage + 2 * meaning) / 3
        score = (
            coverage
            + _MEANING * (meaning or 0.0)
            + _RANK / (1 + sentence.passage)
            + _POSITION / (1 + sentence.position)
            + _COMPLETE * sentence.complete
            + _KIND * _holds(question, sentence)
        )
        return ScoredSentence(sentence, coverage, meaning, support, score)

    def _best_covering(self, questions: Sequence[ParsedQuestion], count: int) -> list[Sentence]:
        """Return the `count` sentences with the best coverage of any question, in the order of the passages."""
        coverage = {
            id(sentence): max((self._coverage(question.terms, sentence) for question in questions), default=0.0)
            for sentence in self._quotable
        }
        best = {id(s) for s in sorted(self._quotable, key=lambda s: -coverage[id(s)])[:count]}
        return [sentence for sentence in self._quotable if id(sentence) in best]

    def _coverage(self, terms: frozenset[str], sentence: Sentence) -> float:
        before = self.before(sentence)
        left = terms - sentence.terms
        in_title = left & self._titles[sentence.passage]
        in_before = (left - in_title) & before.terms if before else frozenset()
        held = self._weigh(terms & sentence.terms)
        return (held + _IN_TITLE * self._weigh(in_title) + _IN_SENTENCE_BEFORE * self._weigh(in_before)) / (
            self._weigh(terms) or 1.0
        )

    def _weigh(self, terms: frozenset[str]) -> float:
        """Return the sum of the weights of terms, the same in any order of the set."""
        return math.fsum(math.log(2 + self._total / (1 + self._counts[term])) for term in terms)


def _cosines(embed: Embed, questions: list[str], sentences: list[str]) -> list[list[float]] | None:
    vectors = embed([*questions, *sentences])
    if vectors is None:
        return None
    rows: list[list[float]] = (vectors[: len(questions)] @ vectors[len(questions) :].T).tolist()
    return rows


def _holds(question: ParsedQuestion, sentence: Sentence) -> float:
    """Return 1 if the sentence has an item of the required form that the question lacks; 0.5 if no form is required."""
    if question.kind is None:
        return 0.5
    question_words = set(words(question.text))
    return float(
        any(match.group().casefold() not in question_words for match in _CUES[question.kind].finditer(sentence.text))
    )
