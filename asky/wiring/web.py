"""The parts by which a process reaches the web, made on first use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cached_property, partial
from typing import TYPE_CHECKING

from asky.errors import NotConfigured
from asky.events import Warned

if TYPE_CHECKING:
    from asky.chat.web_access import WebAccess
    from asky.net.breaker import Breaker
    from asky.net.fetcher import GuardedFetcher
    from asky.net.pace import Pace
    from asky.net.retry import RetryBudget
    from asky.research.acquire_pages import PageAcquirer
    from asky.research.cache import Browse, CacheSettings, ResearchCache
    from asky.research.open_copies import CopyFinder
    from asky.research.purge import Purge
    from asky.research.search_cache import RememberedSearch
    from asky.research.shortlist_types import SearchAll, Shortlist
    from asky.research.source_policy import SourcePolicy
    from asky.research.tools import ResearchRun
    from asky.research.web import WebRun
    from asky.research.web_page import ReadPage
    from asky.research.web_summaries import Summaries, Summarise
    from asky.search.catalog import Surroundings
    from asky.search.port import SearchProvider
    from asky.wiring import Services

_MIB = 1024 * 1024
_HOUR_S = 3600.0


class WebParts:
    """The web for the runs of one process; an `asky.chat.web_access.Web`.

    Under `offline` nothing is searched or fetched: pages that were read before are all there is.
    """

    def __init__(self, services: Services, environ: Mapping[str, str], *, offline: bool) -> None:
        self.offline = offline
        self._services = services
        self._environ = environ

    def close(self) -> None:
        """Stop what goes on in the background."""
        purge: Purge | None = vars(self).get("purge")
        if purge is not None:
            purge.stop()

    @cached_property
    def pace(self) -> Pace:
        """How often hosts and services are asked, over all processes."""
        from asky.net.pace import Pace

        return Pace(self._services.paths.state / "net")

    @cached_property
    def breaker(self) -> Breaker:
        """Which services are left alone for a while, over all processes."""
        from asky.net.breaker import Breaker

        return Breaker(self._services.paths.state / "net")

    @cached_property
    def budget(self) -> RetryBudget:
        """What tries may cost, searches and pages together."""
        from asky.net.retry import RetryBudget

        return RetryBudget()

    @cached_property
    def surroundings(self) -> Surroundings:
        """What search services share."""
        from asky.search.catalog import Surroundings

        return Surroundings(self._environ, self.pace, self.breaker, budget=self.budget)

    @cached_property
    def providers(self) -> tuple[SearchProvider, ...]:
        """The search services that are set up; none under `offline`."""
        from asky.search.catalog import make_providers

        return () if self.offline else make_providers(self._services.config.search, self.surroundings)

    @cached_property
    def finder(self) -> CopyFinder | None:
        """What knows open copies of papers, where the user has named it and given an address; none under `offline`."""
        from asky.search.catalog import finders, make_service
        from asky.search.unpaywall import NAME, make

        search = self._services.config.search
        if self.offline or NAME not in finders(search):
            return None
        try:
            return make(make_service(NAME, search, self.surroundings))
        except NotConfigured as error:  # papers are read without it
            self._services.listener(Warned(error.message, error.hint))
            return None

    @cached_property
    def searcher(self) -> RememberedSearch | None:
        """The search services that are set up, as one; `None` without any."""
        from asky.research.search_cache import RememberedSearch
        from asky.search.federation import Federation

        if not self.providers:
            return None
        ttl_s = self._services.config.research.cache.search_ttl_hours * _HOUR_S
        return RememberedSearch(Federation(self.providers), self._services.searches, ttl_s=ttl_s)

    @cached_property
    def cache(self) -> ResearchCache:
        """Pages, fetched or kept. What is too old is forgotten beside the first use."""
        from asky.research.cache import ResearchCache

        services = self._services
        self.purge.start()
        return ResearchCache(
            services.pages,
            services.corpus,
            services.documents,
            services.ingester,
            fetcher=None if self.offline else self._fetcher(),
            read_document=services.readers.read,
            settings=self._cache_settings(),
            browse=self._browse(),
        )

    @cached_property
    def purge(self) -> Purge:
        from asky.research.purge import Purge

        services = self._services
        return Purge(services.pages, services.searches, services.text_vectors, self._cache_settings())

    @cached_property
    def page_acquirer(self) -> PageAcquirer:
        """Reads pages into collections."""
        from asky.research.acquire_pages import PageAcquirer

        services = self._services
        return PageAcquirer(
            self.cache,
            services.pages,
            services.corpus,
            services.documents,
            policy=self.policy,
            is_offline=self.offline,
            listener=services.listener,
        )

    def _cache_settings(self) -> CacheSettings:
        from asky.research.cache import CacheSettings

        chosen = self._services.config.research.cache
        return CacheSettings(chosen.ttl_hours * _HOUR_S, chosen.max_mb * _MIB)

    def _fetcher(self) -> GuardedFetcher:
        from asky.net.fetcher import open_fetcher

        return open_fetcher(self._services.config.network, self.pace, self.budget)

    def _browse(self) -> Browse | None:
        network = self._services.config.network
        if self.offline or not network.browser:
            return None
        from asky.net.browser import open_browser_fetcher  # for pages that need JavaScript, where the user wants them

        return open_browser_fetcher(network, self.pace).fetch

    # for a run

    def open(self, run: ResearchRun, access: WebAccess, *, is_private: bool) -> WebRun:
        """See `asky.chat.web_access.Web`."""
        from asky.research.web import WebRun

        services = self._services
        policy = access.policy or self.policy
        return WebRun(
            run,
            collection_id=access.collection_id,
            cache=self.cache,
            searcher=self.searcher,
            make_shortlist=partial(self._shortlist, policy),
            corpus=services.corpus,
            runs=services.runs,
            acquirer=services.acquirer,
            max_results=services.config.search.max_results,
            policy=policy,
            is_private=is_private,
            listener=services.listener,
            finder=self.finder,
            named=access.named,
        )

    @cached_property
    def policy(self) -> SourcePolicy:
        """Which sources the user wants. Raises `UsageError` for what is no domain."""
        from asky.research.source_policy import SourcePolicy, parse_domains

        chosen = self._services.config.research.sources
        return SourcePolicy(
            allow_domains=parse_domains(chosen.allow_domains),
            deny_domains=parse_domains(chosen.deny_domains),
            kinds=chosen.kinds,
        )

    async def _shortlist(self, policy: SourcePolicy, question: str, search: SearchAll, read: ReadPage) -> Shortlist:
        from asky.research.source_shortlist import source_shortlist

        services = self._services
        return await source_shortlist(
            question,
            search=search,
            read=read,
            embed=services.vectors.embed_texts,
            settings=services.config.research.shortlist,
            policy=policy,
            today=datetime.now(timezone.utc).date(),
            listener=services.listener,
        )

    def summaries(self, summarise: Summarise | None) -> Summaries:
        """See `asky.chat.web_access.Web`."""
        from asky.research.web_summaries import Summaries

        return Summaries(self._services.pages, self._services.vectors, summarise)

    def cached(self) -> int | None:
        """See `asky.chat.web_access.Web`."""
        from asky.storage.pages import CACHE_COLLECTION
        from asky.storage.scope import Scope

        corpus = self._services.corpus
        if CACHE_COLLECTION not in corpus.collections():
            return None
        collection_id = corpus.collection(CACHE_COLLECTION)
        return collection_id if corpus.count_sources(Scope((collection_id,))) else None
