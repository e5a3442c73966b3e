"""The web as one run uses it: what it searches and reads, and what its model may ask for.

Where private documents are open in a run, what leaves the machine is watched: a query may not repeat a private passage,
and `asky.research.offered` limits the addresses.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError, SourceRefused, SourceUnreadable, StorageError
from asky.research.offered import OfferedUrls
from asky.research.open_copies import PDF, OpenCopies, PaperReader, named_paper
from asky.research.shortlist_read import PUBLISHED, address_of
from asky.research.web_ledger import WebLedger
from asky.research.web_searches import WebSearches
from asky.research.web_sources import WebSources
from asky.search.dates import shorter
from asky.search.federation import FederatedResults
from asky.text.urls import canonical_url, host_of

if TYPE_CHECKING:
    from asky.events import Listener
    from asky.research.acquire import Acquirer
    from asky.research.cache import ResearchCache
    from asky.research.open_copies import CopyFinder
    from asky.research.shortlist_types import SearchAll, Shortlist
    from asky.research.source_policy import SourcePolicy
    from asky.research.tools import ResearchRun
    from asky.research.web_page import ReadPage, WebPage
    from asky.research.web_searches import Searcher
    from asky.search.port import Candidate, Recency
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import RunStore
    from asky.values import Source

NOT_SHOWN = "read, and no passage of it was shown"
"""What `WebRun.rejected` says of each source that was read; of those that were shown it does not hold."""

NOT_READ = "was not read"
"""What `WebRun.rejected` says of each address that a model may read, until it has tried to."""

_READ_AT = "read at "

MakeShortlist = Callable[[str, "SearchAll", "ReadPage"], Awaitable["Shortlist"]]
"""Chooses the sources for a question; `asky.research.source_shortlist` with everything but these bound."""


def was_read(why: str) -> bool:
    """Whether what `WebRun.rejected` says of an address that the model may read is that it was."""
    return why == NOT_SHOWN or why.startswith(_READ_AT)


class WebRun:
    """One run's way to the web. `searcher` is `None` where no search service is set up, `finder` where no finder is.

    `named` are the addresses that the question has: the user's policy allows them whatever else it says.
    """

    def __init__(
        self,
        run: ResearchRun,
        *,
        collection_id: int,
        cache: ResearchCache,
        searcher: Searcher | None,
        make_shortlist: MakeShortlist,
        corpus: CorpusStore,
        runs: RunStore,
        acquirer: Acquirer,
        max_results: int,
        policy: SourcePolicy,
        is_private: bool,
        listener: Listener,
        finder: CopyFinder | None = None,
        named: Sequence[str] = (),
    ) -> None:
        self.ledger = WebLedger(runs, run.run_id, listener)
        self.rejected: list[tuple[str, str]] = []
        self.offered = OfferedUrls(is_private=is_private)
        self.searches = WebSearches(run, searcher, self.ledger, max_results=max_results, is_private=is_private)
        self._run = run
        self._sources = WebSources(corpus, acquirer, collection_id)
        self._cache = cache
        self._make_shortlist = make_shortlist
        self._policy = policy
        self._named = dict.fromkeys(map(canonical_url, named))
        self._arrived: set[str] = set()
        copies = OpenCopies(finder, partial(self.ledger.note_lookup, finder)) if finder is not None else None
        self._papers = PaperReader(self.read, self._read_copy, copies)

    @property
    def marker(self) -> str:
        """The marker of this run's fences."""
        return self._run.marker

    @property
    def can_search(self) -> bool:
        """Whether any search service is set up."""
        return self.searches.is_possible

    async def note_policy(self) -> None:
        """Say in the ledger which sources are wanted, where that is not all of them."""
        await self.ledger.note_policy(self._policy.words())

    # searching

    async def search(self, queries: Sequence[str], *, recency: Recency | None = None) -> FederatedResults:
        """What the services find for all queries together; what they find may be read. Raises as `WebSearches` does."""
        found = await self.searches.search(queries, shorter(recency, self._policy.recency))
        self.offered.offer_found(each.url for each in found.candidates)
        return found

    async def find(self, queries: Sequence[str], *, recency: Recency | None = None) -> FederatedResults:
        """What the services find that the user's policy lets pass; see `search`. The rest is rejected."""
        found = await self.search(queries, recency=recency)
        reasons = {each.url: self._policy.refusal(each) for each in found.candidates}
        self.rejected += [(url, reason) for url, reason in reasons.items() if reason is not None]
        passed = tuple(each for each in found.candidates if reasons[each.url] is None)
        self.note_unread(each.url for each in passed)
        return replace(found, candidates=passed)

    def note_unread(self, urls: Iterable[str]) -> None:
        """Take note of addresses that the model may read, and none of which it has to; what is no address is none."""
        known = dict(self.rejected)
        for url in urls:
            with suppress(ValueError):
                key = canonical_url(url)
                if key not in known:
                    self.rejected.append((key, NOT_READ))

    # reading

    async def read(self, url: str, *, asked_for: bool = False, wants_pdf: bool = False) -> WebPage:
        """The page at `url`; it is a source of the session once it is `held`.

        Raises what the cache raises; where it `wants_pdf`, `SourceUnreadable` for anything else.
        """
        hosts: dict[str, None] = {}
        try:
            page = await self._cache.cache_url(
                url, asked_for=asked_for, reached=lambda host: hosts.update({host: None})
            )
        except AskyError as error:
            await self.ledger.note_failed(url, error, list(hosts))
            raise
        except anyio.get_cancelled_exc_class():
            await self.ledger.note_given_up(url, list(hosts))
            raise
        unwanted = None
        if wants_pdf and page.document.media_type != PDF:
            unwanted = f"{host_of(url)} sent a page instead of the PDF"
        await self.ledger.note_page(url, page, hosts, unwanted=unwanted)
        if unwanted is not None:
            raise SourceUnreadable(unwanted, verdict="not_a_pdf")
        return page

    async def _read_copy(self, url: str, *, asked_for: bool = False, wants_pdf: bool = False) -> WebPage:
        """The copy of a paper at `url`, which nobody has asked for by that name: the user's policy holds for it."""
        try:
            self._require_wanted(url)
        except SourceRefused as error:
            await self.ledger.note_refused(url, error)
            raise
        page = await self.read(url, asked_for=asked_for, wants_pdf=wants_pdf)
        self._require_wanted(page.source.url or page.source.uri)
        return page

    async def read_offered(self, url: str) -> WebPage:
        """The page at an address that the model names. Raises `SourceRefused` for one that it may not."""
        self.offered.is_private = self.searches.has_secrets
        key = self.offered.require(url)  # as it was offered: another spelling could carry something to the site
        try:
            page = await self._read_wanted(key)
        except StorageError:
            raise
        except AskyError as error:
            if dict(self.rejected).get(key, NOT_READ) == NOT_READ:  # what the user's policy has against it goes first
                self.rejected.append((key, error.message))
            raise
        await self._hold([page])
        paper = self.searches.papers.get(key) or named_paper(key)
        source = await in_thread(self._sources.describe, page, paper)
        self._note_read([source])
        if source.url != key:
            self.rejected.append((key, f"{_READ_AT}{source.url}"))
        return replace(page, source=source)

    async def _read_wanted(self, key: str) -> WebPage:
        """The page at an address that may be read, if the user's policy has nothing against it."""
        is_named = key in self._named
        self._require_wanted(key, is_named=is_named)
        page = await self.read(key)
        self._require_wanted(page.source.url or page.source.uri, is_named=is_named)  # it may have led elsewhere
        if not is_named and (reason := self._policy.age_refusal(page.document.metadata.get(PUBLISHED))):
            raise SourceRefused(f"{host_of(key)}: {reason}", hint="--since says which pages are used")
        return page

    def _require_wanted(self, url: str, *, is_named: bool = False) -> None:
        """Raise `SourceRefused` for an address that the user's policy rules out."""
        if reason := self._policy.address_refusal(url, is_named=is_named):
            hint = "--site and [research.sources] say which pages are read"
            raise SourceRefused(f"{host_of(url)}: {reason}", hint=hint)

    async def _hold(self, pages: Sequence[WebPage]) -> None:
        """Make pages sources of the session; where they lead may be read too."""
        for page in pages:
            self.offered.offer_links(link.url for link in page.document.links)
        await in_thread(self._sources.hold, pages)

    # choosing

    async def shortlist(
        self,
        question: str,
        *,
        recency: Recency | None = None,
        named: Sequence[str] = (),
        queries: Sequence[str] = (),
    ) -> Shortlist:
        """The sources for a question, read; `keep` makes them sources. `named` are addresses that the user wrote.

        Where there are `queries`, these are searched for, and not what would be made of the question.
        """
        wanted = queries
        self.offered.offer(named)
        papers: dict[str, Candidate] = {}

        async def search(queries: Sequence[str]) -> FederatedResults:
            if not self.can_search:  # the addresses that the user named are all there is, and no failure
                return FederatedResults((), (), ())
            found = await self.search(wanted or queries, recency=recency)
            papers.update({address_of(each): each for each in found.candidates if each.kind == "paper"})
            return found

        async def read(url: str) -> WebPage:
            is_named = url in named
            paper = named_paper(url) if is_named else papers.get(url)
            if paper is None:
                page = await self.read(url, asked_for=is_named)
            else:
                page = await self._papers.read(paper, asked_for=is_named)
            self._arrived.add(url)
            return page

        chosen = await self._make_shortlist(question, search, read)
        self.rejected += chosen.rejected
        copies = [(url, each) for each in chosen.selected for url in each.copies]
        self.rejected += [(url, f"the same text as {each.url}") for url, each in copies]
        await self.ledger.note_shortlist(wanted or chosen.queries, chosen)
        return chosen

    async def keep(self, chosen: Shortlist) -> list[Source]:
        """Make what was chosen sources of the session, in its order; of some papers only the abstract is known."""
        await self._hold([each.page for each in chosen.selected if each.page is not None])
        sources = await in_thread(lambda: [self._sources.of(each) for each in chosen.selected])
        self._note_read(sources)
        self.rejected += [
            (each.candidate.url, f"{_READ_AT}{each.url}")
            for each in chosen.selected
            if canonical_url(each.candidate.url) != canonical_url(each.url)
        ]
        return sources

    def left_out(self, chosen: Shortlist) -> list[tuple[str, str]]:
        """Each address that the question names and of which no text was chosen, with words that say why not."""
        used = {canonical_url(url) for each in chosen.selected for url in (each.candidate.url, *each.copies)}
        reasons = {canonical_url(url): (url, why) for url, why in chosen.rejected}
        missing = [reasons[key] for key in self._named if key in reasons and key not in used]
        said = [
            (url, f"was read, but not used: {why}" if url in self._arrived else f"was not read: {why}")
            for url, why in missing
        ]
        return said + [
            (each.candidate.url, f"was not read, apart from its abstract: {each.unread_because}")
            for each in chosen.selected
            if each.page is None and canonical_url(each.candidate.url) in self._named
        ]

    def _note_read(self, sources: Sequence[Source]) -> None:
        """Remember sources of the run, none of which was shown yet."""
        self._run.pages += [each.id for each in sources]
        self.rejected += [(each.url, NOT_SHOWN) for each in sources if each.url is not None]
