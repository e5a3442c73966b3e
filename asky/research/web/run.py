"""Web access of one run: searching, reading, and the addresses that its model may request.

If a run can read private documents, outgoing data is guarded: a query may not repeat a private passage, and
`asky.research.web.url_allowlist` limits the addresses.
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
from asky.research.shortlist.read import PUBLISHED, address_of
from asky.research.web.file_names import private_file_names
from asky.research.web.ledger import WebLedger
from asky.research.web.open_copies import PDF, OpenCopies, PaperReader, named_paper
from asky.research.web.searches import WebSearches
from asky.research.web.sources import WebSources, chosen_lines
from asky.research.web.url_allowlist import UrlAllowlist
from asky.search.dates import shorter
from asky.search.federation import FederatedResults
from asky.text.urls import canonical_url, host_of

if TYPE_CHECKING:
    from asky.events import Listener
    from asky.research.cache import ResearchCache
    from asky.research.corpus.acquire import Acquirer
    from asky.research.page import ReadPage, WebPage
    from asky.research.run import ResearchRun
    from asky.research.shortlist_types import SearchAll, Shortlist
    from asky.research.source_policy import SourcePolicy
    from asky.research.web.open_copies import CopyFinder
    from asky.research.web.searches import Searcher
    from asky.search.port import Candidate, Recency
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import RunStore
    from asky.values import Source

NOT_SHOWN = "read, and no passage of it was shown"
"""The reason in `WebRun.rejected` for a source that was read; not valid for sources of which passages were shown."""

NOT_READ = "was not read"
"""The reason in `WebRun.rejected` for an address that a model may read, until it tries to."""

_READ_AT = "read at "

MakeShortlist = Callable[[str, "SearchAll", "ReadPage"], Awaitable["Shortlist"]]
"""Chooses the sources for a question: `asky.research.source_shortlist` with all other arguments bound."""


def was_read(why: str) -> bool:
    """Return whether a reason in `WebRun.rejected` for an offered address means that it was read."""
    return why == NOT_SHOWN or why.startswith(_READ_AT)


class WebRun:
    """Web access of one run. `searcher` is `None` if no search service is configured, `finder` if no finder is.

    `max_results` limits the results of one search that a model sees, and `max_candidates` those among which a shortlist
    chooses. `named` are the addresses in the question: the user's policy allows them except for denied domains.
    `file_names` are those of the local files in it.
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
        max_candidates: int,
        policy: SourcePolicy,
        is_private: bool,
        listener: Listener,
        finder: CopyFinder | None = None,
        named: Sequence[str] = (),
        file_names: Sequence[str] = (),
    ) -> None:
        self.ledger = WebLedger(runs, run.run_id, listener)
        self.rejected: list[tuple[str, str]] = []
        self.offered = UrlAllowlist(is_private=is_private)
        self.searches = WebSearches(
            run,
            searcher,
            self.ledger,
            is_private=is_private,
            file_names=file_names,
            find_file_names=lambda: private_file_names(corpus.sources(run.scope)),
        )
        self._max_results = max_results
        self._max_candidates = max_candidates
        self._run = run
        self._sources = WebSources(corpus, acquirer, collection_id)
        self._cache = cache
        self._make_shortlist = make_shortlist
        self._policy = policy
        self._named = dict.fromkeys(map(canonical_url, named))
        self._urls_read: set[str] = set()
        self._copies = OpenCopies(finder, partial(self.ledger.note_lookup, finder)) if finder is not None else None

    @property
    def _papers(self) -> PaperReader:
        return PaperReader(self.read, self._read_copy, self._copies)  # kept here, it would refer to itself

    @property
    def marker(self) -> str:
        """Return the marker of this run's fences."""
        return self._run.marker

    @property
    def can_search(self) -> bool:
        """Return whether any search service is configured."""
        return self.searches.is_possible

    async def note_policy(self) -> None:
        """Record the source policy in the ledger, if it restricts anything."""
        await self.ledger.note_policy(self._policy.words())

    # searching

    async def search(
        self, queries: Sequence[str], *, recency: Recency | None = None, max_results: int | None = None
    ) -> FederatedResults:
        """Search all queries together with all services; the results may be read. Raises as `WebSearches` does."""
        recency = shorter(recency, self._policy.recency)
        found = await self.searches.search(queries, recency, max_results=max_results or self._max_results)
        self.offered.offer_found(each.url for each in found.candidates)
        return found

    async def find(self, queries: Sequence[str], *, recency: Recency | None = None) -> FederatedResults:
        """Search as `search` does, and return the results that the user's policy allows. The rest is rejected."""
        found = await self.search(queries, recency=recency)
        reasons = {each.url: self._policy.refusal(each) for each in found.candidates}
        self.rejected += [(url, reason) for url, reason in reasons.items() if reason is not None]
        passed = tuple(each for each in found.candidates if reasons[each.url] is None)
        self.offered.offer_found(each.url for each in passed)  # again: in the order in which the model sees them
        self.note_unread(each.url for each in passed)
        return replace(found, candidates=passed)

    def note_unread(self, urls: Iterable[str]) -> None:
        """Record addresses that the model may, but need not, read; invalid ones are ignored."""
        known = dict(self.rejected)
        for url in urls:
            with suppress(ValueError):
                key = canonical_url(url)
                if key not in known:
                    self.rejected.append((key, NOT_READ))

    # reading

    async def read(
        self, url: str, *, named_by_user: bool = False, wants_pdf: bool = False, again: bool = False
    ) -> WebPage:
        """Return the page at `url`; it is a source of the session once it is `held`.

        With `again`, a failure of a moment ago does not count. Raises what the cache raises; with `wants_pdf`,
        `SourceUnreadable` for anything but a PDF.
        """
        hosts: dict[str, None] = {}
        try:
            page = await self._cache.cache_url(
                url, named_by_user=named_by_user, again=again, reached=lambda host: hosts.update({host: None})
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

    async def _read_copy(self, url: str, *, named_by_user: bool = False, wants_pdf: bool = False) -> WebPage:
        """Read the copy of a paper at `url`, which the user did not name: the user's policy applies to it."""
        try:
            self._require_wanted(url)
        except SourceRefused as error:
            await self.ledger.note_refused(url, error)
            raise
        page = await self.read(url, named_by_user=named_by_user, wants_pdf=wants_pdf)
        self._require_wanted(page.source.url or page.source.uri)
        return page

    async def read_offered(self, url: str) -> WebPage:
        """Read the page at an address that the model requests. Raises `SourceRefused` for one that is not allowed."""
        self.offered.is_private = self.searches.has_secrets
        return await self._read_and_hold(self.offered.require(url))  # as offered: another spelling could carry data

    async def read_found(self, url: str, *, again: bool = False) -> WebPage:
        """Read a page that `find` has returned, and that no model has chosen: reading it tells its site nothing more.

        With `again`, a failure of a moment ago does not count. Raises `SourceRefused` for one that the user's policy
        rules out, and what the cache raises.
        """
        return await self._read_and_hold(canonical_url(url), again=again)

    async def read_open_copy(self, url: str) -> WebPage:
        """Read an open copy of the paper that `find` has returned at `url`, which itself cannot be read.

        Raises `SourceUnreadable` if it is no paper, or no copy is known, and what the cache raises.
        """
        key = canonical_url(url)
        paper = self.searches.papers.get(key) or named_paper(key)
        if paper is None:
            raise SourceUnreadable(f"no open copy of {host_of(url)} is known", verdict="blocked")
        page = await self._papers.read(paper)
        await self._hold([page])
        source = await in_thread(self._sources.describe, page, paper)
        self._note_read([source])
        return replace(page, source=source)

    async def _read_and_hold(self, key: str, *, again: bool = False) -> WebPage:
        """Read the page at a canonical address and make it a source of the session."""
        try:
            page = await self._read_wanted(key, again=again)
        except StorageError:
            raise
        except AskyError as error:
            if dict(self.rejected).get(key, NOT_READ) == NOT_READ:  # a rejection by the user's policy takes precedence
                self.rejected.append((key, error.message))
            raise
        await self._hold([page])
        paper = self.searches.papers.get(key) or named_paper(key)
        source = await in_thread(self._sources.describe, page, paper)
        self._note_read([source])
        if source.url != key:
            self.rejected.append((key, f"{_READ_AT}{source.url}"))
        return replace(page, source=source)

    async def _read_wanted(self, key: str, *, again: bool) -> WebPage:
        """Read the page at an allowed address, if the user's policy permits it."""
        is_named = key in self._named
        self._require_wanted(key, is_named=is_named)
        page = await self.read(key, again=again)
        self._require_wanted(page.source.url or page.source.uri, is_named=is_named)  # it may have redirected
        if not is_named and (reason := self._policy.age_refusal(page.document.metadata.get(PUBLISHED))):
            raise SourceRefused(f"{host_of(key)}: {reason}", hint="--since limits the pages by date")
        return page

    def _require_wanted(self, url: str, *, is_named: bool = False) -> None:
        """Raise `SourceRefused` for an address that the user's policy rules out."""
        if reason := self._policy.address_refusal(url, is_named=is_named):
            hint = "--site and [research.sources] say which pages are read"
            raise SourceRefused(f"{host_of(url)}: {reason}", hint=hint)

    async def _hold(self, pages: Sequence[WebPage]) -> None:
        """Make pages sources of the session; their links may then be read too."""
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
        """Choose and read the sources for a question; `keep` makes them sources. `named` holds the user's addresses.

        If `queries` are given, they replace those generated from the question.
        """
        wanted = queries
        self.offered.offer(named)
        papers: dict[str, Candidate] = {}

        async def search(queries: Sequence[str]) -> FederatedResults:
            if not self.can_search:  # only the addresses that the user named are available, which is no failure
                return FederatedResults((), (), ())
            found = await self.search(wanted or queries, recency=recency, max_results=self._max_candidates)
            papers.update({address_of(each): each for each in found.candidates if each.kind == "paper"})
            return found

        async def read(url: str) -> WebPage:
            is_named = url in named
            paper = named_paper(url) if is_named else papers.get(url)
            if paper is None:
                page = await self.read(url, named_by_user=is_named)
            else:
                page = await self._papers.read(paper, named_by_user=is_named)
            self._urls_read.add(url)
            return page

        chosen = await self._make_shortlist(await self.searches.searchable(question), search, read)
        self.rejected += chosen.rejected
        copies = [(url, each) for each in chosen.selected for url in each.copies]
        self.rejected += [(url, f"the same text as {each.url}") for url, each in copies]
        await self.ledger.note_shortlist(wanted or chosen.queries, chosen)
        return chosen

    async def keep(self, chosen: Shortlist) -> list[Source]:
        """Make the chosen sources sources of the session, in order; some papers have only an abstract."""
        await self._hold([each.page for each in chosen.selected if each.page is not None])
        sources = await in_thread(lambda: [self._sources.of(each) for each in chosen.selected])
        self._note_read(sources)
        self.rejected += [
            (each.candidate.url, f"{_READ_AT}{each.url}")
            for each in chosen.selected
            if canonical_url(each.candidate.url) != canonical_url(each.url)
        ]
        return sources

    async def keep_snippets(self, candidates: Sequence[Candidate]) -> list[Source]:
        """Make what services say of each candidate a source of the session; those without text are left out."""
        told = [each for each in candidates if each.snippet.strip()]
        return await in_thread(lambda: [self._sources.of_snippet(each) for each in told])

    def lines(self, sources: Sequence[Source], chosen: Shortlist) -> list[str]:
        """Return the list of the kept sources for a model; see `chosen_lines`."""
        return chosen_lines(sources, chosen.selected)

    def left_out(self, chosen: Shortlist) -> list[tuple[str, str]]:
        """Return each address in the question of which no text was chosen, with the reason."""
        used = {canonical_url(url) for each in chosen.selected for url in (each.candidate.url, *each.copies)}
        reasons = {canonical_url(url): (url, why) for url, why in chosen.rejected}
        missing = [reasons[key] for key in self._named if key in reasons and key not in used]
        unread = [
            (url, f"was read, but not used: {why}" if url in self._urls_read else f"was not read: {why}")
            for url, why in missing
        ]
        return unread + [
            (each.candidate.url, f"was not read, apart from its abstract: {each.unread_because}")
            for each in chosen.selected
            if each.page is None and canonical_url(each.candidate.url) in self._named
        ]

    def _note_read(self, sources: Sequence[Source]) -> None:
        """Record sources of the run, none of which has been shown yet."""
        self._run.pages += [each.id for each in sources]
        self.rejected += [(each.url, NOT_SHOWN) for each in sources if each.url is not None]
