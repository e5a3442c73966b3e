"""Scoring of candidates for a question: meaning, words, search rank, and penalties.

Pure functions; the vectors are computed elsewhere. All weights are in `Weights`, with the data they were measured on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from asky.research.shortlist_examine import Examined, ExaminedQuestion
from asky.research.source_policy import latest_day
from asky.search.port import Candidate
from asky.text.terms import content_terms, words

_RANK_DEPTH = 10
_BM25_K1, _BM25_B = 0.9, 0.4
_NAMED_TERMS = 6
_RECENT_YEARS = 5.0


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each feature relative to meaning, the highest cosine of a candidate's texts.

    `rank` is 11 / (10 + place in the search results), `words` the bm25 of the page over the best page's, `title` the
    share of the question's terms, weighted by rarity, in the title. These three are tuned. `recent` (if the question
    asks for recent sources), `links` (a page that is mostly links) and `site` are not: no available set has dates,
    links or sites. They are set so that they reorder neighbours but cannot promote an unrelated page.

    Source: eight sets (DeepScholar, MultiHop-RAG, HotpotQA, Anthropic docs, COVID-QA, SQuAD, MuSiQue, SciFact; 514
    questions, 40 candidates in bm25's order, 20 read), mean nDCG@8: search order .679, meaning alone .702, with these
    weights .749; chosen on seven sets and measured on the eighth .747.
    """

    rank: float = 0.2
    words: float = 0.1
    title: float = 0.1
    recent: float = 0.1
    links: float = 0.1
    site: float = 0.1


WEIGHTS = Weights()

MIN_MEANING = 0.2
"""A candidate whose best cosine is below this, and that of its best sentence below `MIN_SENTENCE`, is not about the
question.

Source: of 1,300 relevant documents in the eight sets none is below; of the others 2 to 16 %. A question in eighteen
languages with a passage in the same that answers it: .47 to .83. In seventeen of them with the English passage: -.08 to
.32, and -.03 to .19 with one about something else; hence `counted_meaning`.
"""

MIN_SENTENCE = 0.3
"""A page below `MIN_MEANING` is kept if the sentence with most of the question's terms is at least this near: a page
about something else may answer in one sentence, which the cosine of 500 characters does not show.

Source: 220 questions (CLAP NQ, SQuAD, COVID-QA, chunking evaluation), the sentence that answers put into two pages of
two other sets each: of 440 such pages 103 are lost without this rule, 57 with it (.2: 49, .25: 52, .35: 64, .4: 69); of
the same pages without the sentence 19 are kept, with and without it (.2: 22). A lower `MIN_MEANING` is worse: at .1, 46
are lost, but 112 kept. `tests/quality/test_shortlist_floor.py` draws other pages: 57 lost instead of 98, 26 kept
instead of 24. On eight sets of pages as they are (their titles, no snippets), 9 of 345 right pages are lost
either way, and of 1,109 wrong ones 652 are kept instead of 642 (.2: 680, .25: 663). Chosen on all sets but one, the
lost share plus the kept share on the left-out one is .489 instead of .511; .3 is the choice in seven of twelve folds,
.25 to .35 in the others. By the share of terms in a sentence instead of its cosine, 84 to 101 of the 103 stay lost.
"""

FREE_PER_SITE = 2
"""Sources of one site without a penalty; each further one loses `Weights.site` more. Papers are exempt: the site is a
library. Diversity by vectors (MMR) is not used: weighted .05 it costs .002 nDCG@8, .3 costs .015.
"""


