"""A cache of what registries say about papers: looking one up again soon would tell the same."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.concurrency import in_thread
from asky.errors import StoreDamaged
from asky.research.web.search_cache import decode_candidates
from asky.search.identifiers import Identifier
from asky.search.lookup import FoundPaper, Notice
from asky.storage.stored_json import FOUND_PAPERS, stored_json

if TYPE_CHECKING:
    from asky.search.lookup import PaperLookup
    from asky.storage.pages import SearchTable


class CachedLookup:
    """A `PaperLookup` that asks `lookup` unless it has answered about the same identifier within `ttl_s` seconds.

    That it has no record is an answer, too. Failures are not cached, nor is a paper whose notices could not be checked.
    """

    def __init__(
        self, lookup: PaperLookup, table: SearchTable, *, ttl_s: float, now: Callable[[], float] = time.time
    ) -> None:
        self.name = lookup.name
        self.host = lookup.host
        self._lookup = lookup
        self._table = table
        self._ttl_s = ttl_s
        self._now = now

    async def lookup(self, identifier: Identifier) -> FoundPaper | None:
        """See `PaperLookup`. Raises `StorageError` as well."""
        key = self._key(identifier)
        kept = await in_thread(self._kept, key)
        if kept is not None:
            return next(iter(kept), None)
        found = await self._lookup.lookup(identifier)
        if found is None or not found.unchecked:
            text = json.dumps([asdict(found)] if found else [], ensure_ascii=False)
            await in_thread(lambda: self._table.put(key, text, expires_at=self._now() + self._ttl_s))
        return found

    def _kept(self, key: str) -> list[FoundPaper] | None:
        """Return a recent answer, a list with the paper or an empty one; `None` without one that can be decoded."""
        try:
            kept = self._table.get(key, self._now())
            return None if kept is None else _decode(stored_json(kept, FOUND_PAPERS, "what a registry has of a paper"))
        except StoreDamaged:  # it is looked up again, and the entry replaced
            return None

    def _key(self, identifier: Identifier) -> str:
        key_parts = ["lookup", self._ttl_s, self.name, self.host, asdict(identifier)]
        return hashlib.sha256(json.dumps(key_parts).encode()).hexdigest()


def _decode(packed: Iterable[Mapping[str, Any]]) -> list[FoundPaper]:
    return [
        FoundPaper(
            decode_candidates([each["candidate"]])[0],
            _identifiers(each["ids"]),
            _identifiers(each["same_as"]),
            tuple(
                Notice(**{**one, "identifier": next(iter(_identifiers([one["identifier"]])), None)})
                for one in each["notices"]
            ),
            each["is_notice"],
            tuple(each["unchecked"]),
        )
        for each in packed
    ]


def _identifiers(packed: Iterable[Mapping[str, Any] | None]) -> tuple[Identifier, ...]:
    return tuple(Identifier(**each) for each in packed if each is not None)
