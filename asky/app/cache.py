"""Web pages: those that are cached, and those that a program asks for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Literal

from asky.app.records import Listing, split_damaged
from asky.app.requests import as_tuple
from asky.concurrency import in_thread
from asky.errors import SourceRefused, UsageError
from asky.evidence.unread import parts_of
from asky.research.corpus.report import unread_parts
from asky.research.memory import is_private
from asky.storage.scope import Scope
from asky.text.scrub import one_line
from asky.text.urls import canonical_url, host_of
from asky.values import PRIVATE_KINDS, OutgoingQueries, UnreadFile, decline

if TYPE_CHECKING:
    from asky.storage.pages import PageRow
    from asky.values import Approve, Document, Link
    from asky.wiring import Services

_MAX_SHOWN_CHARS = 200
_HOUR_S = 3600.0
_MAY_CARRY = "an address can carry words of your private documents to its host"
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
    """Lists, shows and deletes cached web pages; only `fetch` contacts a host."""

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
        document = self._document(page)
        return document.text if document is not None else None

    def unread(self, page: CachedPage) -> list[UnreadFile]:
        """Return the page if it could not be read, else the parts that its text lacks."""
        if page.failure is not None:
            return [UnreadFile(page.url, page.state, page.failure)]
        document = self._document(page)
        return [] if document is None else parts_of(page.url, unread_parts(document.metadata))

    def _document(self, page: CachedPage) -> Document | None:
        services = self._services
        document_id = services.corpus.current_document(page.source_id) if page.source_id is not None else None
        return services.documents.document(document_id) if document_id is not None else None

    async def fetch(self, url: str, *, approve: Approve = decline) -> CachedPage:
        """Return the page at `url`, which a program chose: fetched, unless it is cached and fresh.

        Raises as `require_approved` does, `SourceRefused` for an address that the user's policy or the guard of the
        network denies, and what fetching and reading raise.
        """
        await self.require_approved([url], approve)
        web = self._services.web(offline=False)
        self._require_wanted(url)
        page = await web.cache.cache_url(url)
        self._require_wanted(page.source.url or page.source.uri)  # it may have redirected
        return await in_thread(self.find, page.source.uri)

    async def require_approved(self, urls: Sequence[str], approve: Approve) -> None:
        """Ask the user about addresses that a program chose, each of which could carry words of a private document.

        Nothing is asked without private documents, findings and vault, nor about addresses in the cache. Raises
        `SourceRefused` if the user declines, or an address is not valid.
        """
        unknown = await in_thread(self._unknown, urls)
        if not unknown:
            return
        hosts = tuple((host, host) for host in dict.fromkeys(map(host_of, unknown)))
        if not await approve(OutgoingQueries(tuple(unknown), hosts, _MAY_CARRY)):
            raise SourceRefused(
                f"{host_of(unknown[0])}: private documents are kept here, and the address was not approved by the user",
                hint="ask for a page that is cached, or have the user run `asky corpus add URL`",
            )

    def _unknown(self, urls: Sequence[str]) -> list[str]:
        """Return the canonical addresses that are not in the cache; none without private documents."""
        services = self._services
        try:
            keys = list(dict.fromkeys(canonical_url(url) for url in urls))
        except ValueError as error:
            raise SourceRefused(str(error)) from None
        if not self._has_secrets():
            return []
        return [key for key in keys if services.pages.get(key) is None]

    def _has_secrets(self) -> bool:
        """Return whether a program may have read private text here: of documents, of findings, or of a vault."""
        services = self._services
        if services.config.notes.vault is not None or services.corpus.count_sources(Scope(), PRIVATE_KINDS):
            return True
        return any(map(is_private, services.findings.recent()))

    def _require_wanted(self, url: str) -> None:
        if reason := self._services.web(offline=False).policy.address_refusal(url):
            raise SourceRefused(
                f"{host_of(url)}: {reason}",
                hint="[research.sources] in the configuration limits the pages that are read",
            )

    def remove(self, urls: Sequence[str]) -> int:
        """Delete the pages at `urls` and return their number. Raises as `find` does; then none is deleted."""
        rows = [self._find(url) for url in as_tuple("urls", urls)]
        return self._services.pages.remove([row.url for row in rows])

    def clear(self) -> CacheStats:
        """Delete all pages, searches, failures, cached vectors and copies of vectors; return what the cache held.

        Texts that a session or another collection uses are kept.
        """
        services, before = self._services, self.stats()
        services.pages.remove([each.url for each in services.pages.pages()])
        services.searches.remove()
        services.source_records.forget_failures()
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
