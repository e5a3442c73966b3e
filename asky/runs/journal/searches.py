"""Journaled searches: a query that a service has answered, and charged for, is not sent again.

Each answer of each service is a step of its own, so those received before an interruption are kept. A failure is not
recorded: an outage may be the reason for resuming the run, and the service may answer then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.llm.codec import digest
from asky.research.web.ledger import SEARCHED, search_entry
from asky.research.web.search_cache import decode_candidates, encode_candidates
from asky.search.port import SearchProvider, SearchRequest, SearchResults

if TYPE_CHECKING:
    from asky.runs.journal.journal import RunJournal
    from asky.search.federation import AskService
    from asky.storage.runs import LedgerEntry
    from asky.storage.steps import Step


def journaled_search(ask: AskService, journal: RunJournal) -> AskService:
    """Return `ask` with recorded results taken from the journal, marked as not sent, and others recorded."""

    async def search(provider: SearchProvider, request: SearchRequest) -> SearchResults:
        key = digest(provider.name, provider.host, asdict(request))
        step = await journal.next_step("searched", key)
        if step is not None:
            return SearchResults(decode_candidates(step["found"]), tuple(step["notes"]), was_sent=False)
        results = await ask(provider, request)
        sent = {"service": provider.name, "host": provider.host, "query": request.query}
        await journal.add(
            "searched", key, {**sent, "found": encode_candidates(results.candidates), "notes": list(results.notes)}
        )
        return results

    return search


def unlogged_searches(steps: Sequence[Step], ledger: Sequence[LedgerEntry]) -> list[dict[str, object]]:
    """Return ledger entries for recorded searches that the ledger lacks: their process was killed in between."""
    logged = {
        (query, service["name"])
        for entry in ledger
        if entry.kind == SEARCHED
        for query in entry.data["queries"]
        for service in entry.data["services"]
        if service["host"]
    }
    answered: list[dict[str, Any]] = [dict(each.data) for each in steps if each.kind == "searched"]
    return [
        search_entry([each["query"]], [(each["service"], each["host"])], [found["url"] for found in each["found"]])
        for each in answered
        if (each["query"], each["service"]) not in logged
    ]
