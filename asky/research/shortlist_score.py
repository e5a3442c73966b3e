"""How good a candidate is for a question: meaning, words, the place that search gave it, and what speaks against it.

Pure functions; the vectors come from outside. All weights are in `Weights`, with what they were measured on.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from asky.research.near_duplicates import Shingles, shingles
from asky.research.source_policy import latest_day
from asky.search.port import Candidate
from asky.text.scrub import one_line
from asky.text.terms import content_terms, words
from asky.values import Document

PASSAGE_CHARS = 500
PASSAGES = 2
"""Passages of a page that are compared with the question: those that hold most of its terms.

Source: `Weights`; nDCG@8 with two of 500 characters .749, with three .753, for 4,500 and 6,700 tokens in 20 pages.
"""

_MAX_CHARS = 200_000  # of a page that are looked at: 60 ms
_CARD_CHARS = 700
_UNSPACED_CHARS = 200  # of a script without spaces, whose characters are tokens of their own
_RANK_DEPTH = 10
_BM25_K1, _BM25_B = 0.9, 0.4
_FEWEST_TERMS = 5  # short pages answer too: 20 would reject a sixth of what is relevant in HotpotQA
_ABSTRACT_TERMS = 30
_FARM_LINKS = 20
_FARM_SHARE = 0.5
_NAMED_TERMS = 6
_RECENT_YEARS = 5.0
_RECENT = frozenset(content_terms("latest newest recent recently current currently today nowadays"))
_RECENT_WORDS = re.compile(r"\b(?:this|last|past) (?:day|week|month|year)\b|\bup[- ]to[- ]date\b", re.IGNORECASE)
_RETRACTION = frozenset(content_terms("retracted retraction withdrawn"))
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Weights:
    """What a point of each feature is worth beside one of meaning, the highest cosine of a candidate's texts.

    `rank` is 11 / (10 + place in the search results), `words` the bm25 of the page over the best page's, `title` the
    share of the question's terms, weighed by rarity, in the title. These three are tuned. `recent` (where the question
    asks for what is new), `links` (a page that is mostly links) and `site` are not: no set at hand has dates, links or
    sites. They are set to what reorders neighbours and cannot lift a stranger.

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

LEAST_MEANING = 0.2
"""A candidate whose best cosine is below it is not about the question.

Source: of 1,300 relevant documents in the eight sets none is below; of the others 2 to 16 %.
"""

FREE_PER_SITE = 2
"""Sources of one site that are taken without a cost; each further one loses `Weights.site` more. Papers are exempt: the
site is a library. Diversity by vectors (MMR) is not used: weighed .05 it costs .002 nDCG@8, .3 costs .015.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as candidates are compared with it. `weights` are its terms by rarity among them."""

    text: str
    weights: Mapping[str, float]
    wants_recent: bool

    @property
    def total(self) -> float:
        return math.fsum(self.weights.values())


@dataclass(frozen=True, slots=True)
class Examined:
    """What a text is found to be. `passages` are to be embedded; `counts` are of the question's terms."""

    passages: tuple[str, ...]
    counts: Mapping[str, int]
    terms: int
    shingles: Shingles = field(repr=False)
    is_link_farm: bool = False

    @property
    def is_too_short(self) -> bool:
        return self.terms < _FEWEST_TERMS


@dataclass(frozen=True, slots=True)
class Scored:
    """A score and what it is made of, in words."""

    score: float
    reasons: tuple[str, ...]


def read_question(text: str, cards: Sequence[str]) -> Question:
    """`text` with its terms weighed by how few of the candidates' `cards` hold them (bm25's idf)."""
    holding = Counter(term for card in cards for term in set(content_terms(card)))
    total = len(cards)
    weights = {
        term: math.log(1 + (total - holding[term] + 0.5) / (holding[term] + 0.5))
        for term in dict.fromkeys(content_terms(text))
    }
    years = {match.group() for match in _YEAR.finditer(text)}
    wants_recent = not years and (bool(_RECENT & weights.keys()) or bool(_RECENT_WORDS.search(text)))
    return Question(text, weights, wants_recent)


def card_of(candidate: Candidate) -> str:
    """What is known of a candidate before it is read, in one line of at most 700 characters."""
    parts = [part for part in (one_line(candidate.title, None), one_line(candidate.snippet, None)) if part]
    return ". ".join(parts)[:_CARD_CHARS]


def has_abstract(candidate: Candidate) -> bool:
    """Whether a candidate is a paper whose snippet says enough to be a source by itself."""
    return candidate.kind == "paper" and len(content_terms(candidate.snippet)) >= _ABSTRACT_TERMS


def examine(text: str, question: Question) -> Examined:
    """Look a text over: its best passages for `question`, its terms, its shingles. CPU-bound; linear time."""
    windows = [text[start:end] for start, end in _windows(text[:_MAX_CHARS])]
    terms = [content_terms(window) for window in windows]
    counts = [Counter(term for term in each if term in question.weights) for each in terms]
    worth = [
        math.fsum(question.weights[term] * math.sqrt(min(count, 3)) for term, count in each.items()) for each in counts
    ]
    best = sorted(range(len(windows)), key=lambda place: (-worth[place], place))[:PASSAGES]
    every = [term for each in terms for term in each]
    return Examined(
        tuple(windows[place].strip() for place in best),
        sum(counts, Counter()),
        len(every),
        shingles(every),
    )


