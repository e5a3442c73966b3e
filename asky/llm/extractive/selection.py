"""Selection of the sentences of an answer: the best ones that say different things, then put into a readable order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from asky.llm.extractive.questions import ParsedQuestion
from asky.llm.extractive.scoring import ScoredSentence, Scorer
from asky.llm.extractive.sentences import PassageText, Sentence

_POINTS_BACK = re.compile(
    r"[\"'“‘«(]*(?:it|its|he|his|him|she|her|they|their|them|this|these|that|those|such|both|here|there|however|but|"
    r"therefore|thus|instead|afterwards|then|also)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SelectionSettings:
    """Limits on the quotation.

    A sentence is left out if its marginal score is below `keep` times the best score, or if more than `alike` of it is
    already covered. `new_terms` is the bonus of a further sentence that alone adds all terms of the question.
    """

    max_sentences: int = 5
    max_words: int = 120
    keep: float = 0.7
    new_terms: float = 0.3
    alike: float = 0.7


def select_sentences(
    scorer: Scorer,
    question: ParsedQuestion,
    whole: Sequence[ScoredSentence],
    parts: Sequence[Sequence[ScoredSentence]],
    settings: SelectionSettings,
) -> list[Sentence]:
    """Return the sentences to quote, best first: one for each part that has one, then the best of the whole question.

    `whole` and each of `parts` are sorted best first. Of the rest, the next sentence is the one with the best score
    including the question terms it adds. The first sentence is quoted even if it alone exceeds `max_words`. One that
    refers back ("It was ...") is quoted with the sentence before it if both fit.

    Source: docs/concepts/extractive-model.md for the settings. Greedy choice by relevance and novelty follows maximal
    marginal relevance, Carbonell and Goldstein, SIGIR 1998.
    """
    chosen = _Chosen(scorer, settings)
    for part in parts:
        chosen.add_first_of(part)
    left = list(whole)
    while left and not chosen.is_full():
        best = max(left, key=lambda scored: chosen.marginal_score(scored, question))
        if chosen.marginal_score(best, question) < settings.keep * whole[0].score:
            break
        left.remove(best)
        chosen.add(best.sentence)
    return chosen.sentences


def select_central(scorer: Scorer, passages: Sequence[PassageText], settings: SelectionSettings) -> list[Sentence]:
    """Return the sentences most central to all passages, best first, taking the sources in turn."""
    chosen = _Chosen(scorer, settings)
    alone = [each for each in scorer.quotable if each.complete and not _POINTS_BACK.match(each.text)]
    left = alone or list(scorer.quotable)
    titles = Counter(passages[sentence.passage].title for sentence in left)
    quota = max(1, settings.max_sentences // max(1, len(titles)))
    while left and not chosen.is_full():
        best = max(left, key=lambda sentence: scorer.centrality(sentence, chosen.sentences))
        chosen.add(best)
        title = passages[best.passage].title
        full = sum(passages[sentence.passage].title == title for sentence in chosen.sentences) >= quota
        left = [s for s in left if s is not best and not (full and passages[s.passage].title == title)]
    return chosen.sentences


class _Chosen:
    """The sentences chosen so far, and the remaining limits."""

    def __init__(self, scorer: Scorer, settings: SelectionSettings) -> None:
        self._scorer = scorer
        self._settings = settings
        self._words = 0
        self.sentences: list[Sentence] = []

    def is_full(self) -> bool:
        return len(self.sentences) >= self._settings.max_sentences

    def marginal_score(self, scored: ScoredSentence, question: ParsedQuestion) -> float:
        """Return the score plus a bonus for terms of the question that no chosen sentence contains."""
        if not self.sentences:
            return scored.score
        covered = frozenset().union(*(sentence.terms for sentence in self.sentences))
        new = self._scorer.share(question.terms, scored.sentence.terms - covered)
        return scored.score + self._settings.new_terms * new

    def add_first_of(self, scored: Sequence[ScoredSentence]) -> None:
        """Add the best sentence that is not chosen yet."""
        best = next((each.sentence for each in scored if each.sentence not in self.sentences), None)
        if best is not None:
            self.add(best)

    def add(self, sentence: Sentence) -> None:
        """Add `sentence` unless it is already chosen, says nothing new or does not fit."""
        if sentence in self.sentences or any(
            self._scorer.similarity(sentence, other) > self._settings.alike for other in self.sentences
        ):
            return
        before = self._scorer.before(sentence) if _POINTS_BACK.match(sentence.text) else None
        if before is not None and before.quotable and before not in self.sentences and self._fits(before, sentence):
            self._take(before)
        if self._fits(sentence) or not self.sentences:
            self._take(sentence)

    def _fits(self, *sentences: Sentence) -> bool:
        settings = self._settings
        words = self._words + sum(len(sentence.text.split()) for sentence in sentences)
        return len(self.sentences) + len(sentences) <= settings.max_sentences and words <= settings.max_words

    def _take(self, sentence: Sentence) -> None:
        self.sentences.append(sentence)
        self._words += len(sentence.text.split())
