"""The parts with which a process uses the web, created on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from functools import cached_property, partial
from typing import TYPE_CHECKING

from asky.errors import NotConfigured, UsageError
from asky.events import Warned
from asky.net.breaker import Breaker
from asky.net.fetcher import open_fetcher
from asky.net.pace import Pace
from asky.net.retry import RetryBudget
from asky.papers.online import OnlinePapers
from asky.research.cache import CacheSettings, ResearchCache
from asky.research.source_policy import SourcePolicy
from asky.research.source_shortlist import source_shortlist
from asky.research.web.lookup_cache import CachedLookup
from asky.research.web.page_acquirer import PageAcquirer
from asky.research.web.purge import Purge
from asky.research.web.run import WebRun
from asky.research.web.search_cache import CachedSearch
from asky.research.web.summaries import Summaries
from asky.search.catalog import SearchContext, finders, make_lookups, make_provider, make_providers, make_service
from asky.search.federation import Federation
from asky.search.lookup import PaperRegistries
from asky.storage.pages import CACHE_COLLECTION
from asky.storage.scope import Scope
from asky.text.addresses import parse_domains

if TYPE_CHECKING:
    from asky.config.schema import Obstacles
    from asky.net.fetcher import GuardedFetcher
    from asky.research.cache import Browse
    from asky.research.page import ReadPage
    from asky.research.run import ResearchRun
    from asky.research.shortlist_types import SearchAll, Shortlist
    from asky.research.web.access import WebAccess
    from asky.research.web.open_copies import CopyFinder
    from asky.research.web.summaries import Summarise
    from asky.search.port import SearchProvider
    from asky.wiring import Services

_MIB = 1024 * 1024
_HOUR_S = 3600.0
_TITLE_SERVICES = ("crossref", "openalex")


class WebParts:
    """The web for the runs of one process; an `asky.research.web.access.Web`.

    With `offline`, nothing is searched or fetched: only cached pages are used. `obstacles` say when the breaker opens
    and for how long, if not as usual.
    """

    def __init__(
        self, services: Services, environ: Mapping[str, str], *, offline: bool, obstacles: Obstacles | None = None
    ) -> None:
        self.offline = offline
        self._obstacles = obstacles
        self._services = services
        self._environ = environ

    def close(self) -> None:
        """Stop background work."""
        purge: Purge | None = vars(self).get("purge")
        if purge is not None:
            purge.stop()

    @cached_property
    def pace(self) -> Pace:
        """The pace of requests to hosts and services, shared by all processes."""
        return Pace(self._services.paths.state / "net")

    @cached_property
    def breaker(self) -> Breaker:
        """The circuit breaker for services, shared by all processes."""
        folder, own = self._services.paths.state / "net", self._obstacles
        if own is None:
            return Breaker(folder)
        return Breaker(folder, threshold=own.breaker_failures, open_s=own.breaker_rest_s)

    @cached_property
    def budget(self) -> RetryBudget:
        """The budget for retries, shared by searches and pages."""
        return RetryBudget()

    @cached_property
    def context(self) -> SearchContext:
        """The parts that search services share."""
        return SearchContext(self._environ, self.pace, self.breaker, budget=self.budget)

    @cached_property
    def providers(self) -> tuple[SearchProvider, ...]:
        """The configured search services; none if `offline`."""
        return () if self.offline else make_providers(self._services.config.search, self.context)

    @cached_property
    def finder(self) -> CopyFinder | None:
        """The finder of open copies of papers, if enabled with an email address; `None` if `offline`."""
        from asky.search.providers.unpaywall import NAME, make

        search = self._services.config.search
        if self.offline or NAME not in finders(search):
            return None
        try:
            return make(make_service(NAME, search, self.context))
        except NotConfigured as error:  # papers are read without it
            self._services.listener(Warned(error.message, error.hint))
            return None

    @cached_property
    def searcher(self) -> CachedSearch | None:
        """The configured search services as one, or `None` without any."""
        return self._searcher_of(self.providers)

    def _searcher_of(self, providers: Sequence[SearchProvider]) -> CachedSearch | None:
        if not providers:
            return None
        ttl_s = self._services.config.research.cache.search_ttl_hours * _HOUR_S
        return CachedSearch(Federation(providers), self._services.searches, ttl_s=ttl_s)

    @cached_property
    def registries(self) -> PaperRegistries | None:
        """The registries that papers are looked up in; `None` if `offline`."""
        if self.offline:
            return None
        services = self._services
        ttl_s = services.config.research.cache.ttl_hours * _HOUR_S
        lookups = make_lookups(services.config.search, self.context)
        return PaperRegistries(CachedLookup(each, services.searches, ttl_s=ttl_s) for each in lookups)

    @cached_property
    def papers(self) -> OnlinePapers:
        """Papers by their ids and addresses. Raises `UsageError` if `offline`."""
        if self.registries is None:
            raise UsageError("--offline excludes looking papers up", hint="leave out --offline")
        return OnlinePapers(self.registries, self._fetcher(), self.finder, self.policy, self.titles)

    @cached_property
    def titles(self) -> CachedSearch:
        """The services that know papers by their titles."""
        services = self._services
        search, ttl_s = services.config.search, services.config.research.cache.search_ttl_hours * _HOUR_S
        providers = [make_provider(name, search, self.context) for name in _TITLE_SERVICES]
        return CachedSearch(Federation(providers), services.searches, ttl_s=ttl_s)

    @cached_property
    def cache(self) -> ResearchCache:
        """Pages, fetched or cached. The first use starts purging old ones in the background."""
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
        services = self._services
        return Purge(services.pages, services.searches, services.text_vectors, self._cache_settings())

    @cached_property
    def page_acquirer(self) -> PageAcquirer:
        """Adds pages to collections."""
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
        chosen = self._services.config.research.cache
        return CacheSettings(chosen.ttl_hours * _HOUR_S, chosen.max_mb * _MIB)

    def _fetcher(self) -> GuardedFetcher:
        return open_fetcher(self._services.config.network, self.pace, self.budget)

    def _browse(self) -> Browse | None:
        network = self._services.config.network
        if self.offline or not network.browser:
            return None
        from asky.net.browser.fetcher import (
            open_browser_fetcher,  # only if enabled for pages that need JavaScript
        )

        return open_browser_fetcher(network, self.pace).fetch

    # for a run

    def open(self, run: ResearchRun, access: WebAccess, *, is_private: bool) -> WebRun:
        """See `asky.research.web.access.Web`."""
        services = self._services
        policy = access.policy or self.policy
        return WebRun(
            run,
            collection_id=access.collection_id,
            cache=self.cache,
            searcher=self._searcher_of([each for each in self.providers if each.name in access.services])
            if access.services
            else self.searcher,
            make_shortlist=partial(self._shortlist, policy),
            corpus=services.corpus,
            runs=services.runs,
            acquirer=services.acquirer,
            max_results=services.config.search.max_results,
            max_candidates=services.config.research.shortlist.max_candidates,
            policy=policy,
            is_private=is_private,
            listener=services.listener,
            finder=self.finder,
            named=access.named,
            file_names=access.file_names,
        )

    @cached_property
    def policy(self) -> SourcePolicy:
        """The configured source policy. Raises `UsageError` for an invalid domain."""
        chosen = self._services.config.research.sources
        return SourcePolicy(
            allow_domains=parse_domains(chosen.allow_domains),
            deny_domains=parse_domains(chosen.deny_domains),
            kinds=chosen.kinds,
        )

    async def _shortlist(self, policy: SourcePolicy, question: str, search: SearchAll, read: ReadPage) -> Shortlist:
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
        """See `asky.research.web.access.Web`."""
        return Summaries(self._services.pages, self._services.vectors, summarise)

    def cached(self) -> int | None:
        """See `asky.research.web.access.Web`."""
        corpus = self._services.corpus
        if CACHE_COLLECTION not in corpus.collections():
            return None
        collection_id = corpus.collection(CACHE_COLLECTION)
        return collection_id if corpus.count_sources(Scope((collection_id,))) else None
