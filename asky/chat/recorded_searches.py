"""The searches of a run with its record in between: what a service has answered, and was paid for, is not asked again.

Each answer of each service is a step of its own, so that those are kept that came before the run was cut. A service
that failed has none: an outage may be why the run is taken up, and what it finds then is worth having.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.chat.packing import digest
from asky.research.search_cache import pack_candidates, unpack_candidates
from asky.research.web_ledger import SEARCHED, search_entry
from asky.search.port import SearchProvider, SearchRequest, SearchResults

if TYPE_CHECKING:
    from asky.chat.recording import Record
    from asky.search.federation import Ask
    from asky.storage.runs import LedgerEntry
    from asky.storage.steps import Step


def recorded_search(ask: Ask, record: Record) -> Ask:
    """`ask` for what is not on record; what is was not sent now."""

    async def search(provider: SearchProvider, request: SearchRequest) -> SearchResults:
        key = digest(provider.name, provider.host, asdict(request))
        step = await record.take("searched", key)
        if step is not None:
            return SearchResults(unpack_candidates(step["found"]), tuple(step["notes"]), was_sent=False)
        results = await ask(provider, request)
        said = {"service": provider.name, "host": provider.host, "query": request.query}
        await record.add(
            "searched", key, {**said, "found": pack_candidates(results.candidates), "notes": list(results.notes)}
        )
        return results

    return search


def unsaid_searches(steps: Sequence[Step], ledger: Sequence[LedgerEntry]) -> list[dict[str, object]]:
    """Entries for the ledger about searches that were sent by a process which was killed before it could say so."""
    said = {
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
        if (each["query"], each["service"]) not in said
    ]
