"""Cached web pages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Literal

from asky.app.records import Listing, split_damaged
from asky.app.requests import as_tuple
from asky.errors import UsageError
from asky.text.scrub import one_line
from asky.text.urls import canonical_url

if TYPE_CHECKING:
    from asky.storage.pages import PageRow
    from asky.values import Link
    from asky.wiring import Services

_MAX_SHOWN_CHARS = 200
_HOUR_S = 3600.0
_SEE_LIST = "`asky cache list` lists the cached pages"


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A cached page, or a URL that could not be read; `failure` says why. Times are seconds since 1970.

    `bytes` is the size of its text. `is_cut` says that only the beginning of the page was read. A `stale` page is
    revalidated on its next use.
    """

    url: str
    final_url: str
    source_id: str | None
    state: Literal["fresh", "stale", "failed"]
    failure: str | None
    bytes: int
    links: tuple[Link, ...]
    is_cut: bool
    fetched_at: float
    expires_at: float


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The numbers of pages with a text, stale pages and URLs that failed, and the size of the texts with its limit.

    Pages are fresh for at most `ttl_hours`.
    """

    pages: int
    stale: int
    failures: int
    bytes: int
    max_bytes: int
    ttl_hours: float


class CacheService:
    """Lists, shows and deletes cached web pages; no host is contacted."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def list_pages(self, matching: str = "", *, limit: int | None = None) -> Listing[CachedPage]:
        """Return the pages whose URL contains `matching`, most recently used first, at most `limit`."""
        rows = split_damaged(self._services.pages.listed(matching=matching, limit=limit))
        return Listing(tuple(self._page(row) for row in rows.found), rows.damaged)

    def find(self, url: str) -> CachedPage:
        """Return the page at `url`. Raises `UsageError` if `url` is not a valid URL or is not in the cache."""
        return self._page(self._find(url))

    def read_text(self, page: CachedPage) -> str | None:
        """Return the cached text of a page, or `None` if there is none."""
        services = self._services
        document_id = services.corpus.current_document(page.source_id) if page.source_id is not None else None
        document = services.documents.document(document_id) if document_id is not None else None
        return document.text if document is not None else None

    def remove(self, urls: Sequence[str]) -> int:
        """Delete the pages at `urls` and return their number. Raises as `find` does; then none is deleted."""
        rows = [self._find(url) for url in as_tuple("urls", urls)]
        return self._services.pages.remove([row.url for row in rows])

    def clear(self) -> CacheStats:
        """Delete all pages, searches, cached vectors and copies of vectors; return what the cache held.

        Texts that a session or another collection uses are kept.
        """
        services, before = self._services, self.stats()
        services.pages.remove([each.url for each in services.pages.pages()])
        services.searches.remove()
        services.text_vectors.shrink(0)
        services.vector_files.clear()
        return before

    def stats(self) -> CacheStats:
        """Return what the cache holds and for how long pages stay fresh."""
        settings = self._services.config.research.cache
        counts = self._services.pages.counts(time.time(), ttl_s=self._ttl_s())
        return CacheStats(
            counts.pages,
            counts.stale,
            counts.failures,
            counts.bytes,
            settings.max_mb << 20,
            settings.ttl_hours,
        )

    def _find(self, url: str) -> PageRow:
        shown = one_line(url, None)[:_MAX_SHOWN_CHARS]
        try:
            row = self._services.pages.get(canonical_url(url))
        except ValueError:
            row = self._services.pages.get(url) if url.isprintable() else None  # the target of an adapter
            if row is None:
                hint = f"write the full URL, such as https://example.org/page; {_SEE_LIST}"
                raise UsageError(f"{shown!r} is not the URL of a page", hint=hint) from None
        if row is None:
            raise UsageError(f"{shown} is not in the cache", hint=_SEE_LIST)
        return row

    def _ttl_s(self) -> float:
        return self._services.config.research.cache.ttl_hours * _HOUR_S

    def _page(self, row: PageRow) -> CachedPage:
        expires_at = row.fresh_until(self._ttl_s())
        is_fresh = expires_at > time.time()
        return CachedPage(
            url=row.url,
            final_url=row.final_url,
            source_id=row.source_id,
            state="failed" if row.failure is not None else "fresh" if is_fresh else "stale",
            failure=row.failure.message if row.failure is not None else None,
            bytes=row.bytes,
            links=row.links,
            is_cut=row.is_cut,
            fetched_at=row.fetched_at,
            expires_at=expires_at,
        )


def utc_time(seconds: float) -> str:
    """Return a time in seconds since 1970 as ISO 8601 text in UTC, to the second."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
