"""The web of a run over a loopback site, with search services that find what they are told; all else is real."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from types import TracebackType

import anyio

from asky.config.schema import Chunking, ShortlistSettings
from asky.research.cache import Browse, CacheSettings, ResearchCache
from asky.research.corpus.acquire import Acquirer
from asky.research.corpus.ingest import Ingester
from asky.research.page import ReadPage, WebPage
from asky.research.run import ResearchRun
from asky.research.shortlist_types import SearchAll, Shortlist
from asky.research.source_policy import SourcePolicy
from asky.research.source_shortlist import source_shortlist
from asky.research.web.access import WebAccess
from asky.research.web.run import WebRun
from asky.research.web.search_cache import CachedSearch
from asky.research.web.summaries import Summaries, Summarise
from asky.search.federation import Federation
from asky.search.port import SearchProvider
from asky.storage.pages import CACHE_COLLECTION, PageTable, SearchTable
from asky.storage.runs import RunStore
from asky.storage.scope import Scope
from tests.support.fetching import open_fetcher
from tests.support.readers import SharedReaders
from tests.support.search_store import SearchStore
from tests.support.site import Site


class LabWeb:
    """An `asky.research.web.access.Web` over `store`, as a context manager: leaving it closes its readers.

    `now` is what its clock says. Without a `site` it is offline.
    """

    def __init__(
        self,
        store: SearchStore,
        site: Site | None = None,
        providers: Sequence[SearchProvider] = (),
        *,
        browse: Browse | None = None,
        robots: bool = False,
    ) -> None:
        self.store = store
        self.now = 1_000_000.0
        self.pages = PageTable(store.database, store.corpus)
        self.searches = SearchTable(store.database)
        self.runs = RunStore(store.database)
        self.readers = SharedReaders()
        self.opened: list[WebRun] = []
        self.policy = SourcePolicy()
        ingester = Ingester(store.database, store.corpus, store.search, chunking=Chunking(100, 10))
        self.acquirer = Acquirer(
            store.database,
            store.corpus,
            store.search,
            ingester,
            self.readers,
            max_file_bytes=1 << 20,
            workers=1,
            listener=store.heard.append,
        )
        self.cache = ResearchCache(
            self.pages,
            store.corpus,
            store.documents,
            ingester,
            fetcher=open_fetcher(site, robots=robots) if site is not None else None,
            read_document=self.readers.read,
            settings=CacheSettings(ttl_s=3600.0, max_bytes=1 << 30),
            browse=browse,
            now=self._clock,
        )
        self.searcher: CachedSearch | None = None
        if providers:
            self.search_with(*providers)

    def search_with(self, *providers: SearchProvider) -> None:
        """Ask these services from now on."""
        self.searcher = CachedSearch(Federation(providers), self.searches, ttl_s=600.0, now=self._clock)

    def _clock(self) -> float:
        return self.now

    def __enter__(self) -> LabWeb:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.readers.close()

    def read(self, url: str, *, again: bool = False) -> WebPage:
        """Read one page through the cache, from sync code."""
        return anyio.run(partial(self.cache.cache_url, url, again=again))

    def open(self, run: ResearchRun, access: WebAccess, *, is_private: bool) -> WebRun:
        """See `Web`."""
        policy = access.policy or self.policy
        web = WebRun(
            run,
            collection_id=access.collection_id,
            cache=self.cache,
            searcher=self.searcher,
            make_shortlist=partial(self._shortlist, policy),
            corpus=self.store.corpus,
            runs=self.runs,
            acquirer=self.acquirer,
            max_results=10,
            max_candidates=ShortlistSettings().max_candidates,
            policy=policy,
            is_private=is_private,
            listener=self.store.heard.append,
            named=access.named,
        )
        self.opened.append(web)
        return web

    async def _shortlist(self, policy: SourcePolicy, question: str, search: SearchAll, read: ReadPage) -> Shortlist:
        return await source_shortlist(
            question,
            search=search,
            read=read,
            embed=self.store.search.embed_texts,
            settings=ShortlistSettings(),
            policy=policy,
            today=date(2026, 11, 22),
        )

    def summaries(self, summarise: Summarise | None) -> Summaries:
        """See `Web`."""
        return Summaries(self.pages, self.store.search, summarise)

    def cached(self) -> int | None:
        """See `Web`."""
        if CACHE_COLLECTION not in self.store.corpus.collections():
            return None
        collection_id = self.store.corpus.collection(CACHE_COLLECTION)
        return collection_id if self.store.corpus.count_sources(Scope((collection_id,))) else None