@dataclass(frozen=True, slots=True)
class CandidateScore:
    """A score and its components, in words."""

    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate with its features. `place` counts from 0 in the search results, `None` if no search found it;
    `meaning` is the highest cosine of its texts, `None` without an embedding model. `sentence` is that of its best
    sentence, of which only a page that is below `MIN_MEANING` has one.
    """

    candidate: Candidate
    place: int | None
    meaning: float | None
    examined: Examined
    published: str | None = None
    sentence: float | None = None

    @property
    def is_about_it(self) -> bool:
        """Return whether a text or a sentence of it is near enough; `True` without an embedding model."""
        near = self.sentence is not None and self.sentence >= MIN_SENTENCE
        return self.meaning is None or self.meaning >= MIN_MEANING or near


def score(question: ExaminedQuestion, entries: Sequence[RankedCandidate], today: date) -> list[CandidateScore]:
    """Return one score for each entry, higher is better, in their order; see `Weights` for the components.

    Without vectors the search rank is weighted as meaning is, since words alone order pages worse than any search
    engine: nDCG@8 .60, with the engine's order .68 to .69.
    """
    words_of = _bm25(question, [entry.examined for entry in entries])
    best = max(words_of, default=0.0) or 1.0
    return [
        _score(question, entry, relative=value / best, today=today)
        for entry, value in zip(entries, words_of, strict=True)
    ]


def counted_meaning(cosine: float, *, is_foreign: bool) -> float:
    """Return the effective cosine. In a language other than the question's, a low one means nothing; a minimum is used.

    Such pages thus keep their search order among themselves, behind those known to be relevant, unless the model knows
    both languages.
    """
    return max(cosine, MIN_MEANING) if is_foreign else cosine


def preference(candidate_place: int | None, card_cosine: float | None) -> float:
    """Return the priority of a candidate for reading: higher first.

    Source: of the relevant documents, 20 of 40 read in search order contain .816, in the order of the cards' cosine
    .835, of .7 and .3 of both .844 (the eight sets of `Weights`).
    """
    rank = _rank(candidate_place)
    return rank if card_cosine is None else 0.7 * card_cosine + 0.3 * rank


def _score(question: ExaminedQuestion, entry: RankedCandidate, *, relative: float, today: date) -> CandidateScore:
    candidate, weights = entry.candidate, WEIGHTS
    title = _shared(question, candidate.title)
    in_title = math.fsum(question.weights[term] for term in title) / (question.total or 1.0)
    value = weights.words * relative + weights.title * in_title
    rank = _rank(entry.place)
    if entry.meaning is None:
        value += rank
    else:
        is_kept = entry.examined.is_foreign or entry.is_about_it
        value += counted_meaning(entry.meaning, is_foreign=is_kept) + weights.rank * rank
    reasons = [*_search_reasons(candidate), *_word_reasons(question, entry, title)]
    if question.wants_recent and (latest := latest_day(entry.published)) is not None:
        years = max(0.0, (today - latest).days / 365.25)
        value += weights.recent * (1.0 - min(1.0, years / _RECENT_YEARS))
        reasons.append(f"published {entry.published}")
    if entry.examined.is_link_farm:
        value -= weights.links
        reasons.append("mostly links")
    return CandidateScore(round(value, 6), tuple(reasons))


def _search_reasons(candidate: Candidate) -> list[str]:
    if candidate.origin == "prompt":
        return ["named in the question"]
    if candidate.origin == "link":
        return [f"linked from {candidate.parent}"]
    best = min(candidate.found, key=lambda found: found.rank, default=None)
    if best is None:
        return []
    providers = list(dict.fromkeys(found.provider for found in candidate.found))
    return [f"found by {' and '.join(providers)}, at best as number {best.rank}"]


def _word_reasons(question: ExaminedQuestion, entry: RankedCandidate, title: Sequence[str]) -> list[str]:
    reasons = []
    if entry.examined.is_foreign and (entry.meaning is None or entry.meaning < MIN_MEANING):
        reasons.append("in another language than the question: taken in search order")
    elif entry.meaning is not None:
        reasons.append(f"meaning {entry.meaning:.2f}")
        if entry.sentence is not None:
            reasons.append(f"of one sentence {entry.sentence:.2f}")
    if title:
        reasons.append(f"title has {_as_written(entry.candidate.title, title)}")
    if question.weights:
        reasons.append(f"{len(entry.examined.counts)} of {len(question.weights)} terms of the question")
    return reasons


def _as_written(title: str, stems: Sequence[str]) -> str:
    """Return the words of `title` that have one of `stems`."""
    found = [word for word in dict.fromkeys(words(title)) if set(content_terms(word)) & set(stems)]
    return ", ".join(found[:_NAMED_TERMS])


def _shared(question: ExaminedQuestion, text: str) -> list[str]:
    return [term for term in dict.fromkeys(content_terms(text)) if term in question.weights]


def _rank(place: int | None) -> float:
    return 0.0 if place is None else (_RANK_DEPTH + 1) / (_RANK_DEPTH + 1 + place)


def _bm25(question: ExaminedQuestion, texts: Sequence[Examined]) -> list[float]:
    average = math.fsum(text.terms for text in texts) / (len(texts) or 1) or 1.0
    return [
        math.fsum(
            question.weights[term] * count / (count + _BM25_K1 * (1 - _BM25_B + _BM25_B * text.terms / average))
            for term, count in text.counts.items()
        )
        for text in texts
    ]
