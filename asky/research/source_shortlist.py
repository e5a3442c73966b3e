"""The source shortlist: from a question to the few pages worth reading, before a model sees any of them.

    what the question names -+                                          +-> chosen, with reasons
                             +-> candidates -> policy -> read -> score -+
    what search finds -------+      ^                                   +-> rejected, with a reason each
    links of named pages -----------+

See `docs/concepts/shortlist.md`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from asky.concurrency import error_of, gather, in_thread
from asky.config.schema import ShortlistSettings
from asky.events import Listener, StageFinished, StageStarted, ignore
from asky.research.no_evidence import WEB_SEARCH
from asky.research.page import ReadPage, WebPage
from asky.research.shortlist.choose import Text, choose
from asky.research.shortlist.read import STAGE, Comparer, PageReader, published_of
from asky.research.shortlist_collect import (
    QuestionParts,
    choose_links,
    offered_links,
    question_part,
    read_prompt,
    search_queries,
    unite,
)
from asky.research.shortlist_examine import (
    Examined,
    ExaminedQuestion,
    asks_about_retraction,
    best_sentence,
    card_of,
    examine,
    examine_page,
    has_abstract,
    read_question,
)
from asky.research.shortlist_score import MIN_MEANING, RankedCandidate, counted_meaning, preference, score
from asky.research.shortlist_types import EmbedTexts, SearchAll, Searched, Shortlist
from asky.research.source_policy import SourcePolicy
from asky.search.port import Candidate
from asky.values import Failure

READING_S = 12.0
"""Seconds for reading the candidates; later ones are dropped as too slow.

