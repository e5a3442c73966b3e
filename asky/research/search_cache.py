"""Searches that were made a moment ago are not made again: they cost money, and the answer would be the same."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.concurrency import in_thread
from asky.errors import StoreDamaged
from asky.search.federation import Ask, FederatedResults, ask_service
from asky.search.port import Candidate, Found, SearchRequest
from asky.storage.stored_json import SHAPES, stored_json

if TYPE_CHECKING:
    from asky.search.federation import Federation
    from asky.storage.pages import SearchTable


class RememberedSearch:
    """Searches through `federation`, unless the same services were asked the same within `ttl_s` seconds.

    What was remembered for another time than `ttl_s` is not used: who changes it wants other answers. What single
    services could not answer is not remembered, nor what was not all asked just now.
    """

    def __init__(
        self, federation: Federation, table: SearchTable, *, ttl_s: float, now: Callable[[], float] = time.time
    ) -> None:
        self._federation = federation
        self._table = table
        self._ttl_s = ttl_s
        self._now = now

    @property
    def services(self) -> tuple[tuple[str, str], ...]:
        """The name and the host of each service."""
        return tuple((each.name, each.host) for each in self._federation.providers)

    async def search(self, requests: Sequence[SearchRequest], ask: Ask = ask_service) -> FederatedResults:
        """What the services found, of which those that must be asked are by `ask`. Raises as `Federation.search` does.

        Of what was kept from before, it is not known who was asked.
        """
        key = self._key(requests)
        kept = await in_thread(self._kept, key)
        if kept is not None:
            return FederatedResults(kept, (), ())
        found = await self._federation.search(requests, ask)
        if not found.failures and all(each.host for each in found.asked):
            text = json.dumps(pack_candidates(found.candidates), ensure_ascii=False)
            await in_thread(lambda: self._table.put(key, text, expires_at=self._now() + self._ttl_s))
        return found

    def _kept(self, key: str) -> tuple[Candidate, ...] | None:
        """What was found a moment ago; `None` where nothing was asked, or what was kept of it cannot be read."""
        try:
            kept = self._table.get(key, self._now())
            what = "what a search found"
            return None if kept is None else unpack_candidates(stored_json(kept, SHAPES["search", "results"], what))
        except StoreDamaged:  # it is asked again, and then replaced
            return None

    def _key(self, requests: Sequence[SearchRequest]) -> str:
        asked = [self._ttl_s, self.services, [asdict(each) for each in requests]]
        return hashlib.sha256(json.dumps(asked, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def pack_candidates(candidates: Iterable[Candidate]) -> list[dict[str, Any]]:
    """Candidates as JSON."""
    return [asdict(each) for each in candidates]


def unpack_candidates(packed: Iterable[Mapping[str, Any]]) -> tuple[Candidate, ...]:
    """What `pack_candidates` packed."""
    return tuple(
        Candidate(
            **{**each, "found": tuple(Found(**found) for found in each["found"]), "authors": tuple(each["authors"])}
        )
        for each in packed
    )
