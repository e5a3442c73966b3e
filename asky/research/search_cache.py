"""Searches that were made a moment ago are not made again: they cost money, and the answer would be the same."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from asky.concurrency import in_thread
from asky.search.federation import FederatedResults
from asky.search.port import Candidate, Found, SearchRequest

if TYPE_CHECKING:
    from asky.search.federation import Federation
    from asky.storage.pages import SearchTable


class RememberedSearch:
    """Searches through `federation`, unless the same services were asked the same within `ttl_s` seconds.

    What single services could not answer is not remembered.
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

    async def search(self, requests: Sequence[SearchRequest]) -> tuple[FederatedResults, bool]:
        """What the services found, and whether that was kept from before. Raises what `Federation.search` raises."""
        key = self._key(requests)
        kept = await in_thread(self._table.get, key, self._now())
        if kept is not None:
            return _read(kept), True
        found = await self._federation.search(requests)
        if not found.failures:
            text = json.dumps([asdict(each) for each in found.candidates], ensure_ascii=False)
            await in_thread(lambda: self._table.put(key, text, expires_at=self._now() + self._ttl_s))
        return found, False

    def _key(self, requests: Sequence[SearchRequest]) -> str:
        asked = [self.services, [asdict(each) for each in requests]]
        return hashlib.sha256(json.dumps(asked, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def _read(text: str) -> FederatedResults:
    candidates = []
    for each in json.loads(text):
        each["found"] = tuple(Found(**found) for found in each["found"])
        each["authors"] = tuple(each["authors"])
        candidates.append(Candidate(**each))
    return FederatedResults(tuple(candidates), (), ())