Twenty pages, eight at a time, are three rounds: most pages answer within a second or two, and one that needs longer
than four is worth less than an answer. Named pages have no such limit but that of each fetch: the user wants them all,
and many pages of one host wait for their turns.
"""

PAGE_SHARE = 0.5
"""The share of `READING_S` for one page, so that eight pages that hang leave time for the others."""


async def source_shortlist(
    question: str,
    *,
    search: SearchAll,
    read: ReadPage,
    embed: EmbedTexts,
    settings: ShortlistSettings,
    policy: SourcePolicy,
    today: date,
    listener: Listener = ignore,
    reading_s: float = READING_S,
    clock: Callable[[], float] = time.monotonic,
) -> Shortlist:
    """Choose up to `settings.top_k` sources for `question`, and give a reason for rejecting every other candidate.

    The pages named in the question are read while `search` runs; those of their links that are about the question
    become candidates too. Of at most `max_candidates` that `policy` allows, the `max_fetch_urls` that look nearest are
    read, `concurrency` at a time, each examined as it arrives. The same candidates, pages and vectors give the same
    shortlist, in whatever order pages arrive. Named sources come before all others, whatever their score; equal scores
    keep the search order.

    A failing service, an unreadable page and a missing embedding model are results, not errors: see
    `Shortlist.failures`, `rejected` and `warnings`. Raises `StorageError`, and any exception of a collaborator that is
    no `AskyError`.
    """
    prompt = read_prompt(question)
    run = _Run(
        prompt=prompt,
        compared=question_part(prompt.words),
        settings=settings,
        policy=policy,
        today=today,
        reading_s=reading_s,
        clock=clock,
        reader=PageReader(read, policy, settings.concurrency, listener),
        comparer=Comparer(question_part(prompt.words), embed, listener),
    )
    listener(StageStarted(STAGE))
    shortlist = await run.shortlist(search)
    listener(StageFinished(STAGE, shortlist.seconds["total"], shortlist.summary()))
    return shortlist


@dataclass
class _Run:
    """The state of one shortlist being built."""

    prompt: QuestionParts
    compared: str
    settings: ShortlistSettings
    policy: SourcePolicy
    today: date
    reading_s: float
    clock: Callable[[], float]
    reader: PageReader
    comparer: Comparer
    refused: dict[str, str] = field(default_factory=dict)
    meanings: dict[str, float] = field(default_factory=dict)
    sentences: dict[str, float] = field(default_factory=dict)
    examined: dict[str, Examined] = field(default_factory=dict)

    async def shortlist(self, search: SearchAll) -> Shortlist:
        times = [self.clock()]
        queries = search_queries(self.prompt)
        named = self._admit(self.prompt.candidates)[: self.settings.max_fetch_urls]
        searched = await self._search_and_read(search, queries, named)
        times.append(self.clock())
        found = () if isinstance(searched, Failure) else tuple(searched.candidates)
        candidates = await self._candidates(found)
        considered = self._bound(self._admit(candidates))
        places = {candidate.url: place for place, candidate in enumerate(found)}
        question = await self._read_best(considered, places)
        times.append(self.clock())
        texts = await self._texts(considered, places, question)
        chosen = choose(texts, top_k=self.settings.top_k, keeps_retracted=asks_about_retraction(question))
        times.append(self.clock())
        rejected = self.refused | self.reader.unread | chosen.rejected
        selected = {each.candidate.url for each in chosen.selected}
        return Shortlist(
            selected=chosen.selected,
            rejected=tuple((each.url, rejected[each.url]) for each in candidates if each.url not in selected),
            queries=queries,
            read=len(texts),
            origins=chosen.origins,
            failures=(searched,) if isinstance(searched, Failure) else tuple(searched.failures),
            warnings=tuple(self.comparer.warnings),
            seconds=_spent(times),
        )

    async def _search_and_read(
        self, search: SearchAll, queries: Sequence[str], named: Sequence[Candidate]
    ) -> Searched | Failure:
        """Query the services, and read the `named` pages concurrently."""

        async def searching() -> Searched:
            return await search(queries) if queries else _NO_RESULTS

        async def reading() -> Searched:
            await self.reader.read_all(named, within_s=math.inf, page_s=math.inf)
            return _NO_RESULTS

        searched, read = await gather([searching, reading], lambda job: job(), limit=2, subject=lambda _: WEB_SEARCH)
        if isinstance(read, Failure):
            raise error_of(read)
        return searched

    async def _candidates(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Return the named candidates, with page titles, then their links, then those found."""
        united = [self._titled(candidate) for candidate in unite(self.prompt.candidates, found)]
        links: tuple[Candidate, ...] = ()
        if self.reader.pages and search_queries(self.prompt):
            known = [candidate.url for candidate in united]
            offered = offered_links(list(self.reader.pages.values()), self.compared, known)
            cosines = await self.comparer.cosines([link.title for link in offered]) if offered else None
            links = choose_links(offered, cosines, self.compared)
        named = [candidate for candidate in united if candidate.origin == "prompt"]
        return [*named, *links, *united[len(named) :]]

    def _titled(self, candidate: Candidate) -> Candidate:
        page = self.reader.pages.get(candidate.url)
        return replace(candidate, title=candidate.title or (page.document.title or "" if page else ""))

    def _admit(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that the policy allows; record its reasons for the others."""
        reasons = {each.url: self.policy.refusal(each) for each in candidates}
        self.refused |= {url: reason for url, reason in reasons.items() if reason is not None}
        return [each for each in candidates if reasons[each.url] is None]

    def _bound(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        limit = self.settings.max_candidates
        self.refused |= {each.url: f"beyond the first {limit} candidates" for each in candidates[limit:]}
        return list(candidates[:limit])

    async def _read_best(self, candidates: Sequence[Candidate], places: dict[str, int]) -> ExaminedQuestion:
        """Read the nearest-looking candidates, as many as are left to read, and examine every page."""
        cards = [card_of(candidate) for candidate in candidates]
        cosines = await self.comparer.cosines(cards)
        if cosines is not None:
            self.meanings = {each.url: cosine for each, cosine in zip(candidates, cosines, strict=True)}
        question = read_question(self.compared, cards)
        tried = {*self.reader.pages, *self.reader.unread}
        rest = [each for each in candidates if each.url not in tried]
        rest.sort(key=lambda each: -self._preference(each, places.get(each.url), question))
        remaining = max(0, self.settings.max_fetch_urls - len(tried))
        limit = self.settings.max_fetch_urls
        self.refused |= {each.url: f"not among the {limit} pages that were read" for each in rest[remaining:]}

        async def examine_read(candidate: Candidate, page: WebPage) -> None:
            await self._examine(candidate, page, question)

        await self.reader.read_all(
            rest[:remaining], within_s=self.reading_s, page_s=PAGE_SHARE * self.reading_s, on_page=examine_read
        )
        for candidate in candidates:
            if candidate.url in tried and (page := self.reader.pages.get(candidate.url)):
                await examine_read(candidate, page)
        return question

    def _preference(self, candidate: Candidate, place: int | None, question: ExaminedQuestion) -> float:
        cosine = self.meanings.get(candidate.url)
        if cosine is not None:
            cosine = counted_meaning(cosine, is_foreign=question.is_foreign_to(card_of(candidate)))
        return preference(place, cosine)

    async def _examine(self, candidate: Candidate, page: WebPage, question: ExaminedQuestion) -> None:
        examined = await in_thread(examine_page, page.document, question)
        cosines = await self.comparer.cosines(examined.passages) if examined.passages else None
        if cosines:
            meaning = self.meanings[candidate.url] = max(*cosines, self.meanings.get(candidate.url, -1.0))
            sentence = best_sentence(examined.passages, question) if meaning < MIN_MEANING else ""
            if sentence and not examined.is_foreign and (near := await self.comparer.cosines([sentence])):
                self.sentences[candidate.url] = near[0]
        self.examined[candidate.url] = examined

    async def _texts(
        self, candidates: Sequence[Candidate], places: dict[str, int], question: ExaminedQuestion
    ) -> list[Text]:
        """Return the candidates that have a text, scored: pages, and unread papers with an abstract."""
        entries: list[RankedCandidate] = []
        for candidate in candidates:
            page = self.reader.pages.get(candidate.url)
            examined = self.examined.get(candidate.url)
            if examined is None and has_abstract(candidate):
                examined = await in_thread(examine, candidate.snippet, question)
            if examined is not None:
                meaning = self.meanings.get(candidate.url) if self.comparer.is_able else None
                place = places.get(candidate.url)
                published, sentence = published_of(candidate, page), self.sentences.get(candidate.url)
                entries.append(RankedCandidate(candidate, place, meaning, examined, published, sentence))
        scored = await in_thread(score, question, entries, self.today)
        return [
            Text(
                self.reader.pages.get(entry.candidate.url),
                entry,
                each,
                self.reader.unread.get(entry.candidate.url) or self.refused.get(entry.candidate.url),
            )
            for entry, each in zip(entries, scored, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _NoResults:
    candidates: tuple[Candidate, ...] = ()
    failures: tuple[Failure, ...] = ()


_NO_RESULTS = _NoResults()


def _spent(times: Sequence[float]) -> dict[str, float]:
    steps = zip(("search", "read", "score"), times, times[1:], strict=False)
    return {step: after - before for step, before, after in steps} | {"total": times[-1] - times[0]}
