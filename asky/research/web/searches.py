"""The searches of one run: query checks, accounting, and the papers found."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from asky.concurrency import failure, in_thread
from asky.errors import AskyError, NotConfigured, StorageError, UsageError
from asky.net.breaker import CircuitOpen
from asky.research.no_evidence import WEB_SEARCH
from asky.research.web.file_names import without_file_names
from asky.research.web.query_leak_guard import QueryHeldBack, QueryLeakGuard, text_and_titles
from asky.search.federation import AskService, FederatedResults, ask_service
from asky.search.port import SearchProvider, SearchRequest, SearchResults
from asky.text.letters import with_usual_characters
from asky.text.scrub import plain_query
from asky.text.urls import canonical_url
from asky.values import PRIVATE_KINDS, Approve, OutgoingQueries, decline

if TYPE_CHECKING:
    from asky.research.run import ResearchRun
    from asky.research.web.ledger import WebLedger
    from asky.search.port import Candidate, Recency


class Searcher(Protocol):
    """Queries search services; `asky.research.web.search_cache.CachedSearch`."""

    @property
    def services(self) -> Sequence[tuple[str, str]]:
        """Return the name and the host of each service."""
        ...

    async def search(self, requests: Sequence[SearchRequest], ask: AskService = ask_service) -> FederatedResults:
        """Return the results of the services, calling those that must be asked through `ask`."""
        ...


def _unrecorded(ask: AskService) -> AskService:
    return ask


class WebSearches:
    """The searches of one run. `searcher` is `None` if no search service is configured.

    `leak_guard` guards the queries of a run that can read private documents, and `approve` asks the user about those
    that it refuses. `file_names` are those of local files in the question, and `find_file_names` returns those of all
    private documents. `recorded`, if the run keeps a record, wraps the function that asks a service so that nothing is
    requested twice. `papers` are those found, by canonical address.
    """

    def __init__(
        self,
        run: ResearchRun,
        searcher: Searcher | None,
        ledger: WebLedger,
        *,
        is_private: bool,
        file_names: Sequence[str],
        find_file_names: Callable[[], Sequence[str]],
    ) -> None:
        self.leak_guard = QueryLeakGuard([])
        self.approve: Approve = decline
        self.recorded: Callable[[AskService], AskService] = _unrecorded
        self.papers: dict[str, Candidate] = {}
        self._run = run
        self._searcher = searcher
        self._ledger = ledger
        self._is_private = is_private
        self._named_files = file_names
        self._find_file_names = find_file_names
        self._file_names: Sequence[str] | None = None

    @property
    def is_possible(self) -> bool:
        """Return whether any service is configured."""
        return self._searcher is not None

    @property
    def has_secrets(self) -> bool:
        """Return whether the model may know things that must stay local: private documents or other context."""
        return self._is_private or bool(self._run.private_notes)

    async def searchable(self, text: str) -> str:
        """Return `text` without the names of private files."""
        return without_file_names(text, await self._private_file_names())

    async def search(self, queries: Sequence[str], recency: Recency | None, *, max_results: int) -> FederatedResults:
        """Return the results of the services for all queries together, each sent once.

        Of each service and query, at most `max_results` are requested.

        Raises what `Federation.search` raises, `NotConfigured` without a service, `UsageError` if no query has usual
        characters, and `QueryHeldBack` for a model's query that repeats a private document, unless the user approves
        it.
        """
        if self._searcher is None:
            raise NotConfigured("no search service is set up", hint="`asky config set search.searxng.base_url URL`")
        wanted = await self._sendable(queries)
        if not wanted:
            raise UsageError("the query is empty")
        await self._require_harmless(wanted, self._searcher.services)
        requests = [SearchRequest(query, max_results, recency) for query in wanted]
        try:
            found = await self._searcher.search(requests, self.recorded(self._reporting(self._searcher.services)))
        except StorageError:
            raise
        except AskyError as error:
            sent = not isinstance(error, CircuitOpen)
            failed = [(name, host if sent else "") for name, host in self._searcher.services]
            await self._ledger.note_search(wanted, failed, (), (failure(error, WEB_SEARCH),))
            raise
        self._remember_papers(found.candidates)
        hosts: dict[str, str] = {}
        for each in found.searches:
            hosts[each.provider] = hosts.get(each.provider) or each.host
        urls = [each.url for each in found.candidates]
        await self._ledger.note_search(wanted, tuple(hosts.items()), urls, found.failures)
        return found

    async def request_approval(self, queries: Sequence[str], reason: str) -> bool:
        """Return whether the user lets `queries`, made from private text for this `reason`, be sent as they are.

        Queries that this run has sent before are not asked about again. Without a service there is nothing to ask.
        """
        wanted = await self._sendable(queries)
        if self._searcher is None or not wanted:
            return False
        if self.leak_guard.has_sent(wanted):
            return True
        if not await self.approve(OutgoingQueries(tuple(wanted), tuple(self._searcher.services), reason)):
            return False
        self.leak_guard.approve(wanted)
        return True

    async def _sendable(self, queries: Sequence[str]) -> list[str]:
        """Return the one form of `queries` that is checked, recorded and sent, each once, without empty ones.

        Characters can carry data too, except those of the user.
        """
        usual = [
            with_usual_characters(plain_query(await self.searchable(each)), also=self._run.question) for each in queries
        ]
        return [each for each in dict.fromkeys(" ".join(each.split()) for each in usual) if each]

    async def _private_file_names(self) -> Sequence[str]:
        if not self.has_secrets:
            return self._named_files
        if self._file_names is None:
            self._file_names = [*self._named_files, *await in_thread(self._find_file_names)]
        return self._file_names

    def _reporting(self, services: Sequence[tuple[str, str]]) -> AskService:
        """Wrap asking a service so that each request is reported and counted once, before any service is asked."""
        reported: set[SearchRequest] = set()

        async def ask(provider: SearchProvider, request: SearchRequest) -> SearchResults:
            if request not in reported:
                reported.add(request)
                self._ledger.note_sending(request.query, services, is_private=self.has_secrets)
            return await ask_service(provider, request)

        return ask

    def _remember_papers(self, candidates: Iterable[Candidate]) -> None:
        for each in candidates:
            if each.kind == "paper":
                with contextlib.suppress(ValueError):  # not an address that could be requested
                    self.papers[canonical_url(each.url)] = each

    async def _require_harmless(self, queries: Sequence[str], services: Sequence[tuple[str, str]]) -> None:
        if not self.has_secrets:
            return
        shown = self._run.shown.values()
        private = [text_and_titles(each) for each in shown if each.source.kind in PRIVATE_KINDS]
        private += self._run.private_notes
        public = [text_and_titles(each) for each in shown if each.source.kind not in PRIVATE_KINDS]
        names = await self._private_file_names()
        written = without_file_names(self._run.question, names)
        try:
            self.leak_guard.require(queries, written, private, public, names)
        except QueryHeldBack as refused:
            if not await self.approve(OutgoingQueries(tuple(queries), tuple(services), refused.message)):
                raise
            self.leak_guard.approve(queries)
