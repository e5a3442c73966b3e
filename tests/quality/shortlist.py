"""Questions over a set as a web of pages: a search service that ranks them by bm25, and a reader that never fails.

Each question's shortlist is made by the product; its order is compared with that of search and with that of meaning
alone, over the same candidates.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

import anyio

from asky.config.schema import ShortlistSettings
from asky.errors import Unreachable
from asky.evaluation.questions import CorpusText
from asky.research.page import WebPage
from asky.research.shortlist_collect import question_part, read_prompt
from asky.research.shortlist_examine import card_of, examine, read_question
from asky.research.shortlist_types import Shortlist
from asky.research.source_policy import SourcePolicy
from asky.research.source_shortlist import source_shortlist
from asky.search.federation import merge
from asky.search.port import Candidate, ServiceRank
from asky.text.terms import content_terms
from asky.values import Document, Failure, Source, source_id
from tests.quality.datasets import Question, RetrievalSet

if TYPE_CHECKING:
    from asky.research.shortlist_types import EmbedTexts

SITE = "https://pages{}.example/{}"
TODAY = date(2026, 11, 1)
SNIPPET_CHARS = 160
READ = 20


@dataclass(frozen=True, slots=True)
class Results:
    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...] = ()


@dataclass
class Web:
    """The documents of a set as pages, each on a site of its own."""

    data: RetrievalSet
    papers: bool = False
    _lengths: list[int] = field(default_factory=list)
    _postings: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for place, document in enumerate(self.data.documents):
            counts = Counter(content_terms(f"{document.title}\n{document.text}"))
            self._lengths.append(sum(counts.values()))
            for term, count in counts.items():
                self._postings[term].append((place, count))
        self._average = sum(self._lengths) / len(self._lengths)

    def url(self, place: int) -> str:
        return SITE.format(place, self.data.documents[place].id)

    def document(self, url: str) -> CorpusText:
        return self.data.documents[int(url.removeprefix("https://pages").partition(".")[0])]

    async def search(self, queries: Sequence[str]) -> Results:
        return Results(merge([self.ranked(query) for query in queries]))

    def ranked(self, query: str, limit: int = 40) -> list[Candidate]:
        """By bm25 (k1 .9, b .4) over titles and texts, with a snippet that holds most of the query's terms."""
        scores: dict[int, float] = defaultdict(float)
        terms = set(content_terms(query))
        for term in terms:
            for place, count in self._postings.get(term, ()):
                norm = 0.9 * (1 - 0.4 + 0.4 * self._lengths[place] / self._average)
                scores[place] += self._idf(term) * count / (count + norm)
        best = sorted(scores, key=lambda place: (-round(scores[place], 9), place))[:limit]
        return [self._candidate(place, query, terms, rank) for rank, place in enumerate(best, start=1)]

    async def read(self, url: str) -> WebPage:
        if not url.startswith(SITE.partition("{")[0]):
            raise Unreachable("no page of this web")
        document = self.document(url)
        source = Source(source_id(url), "web", url, document.title, url=url)
        return WebPage(source, 1, Document(document.text, "text/html", document.title or None), was_cached=False)

    def _idf(self, term: str) -> float:
        holding = len(self._postings.get(term, ()))
        return math.log(1 + (len(self._lengths) - holding + 0.5) / (holding + 0.5))

    def _candidate(self, place: int, query: str, terms: set[str], rank: int) -> Candidate:
        document = self.data.documents[place]
        found = (ServiceRank("bm25", rank, query),)
        kind, snippet = ("paper", document.text) if self.papers else ("web", self._snippet(document.text, terms))
        return Candidate(self.url(place), document.title, snippet, found=found, kind=kind)  # type: ignore[arg-type]  # a literal

    def _snippet(self, text: str, terms: set[str]) -> str:
        pieces = [text[at : at + SNIPPET_CHARS] for at in range(0, min(len(text), 60_000), SNIPPET_CHARS)]
        worth = [sum(self._idf(term) for term in terms & set(content_terms(piece))) for piece in pieces]
        return pieces[max(range(len(pieces)), key=lambda at: (worth[at], -at))] if pieces else ""


@dataclass(frozen=True, slots=True)
class Rankings:
    """Ids of documents by way of ranking, best first, for one question."""

    question: Question
    shortlist: tuple[str, ...]
    search: tuple[str, ...]
    meaning: tuple[str, ...]


def sample(data: RetrievalSet, count: int) -> list[Question]:
    """`count` judged questions, in order of the hash of their ids."""
    return sorted(data.judged, key=lambda question: hashlib.sha256(question.id.encode()).digest())[:count]


def rank(web: Web, question: Question, embed: EmbedTexts) -> Rankings:
    """The rankings of the product, of search, and of the cosines alone of the texts that the product compares."""
    made = shortlist(web, question, embed)
    found = anyio.run(web.search, made.queries).candidates[:40]
    cosines = [_meaning(web, question, found, each, embed) for each in found[:READ]]
    by_meaning = [found[at] for at in sorted(range(len(cosines)), key=lambda at: -cosines[at])]
    search, meaning = ([web.document(each.url).id for each in ranked] for ranked in (found, by_meaning))
    kept = [web.document(each.candidate.url).id for each in made.selected]
    return Rankings(question, tuple(kept), tuple(search), tuple(meaning))


def _meaning(
    web: Web, question: Question, found: Sequence[Candidate], candidate: Candidate, embed: EmbedTexts
) -> float:
    compared = question_part(read_prompt(question.text).words)
    read = read_question(compared, [card_of(each) for each in found])
    passages = examine(web.document(candidate.url).text, read).passages
    vectors = embed([compared, card_of(candidate), *passages])
    assert vectors is not None
    return float((vectors[1:] @ vectors[0]).max())


def shortlist(web: Web, question: Question, embed: EmbedTexts) -> Shortlist:
    async def make() -> Shortlist:
        return await source_shortlist(
            question.text,
            search=web.search,
            read=web.read,
            embed=embed,
            settings=ShortlistSettings(),
            policy=SourcePolicy(),
            today=TODAY,
            reading_s=600.0,
        )

    return anyio.run(make)
