"""Accounting of a run's web use, reported to the user and to the run's ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import anyio

from asky.concurrency import failure, in_thread
from asky.errors import NotConfigured, SourceRefused, SourceUnreadable
from asky.events import PageRead, QuerySent, Warned, WebSearched
from asky.research.cache import KnownFailure
from asky.research.no_evidence import WEB_SEARCH

if TYPE_CHECKING:
    from asky.errors import AskyError
    from asky.events import Listener
    from asky.research.page import WebPage
    from asky.research.shortlist_types import Shortlist
    from asky.research.web.open_copies import CopyFinder
    from asky.search.port import OpenCopy
    from asky.storage.runs import RunStore
    from asky.values import Document, Failure


@dataclass(slots=True)
class WebUse:
    """A run's usage: searches sent, pages fetched, and pages served from the cache."""

    searches: int = 0
    fetches: int = 0
    cache_hits: int = 0


SEARCHED = "web_searched"
"""The kind of a ledger entry for a search that was sent."""


class WebLedger:
    """Counts the web use of run `run_id`, and records in its ledger what was sent where and with what result."""

    def __init__(self, runs: RunStore, run_id: str, listener: Listener) -> None:
        self.use = WebUse()
        self._runs = runs
        self._run_id = run_id
        self._listener = listener

    async def note_policy(self, words: Sequence[str]) -> None:
        """Report the source policy, if it restricts anything."""
        if words:
            await self._record("source_policy", {"wanted": list(words)})

    def note_sending(self, query: str, services: Sequence[tuple[str, str]], *, is_private: bool) -> None:
        """Count and report a query that is about to be sent to these services (name and host)."""
        self.use.searches += 1
        self._listener(QuerySent(query, _named(services), is_private))

    async def note_search(
        self,
        queries: Sequence[str],
        services: Sequence[tuple[str, str]],
        found: Sequence[str],
        failures: Sequence[Failure],
        copies: Sequence[OpenCopy] = (),
    ) -> None:
        """Report the queries, the services used (name and host, if the query was sent there), and the results."""
        self._listener(WebSearched(tuple(queries), _named(services), len(found), tuple(failures)))
        for each in failures:
            what = (
                "the web could not be searched"
                if each.subject == WEB_SEARCH
                else f"{each.subject} could not be queried"
            )
            self._listener(Warned(f"{what}: {each.message}", each.hint))
        entry = search_entry(queries, services, found, failures)
        if copies:  # of papers: readers who cite one need to know the version
            entry["copies"] = [asdict(each) for each in copies]
        await self._record(SEARCHED, entry)

    async def note_lookup(self, finder: CopyFinder, doi: str, copy: OpenCopy | None, error: AskyError | None) -> None:
        """Count a request to `finder`, and report the paper it was asked about and its reply."""
        was_sent = not isinstance(error, NotConfigured)
        self.use.searches += was_sent
        services = ((finder.name, finder.host),) if was_sent else ()
        failures = (failure(error, finder.name),) if error is not None else ()
        copies = (copy,) if copy is not None else ()
        await self.note_search((doi,), services, [each.pdf_url or each.url for each in copies], failures, copies)

    async def note_shortlist(self, queries: Sequence[str], chosen: Shortlist) -> None:
        """Report which candidates were chosen and which were not, and why."""
        entry = {
            "queries": list(queries),
            "selected": [
                {"url": each.candidate.url, "score": round(each.score, 4), "reasons": list(each.reasons)}
                for each in chosen.selected
            ],
            "rejected": [list(each) for each in chosen.rejected],
            "read": chosen.read,
            "origins": chosen.origins,
        }
        await self._record("shortlisted", entry)

    async def note_page(self, url: str, page: WebPage, hosts: Iterable[str], *, unwanted: str | None = None) -> None:
        """Count and report a page that was read; `unwanted` says why it is not the requested PDF.

        Here and below, `hosts` are those contacted for the address.
        """
        if page.was_cached:
            self.use.cache_hits += 1
        else:
            self.use.fetches += 1
        verdict = "stale" if page.is_stale else "cached" if page.was_cached else "fetched"
        why = "its host is failing: an older copy is used" if page.is_stale else None
        if unwanted is not None:
            verdict, why = "not_a_pdf", unwanted
        await self._note_read(PageRead(url, verdict, why), hosts, at=page.source.url, unseen=_unseen(page.document))

    async def note_failed(self, url: str, error: AskyError, hosts: Sequence[str]) -> None:
        """Count an address that could not be read, and report why."""
        if isinstance(error, KnownFailure):
            self.use.cache_hits += 1
        elif hosts or not isinstance(error, SourceRefused):  # a host may be contacted before it redirects elsewhere
            self.use.fetches += 1
        verdict = error.verdict if isinstance(error, SourceUnreadable) else error.code
        await self._note_read(PageRead(url, verdict, error.message), hosts)

    async def note_given_up(self, url: str, hosts: Sequence[str]) -> None:
        """Count and report an address that timed out, if any host was contacted for it."""
        if not hosts:
            return
        self.use.fetches += 1
        with anyio.CancelScope(shield=True):  # what was sent must be recorded, even when time is up
            await self._note_read(PageRead(url, "given_up", "it did not answer in time"), hosts)

    async def note_refused(self, url: str, error: SourceRefused) -> None:
        """Report why an address was not requested at all."""
        await self._note_read(PageRead(url, error.code, error.message), ())

    async def _note_read(
        self, event: PageRead, hosts: Iterable[str], *, at: str | None = None, unseen: Mapping[str, int] | None = None
    ) -> None:
        """Report the outcome for an address; `at` is its final address.

        `unseen` counts hidden characters of the page, which were left out.
        """
        self._listener(event)
        entry: dict[str, object] = {"url": event.url, "verdict": event.verdict, "why": event.why, "at": at}
        entry |= {"hosts": list(hosts)} | ({"unseen": dict(unseen)} if unseen else {})
        await self._record("read", entry)

    async def _record(self, kind: str, entry: Mapping[str, object]) -> None:
        await in_thread(self._runs.record, self._run_id, kind, entry)


def search_entry(
    queries: Sequence[str],
    services: Sequence[tuple[str, str]],
    found: Sequence[str],
    failures: Sequence[Failure] = (),
) -> dict[str, object]:
    """Return the ledger entry of a search; see `WebLedger.note_search`."""
    entry: dict[str, object] = {
        "queries": list(queries),
        "services": [{"name": name, "host": host} for name, host in services],
        "found": list(found),
        "failures": [[each.subject, each.code, each.message] for each in failures],
    }
    hints = {each.subject: each.hint for each in failures if each.hint}
    return entry | ({"hints": hints} if hints else {})


def _named(services: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{name} ({host})" if host else name for name, host in services)


def _unseen(document: Document) -> dict[str, int]:
    """Return the counts of hidden characters of a page, by the way they are hidden."""
    counted = {name: document.metadata.get(f"{name}_characters") for name in ("hidden", "invisible")}
    return {name: int(count) for name, count in counted.items() if count}
