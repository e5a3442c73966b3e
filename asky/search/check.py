"""Check of a search service: one tiny search, and its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from asky.errors import AskyError
from asky.search.port import SearchProvider, SearchRequest

_QUERY = "wikipedia"
"""A word that every service finds something for."""


@dataclass(frozen=True, slots=True)
class ServiceCheck:
    """The result of a check: `results` of the search, or its `error`. No results and no error is suspicious.

    `seconds` cover the whole search, including the wait for its turn.
    """

    name: str
    host: str
    seconds: float
    results: int = 0
    notes: tuple[str, ...] = ()
    error: AskyError | None = None

    @property
    def works(self) -> bool:
        """Return whether it found anything."""
        return self.error is None and self.results > 0


async def check_service(provider: SearchProvider, clock: Callable[[], float]) -> ServiceCheck:
    """Search once with `provider`, at the cost of a search. Raises nothing that the service causes."""
    started_at = clock()
    try:
        found = await provider.search(SearchRequest(_QUERY, max_results=3))
    except AskyError as error:
        return ServiceCheck(provider.name, provider.host, clock() - started_at, error=error)
    return ServiceCheck(provider.name, provider.host, clock() - started_at, len(found.candidates), found.notes)
