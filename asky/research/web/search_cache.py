"""A cache of recent searches: repeating one costs money, and the answer would be the same."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.concurrency import in_thread
from asky.errors import StoreDamaged
from asky.search.federation import AskService, FederatedResults, ask_service
from asky.search.port import Candidate, SearchRequest, ServiceRank
from asky.storage.stored_json import RESULTS, stored_json

if TYPE_CHECKING:
    from asky.search.federation import Federation
    from asky.storage.pages import SearchTable


class CachedSearch:
    """Searches through `federation`, unless the same services got the same queries within `ttl_s` seconds.

    Entries cached with another `ttl_s` are not used: a user who changes it wants fresh results. Failures of single
    services are not cached, nor are searches that did not query all services just now.
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
        """Return the name and the host of each service."""
        return tuple((each.name, each.host) for each in self._federation.providers)

    async def search(self, requests: Sequence[SearchRequest], ask: AskService = ask_service) -> FederatedResults:
        """Return the results of all services, sending any requests through `ask`.

        Raises as `Federation.search` does. Cached results do not record which services were asked.
        """
        key = self._key(requests)
        kept = await in_thread(self._kept, key)
        if kept is not None:
            return FederatedResults(kept, (), ())
        found = await self._federation.search(requests, ask)
        if not found.failures and all(each.host for each in found.searches):
            text = json.dumps(encode_candidates(found.candidates), ensure_ascii=False)
            await in_thread(lambda: self._table.put(key, text, expires_at=self._now() + self._ttl_s))
        return found

    def _kept(self, key: str) -> tuple[Candidate, ...] | None:
        """Return recent results; `None` if there are none or they cannot be decoded."""
        try:
            kept = self._table.get(key, self._now())
            what = "what a search found"
            return None if kept is None else decode_candidates(stored_json(kept, RESULTS, what))
        except StoreDamaged:  # the search is repeated, and the entry replaced
            return None

    def _key(self, requests: Sequence[SearchRequest]) -> str:
        key_parts = [self._ttl_s, self.services, [asdict(each) for each in requests]]
        return hashlib.sha256(json.dumps(key_parts, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def encode_candidates(candidates: Iterable[Candidate]) -> list[dict[str, Any]]:
    """Encode candidates as JSON."""
    return [asdict(each) for each in candidates]


def decode_candidates(packed: Iterable[Mapping[str, Any]]) -> tuple[Candidate, ...]:
    """Decode candidates encoded by `encode_candidates`."""
    return tuple(
        Candidate(
            **{
                **each,
                "found": tuple(ServiceRank(**found) for found in each["found"]),
                "authors": tuple(each["authors"]),
            }
        )
        for each in packed
    )
