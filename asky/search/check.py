"""Whether a search service works as it is set up: one tiny search, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from asky.errors import AskyError
from asky.search.port import SearchProvider, SearchRequest

_QUERY = "wikipedia"
"""A word that every service finds something for."""


@dataclass(frozen=True, slots=True)
class ServiceCheck:
    """What a service did: `results` of the search, or its `error`. No results and no error is an odd service.

    `seconds` are those of the whole search, the wait for its turn included.
    """

    name: str
    host: str
    seconds: float
    results: int = 0
    notes: tuple[str, ...] = ()
    error: AskyError | None = None

    @property
    def works(self) -> bool:
        """Whether it found anything."""
        return self.error is None and self.results > 0


async def check_service(provider: SearchProvider, clock: Callable[[], float]) -> ServiceCheck:
    """Search once with `provider`, which may cost what a search costs. Raises nothing that the service causes."""
    started_at = clock()
    try:
        found = await provider.search(SearchRequest(_QUERY, max_results=3))
    except AskyError as error:
        return ServiceCheck(provider.name, provider.host, clock() - started_at, error=error)
    return ServiceCheck(provider.name, provider.host, clock() - started_at, len(found.candidates), found.notes)
