"""Analysis of a question and of texts: best passages, terms, shingles and language."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from asky.research.index.near_duplicates import Shingles, shingles
from asky.search.port import Candidate
from asky.text.languages import are_foreign, languages_of
from asky.text.scrub import one_line
from asky.text.terms import content_terms
from asky.values import Document

PASSAGE_CHARS = 500
PASSAGES = 2
"""The number of passages of a page that are compared with the question: those with most of its terms.

Source: `Weights`; nDCG@8 with two of 500 characters .749, with three .753, for 4,500 and 6,700 tokens in 20 pages.
"""

_MAX_CHARS = 200_000  # examined per page: 60 ms
_CARD_CHARS = 700
_SENTENCE_CHARS = 240
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")
_UNSPACED_CHARS = 200  # in a script without spaces, where each character is a token
_MIN_TERMS = 5  # short pages answer too: 20 would reject a sixth of what is relevant in HotpotQA
_ABSTRACT_TERMS = 30
_FARM_LINKS = 20
_FARM_SHARE = 0.5
_RECENT = frozenset(content_terms("latest newest recent recently current currently today nowadays"))
_RECENT_WORDS = re.compile(r"\b(?:this|last|past) (?:day|week|month|year)\b|\bup[- ]to[- ]date\b", re.IGNORECASE)
_RETRACTION = frozenset(content_terms("retracted retraction withdrawn"))
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class ExaminedQuestion:
    """A parsed question. `weights` are its terms by rarity in the candidates; `languages` the possible ones."""

    text: str
    weights: Mapping[str, float]
    wants_recent: bool
    languages: frozenset[str]

    @property
    def total(self) -> float:
        return math.fsum(self.weights.values())

    def is_foreign_to(self, text: str) -> bool:
        """Return whether `text` is certainly in another language."""
        return are_foreign(self.languages, languages_of(text))


@dataclass(frozen=True, slots=True)
class Examined:
    """The analysis of a text. `passages` are to be embedded, `counts` are of the question's terms, and `is_foreign`
    says that the passages are in a language other than that of the question.
    """

    passages: tuple[str, ...]
    counts: Mapping[str, int]
    terms: int
    shingles: Shingles = field(repr=False)
    is_foreign: bool = False
    is_link_farm: bool = False

    @property
    def is_too_short(self) -> bool:
        return self.terms < _MIN_TERMS


def read_question(text: str, cards: Sequence[str]) -> ExaminedQuestion:
    """Weight the terms of `text` by how few of the candidates' `cards` contain them (BM25's IDF)."""
    holding = Counter(term for card in cards for term in set(content_terms(card)))
    total = len(cards)
    weights = {
        term: math.log(1 + (total - holding[term] + 0.5) / (holding[term] + 0.5))
        for term in dict.fromkeys(content_terms(text))
    }
    years = {match.group() for match in _YEAR.finditer(text)}
    wants_recent = not years and (bool(_RECENT & weights.keys()) or bool(_RECENT_WORDS.search(text)))
    return ExaminedQuestion(text, weights, wants_recent, languages_of(text))


def card_of(candidate: Candidate) -> str:
    """Return the known metadata of an unread candidate, in one line of at most 700 characters."""
    parts = [part for part in (one_line(candidate.title, None), one_line(candidate.snippet, None)) if part]
    return ". ".join(parts)[:_CARD_CHARS]


def has_abstract(candidate: Candidate) -> bool:
    """Return whether a candidate is a paper whose snippet suffices as a source."""
    return candidate.kind == "paper" and len(content_terms(candidate.snippet)) >= _ABSTRACT_TERMS


def examine(text: str, question: ExaminedQuestion) -> Examined:
    """Analyse a text: its best passages for `question`, its terms, its shingles. CPU-bound; linear time."""
    windows = [text[start:end] for start, end in _windows(text[:_MAX_CHARS])]
    terms = [content_terms(window) for window in windows]
    counts = [Counter(term for term in each if term in question.weights) for each in terms]
    scores = [
        math.fsum(question.weights[term] * math.sqrt(min(count, 3)) for term, count in each.items()) for each in counts
    ]
    best = sorted(range(len(windows)), key=lambda place: (-scores[place], place))[:PASSAGES]
    every = [term for each in terms for term in each]
    passages = tuple(windows[place].strip() for place in best)
    is_foreign = question.is_foreign_to("\n".join(passages))
    return Examined(passages, sum(counts, Counter()), len(every), shingles(every), is_foreign)


def best_sentence(passages: Sequence[str], question: ExaminedQuestion) -> str:
    """Return the sentence, or 240 characters of a longer one, with most of the question's terms; "" if none has any."""
    best, most = "", 0.0
    for sentence in (each for passage in passages for each in _SENTENCE_END.split(passage)):
        for start in range(0, len(sentence), _SENTENCE_CHARS):
            piece = sentence[start : start + _SENTENCE_CHARS]
            value = math.fsum(question.weights[term] for term in set(content_terms(piece)) & question.weights.keys())
            if value > most:
                best, most = piece.strip(), value
    return best


def examine_page(document: Document, question: ExaminedQuestion) -> Examined:
    """Analyse a page like `examine`, and also tell whether most of its text is link text, from many links."""
    return replace(examine(document.text, question), is_link_farm=_is_link_farm(document))


def asks_about_retraction(question: ExaminedQuestion) -> bool:
    """Return whether the question asks for retracted papers."""
    return bool(_RETRACTION & question.weights.keys())


def _is_link_farm(document: Document) -> bool:
    inside = [link for link in document.links if link.start < len(document.text)]
    return len(inside) >= _FARM_LINKS and sum(len(link.text) for link in inside) > _FARM_SHARE * len(document.text)


def _windows(text: str) -> list[tuple[int, int]]:
    """Split a text into windows of at most `PASSAGE_CHARS`, after a sentence or line if one ends in the second half."""
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