def examine_page(document: Document, question: Question) -> Examined:
    """As `examine`, and whether most of the text is the text of its links, of which there are many."""
    return replace(examine(document.text, question), is_link_farm=_is_link_farm(document))


def asks_about_retraction(question: Question) -> bool:
    """Whether a retracted paper is what the question wants."""
    return bool(_RETRACTION & question.weights.keys())


def _is_link_farm(document: Document) -> bool:
    inside = [link for link in document.links if link.start < len(document.text)]
    return len(inside) >= _FARM_LINKS and sum(len(link.text) for link in inside) > _FARM_SHARE * len(document.text)


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate with all that is known of it. `place` counts from 0 in the search results, `None` for what no search
    found; `meaning` is the highest cosine of its texts, `None` without an embedding model.
    """

    candidate: Candidate
    place: int | None
    meaning: float | None
    examined: Examined
    published: str | None = None


def score(question: Question, entries: Sequence[Entry], today: date) -> list[Scored]:
    """One score for each entry, higher is better, in their order; `Weights` says what it is made of.

    Without vectors the place in the search results counts as a point of meaning does, since words alone order pages
    worse than any search engine: nDCG@8 .60, with the engine's order .68 to .69.
    """
    words_of = _bm25(question, [entry.examined for entry in entries])
    best = max(words_of, default=0.0) or 1.0
    return [
        _score(question, entry, relative=value / best, today=today)
        for entry, value in zip(entries, words_of, strict=True)
    ]


def preference(candidate_place: int | None, card_cosine: float | None) -> float:
    """What decides which candidates are read: higher first.

    Source: of the relevant documents, 20 of 40 read in the order of search hold .816, of the cards' cosine .835, of .7
    and .3 of both .844 (the eight sets of `Weights`).
    """
    rank = _rank(candidate_place)
    return rank if card_cosine is None else 0.7 * card_cosine + 0.3 * rank


def _score(question: Question, entry: Entry, *, relative: float, today: date) -> Scored:
    candidate, weights = entry.candidate, WEIGHTS
    title = _shared(question, candidate.title)
    in_title = math.fsum(question.weights[term] for term in title) / (question.total or 1.0)
    value = weights.words * relative + weights.title * in_title
    rank = _rank(entry.place)
    value += rank if entry.meaning is None else entry.meaning + weights.rank * rank
    reasons = [*_said_of_search(candidate), *_said_of_words(question, entry, title)]
    if question.wants_recent and (latest := latest_day(entry.published)) is not None:
        years = max(0.0, (today - latest).days / 365.25)
        value += weights.recent * (1.0 - min(1.0, years / _RECENT_YEARS))
        reasons.append(f"published {entry.published}")
    if entry.examined.is_link_farm:
        value -= weights.links
        reasons.append("mostly links")
    return Scored(round(value, 6), tuple(reasons))


def _said_of_search(candidate: Candidate) -> list[str]:
    if candidate.origin == "prompt":
        return ["named in the question"]
    if candidate.origin == "link":
        return [f"linked from {candidate.parent}"]
    best = min(candidate.found, key=lambda found: found.rank, default=None)
    if best is None:
        return []
    providers = list(dict.fromkeys(found.provider for found in candidate.found))
    return [f"found by {' and '.join(providers)}, at best as number {best.rank}"]


def _said_of_words(question: Question, entry: Entry, title: Sequence[str]) -> list[str]:
    said = []
    if entry.meaning is not None:
        said.append(f"meaning {entry.meaning:.2f}")
    if title:
        said.append(f"title has {_as_written(entry.candidate.title, title)}")
    if question.weights:
        said.append(f"{len(entry.examined.counts)} of {len(question.weights)} terms of the question")
    return said


def _as_written(title: str, stems: Sequence[str]) -> str:
    """The words of `title` that have one of `stems`."""
    found = [word for word in dict.fromkeys(words(title)) if set(content_terms(word)) & set(stems)]
    return ", ".join(found[:_NAMED_TERMS])


def _shared(question: Question, text: str) -> list[str]:
    return [term for term in dict.fromkeys(content_terms(text)) if term in question.weights]


def _rank(place: int | None) -> float:
    return 0.0 if place is None else (_RANK_DEPTH + 1) / (_RANK_DEPTH + 1 + place)


def _bm25(question: Question, texts: Sequence[Examined]) -> list[float]:
    average = math.fsum(text.terms for text in texts) / (len(texts) or 1) or 1.0
    return [
        math.fsum(
            question.weights[term] * count / (count + _BM25_K1 * (1 - _BM25_B + _BM25_B * text.terms / average))
            for term, count in text.counts.items()
        )
        for text in texts
    ]


def _windows(text: str) -> list[tuple[int, int]]:
    """Cut a text into pieces of at most `PASSAGE_CHARS`, after a sentence or line where one ends in the second half."""
    cut: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        chars = PASSAGE_CHARS if " " in text[start : start + 100] else _UNSPACED_CHARS
        end = min(len(text), start + chars)
        if end < len(text):
            middle = start + chars // 2
            ends = max(text.rfind(mark, middle, end) + 1 for mark in (". ", "\n", "。", "? ", "! "))
            end = ends or text.rfind(" ", middle, end) + 1 or end
        if not text[start:end].isspace():
            cut.append((start, end))
        start = end
    return cut
