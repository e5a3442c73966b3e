"""What a question asks for, and what a text holds of it: its best passages, terms, runs of words, its language."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from asky.research.near_duplicates import Shingles, shingles
from asky.search.port import Candidate
from asky.text.languages import are_foreign, languages_of
from asky.text.scrub import one_line
from asky.text.terms import content_terms
from asky.values import Document

PASSAGE_CHARS = 500
PASSAGES = 2
"""Passages of a page that are compared with the question: those that hold most of its terms.

Source: `Weights`; nDCG@8 with two of 500 characters .749, with three .753, for 4,500 and 6,700 tokens in 20 pages.
"""

_MAX_CHARS = 200_000  # of a page that are looked at: 60 ms
_CARD_CHARS = 700
_UNSPACED_CHARS = 200  # of a script without spaces, whose characters are tokens of their own
_FEWEST_TERMS = 5  # short pages answer too: 20 would reject a sixth of what is relevant in HotpotQA
_ABSTRACT_TERMS = 30
_FARM_LINKS = 20
_FARM_SHARE = 0.5
_RECENT = frozenset(content_terms("latest newest recent recently current currently today nowadays"))
_RECENT_WORDS = re.compile(r"\b(?:this|last|past) (?:day|week|month|year)\b|\bup[- ]to[- ]date\b", re.IGNORECASE)
_RETRACTION = frozenset(content_terms("retracted retraction withdrawn"))
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class Question:
    """A question as candidates are compared with it. `weights` are its terms by rarity among them, `languages` those
    that it may be in.
    """

    text: str
    weights: Mapping[str, float]
    wants_recent: bool
    languages: frozenset[str]

    @property
    def total(self) -> float:
        return math.fsum(self.weights.values())

    def is_foreign_to(self, text: str) -> bool:
        """Whether `text` is certainly in another language."""
        return are_foreign(self.languages, languages_of(text))


@dataclass(frozen=True, slots=True)
class Examined:
    """What a text is found to be. `passages` are to be embedded, `counts` are of the question's terms, and `is_foreign`
    where the passages are in another language than the question.
    """

    passages: tuple[str, ...]
    counts: Mapping[str, int]
    terms: int
    shingles: Shingles = field(repr=False)
    is_foreign: bool = False
    is_link_farm: bool = False

    @property
    def is_too_short(self) -> bool:
        return self.terms < _FEWEST_TERMS


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
    return Question(text, weights, wants_recent, languages_of(text))


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
    passages = tuple(windows[place].strip() for place in best)
    is_foreign = question.is_foreign_to("\n".join(passages))
    return Examined(passages, sum(counts, Counter()), len(every), shingles(every), is_foreign)


def examine_page(document: Document, question: Question) -> Examined:
    """As `examine`, and whether most of the text is the text of its links, of which there are many."""
    return replace(examine(document.text, question), is_link_farm=_is_link_farm(document))


def asks_about_retraction(question: Question) -> bool:
    """Whether a retracted paper is what the question wants."""
    return bool(_RETRACTION & question.weights.keys())


def _is_link_farm(document: Document) -> bool:
    inside = [link for link in document.links if link.start < len(document.text)]
    return len(inside) >= _FARM_LINKS and sum(len(link.text) for link in inside) > _FARM_SHARE * len(document.text)


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
