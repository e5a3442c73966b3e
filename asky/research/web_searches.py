"""The searches of one run: what may be searched for, what is counted and told of it, and which papers were found."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from asky.concurrency import failure
from asky.errors import AskyError, NotConfigured, StorageError
from asky.net.breaker import Resting
from asky.research.outgoing import OutgoingQueries
from asky.research.shortfall import WHOLE_SEARCH
from asky.search.federation import Ask, FederatedResults, ask_service
from asky.search.port import SearchProvider, SearchRequest, SearchResults
from asky.text.urls import canonical_url

if TYPE_CHECKING:
    from asky.research.tools import ResearchRun
    from asky.research.web_ledger import WebLedger
    from asky.search.port import Candidate, Recency

_PRIVATE_KINDS = ("file", "note")


class Searcher(Protocol):
    """Asks search services; `asky.research.search_cache.RememberedSearch`."""

    @property
    def services(self) -> Sequence[tuple[str, str]]:
        """The name and the host of each service."""
        ...

    async def search(self, requests: Sequence[SearchRequest], ask: Ask = ask_service) -> FederatedResults:
        """What the services found; each that must be asked is by `ask`."""
        ...


def _as_it_is(ask: Ask) -> Ask:
    return ask


class WebSearches:
    """The searches of one run. `searcher` is `None` where no search service is set up.

    `outgoing` watches the queries of a run that can read private documents. `recorded` puts a record in between, where
    the run has one: it makes of the way to ask a service one that asks for nothing twice. `papers` are those that were
    found, by canonical address.
    """

    def __init__(
        self, run: ResearchRun, searcher: Searcher | None, ledger: WebLedger, *, max_results: int, is_private: bool
    ) -> None:
        self.outgoing = OutgoingQueries([])
        self.recorded: Callable[[Ask], Ask] = _as_it_is
        self.papers: dict[str, Candidate] = {}
        self._run = run
        self._searcher = searcher
        self._ledger = ledger
        self._max_results = max_results
        self._is_private = is_private

    @property
    def is_possible(self) -> bool:
        """Whether any service is set up."""
        return self._searcher is not None

    @property
    def has_secrets(self) -> bool:
        """Whether the model may know what must stay here: private documents, or what it was told beside sources."""
        return self._is_private or bool(self._run.private_notes)

    async def search(self, queries: Sequence[str], recency: Recency | None) -> FederatedResults:
        """What the services find for all queries together, each sent once.

        Raises what `Federation.search` raises, `NotConfigured` without a service, and `SourceRefused` for a model's
        query that repeats a private document.
        """
        if self._searcher is None:
            raise NotConfigured("no search service is set up", hint="`asky config set search.searxng.base_url URL`")
        wanted = list(dict.fromkeys(queries))
        self._require_harmless(wanted)
        requests = [SearchRequest(query, self._max_results, recency) for query in wanted]
        try:
            found = await self._searcher.search(requests, self.recorded(self._telling(self._searcher.services)))
        except StorageError:
            raise
        except AskyError as error:
            sent = not isinstance(error, Resting)
            unheard = [(name, host if sent else "") for name, host in self._searcher.services]
            await self._ledger.note_search(wanted, unheard, (), (failure(error, WHOLE_SEARCH),))
            raise
        self._remember_papers(found.candidates)
        hosts: dict[str, str] = {}
        for each in found.asked:
            hosts[each.provider] = hosts.get(each.provider) or each.host
        urls = [each.url for each in found.candidates]
        await self._ledger.note_search(wanted, tuple(hosts.items()), urls, found.failures)
        return found

    def _telling(self, services: Sequence[tuple[str, str]]) -> Ask:
        """Asks a service, and says and counts each request once, however many get it: before any of them is asked."""
        told: set[SearchRequest] = set()

        async def ask(provider: SearchProvider, request: SearchRequest) -> SearchResults:
            if request not in told:
                told.add(request)
                self._ledger.note_sending(request.query, services, is_private=self.has_secrets)
            return await ask_service(provider, request)

        return ask

    def _remember_papers(self, candidates: Iterable[Candidate]) -> None:
        for each in candidates:
            if each.kind == "paper":
                with contextlib.suppress(ValueError):  # no address that could be asked for
                    self.papers[canonical_url(each.url)] = each

    def _require_harmless(self, queries: Sequence[str]) -> None:
        if not self.has_secrets:
            return
        shown = self._run.shown.values()
        private = [each.text for each in shown if each.source.kind in _PRIVATE_KINDS] + self._run.private_notes
        public = [each.text for each in shown if each.source.kind not in _PRIVATE_KINDS]
        self.outgoing.require(queries, self._run.question, private, public)
