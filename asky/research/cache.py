"""`ResearchCache`: a cache of web pages and their links, so that no page is requested again without need.

A page is fresh for a while and then revalidated; changed content becomes a new document, and the vectors of the old one
are removed with it. An address that could not be read is not retried for a minute.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

import anyio

from asky.concurrency import failure, in_thread
from asky.errors import AskyError, SourceRefused, SourceUnreadable, StorageError
from asky.net.fetching import ignore_host
from asky.reading.limits import OMITTED
from asky.reading.web_types import media_type_of_response
from asky.research.page import WebPage
from asky.storage.pages import CACHE_COLLECTION, PageRow
from asky.text.urls import canonical_url, host_of
from asky.values import Source, SourceKind, source_id

if TYPE_CHECKING:
    from asky.net.fetching import Fetched, Fetcher, Reached
    from asky.research.corpus.ingest import Ingester
    from asky.storage.corpus import CorpusStore
    from asky.storage.documents import DocumentStore
    from asky.storage.pages import PageTable
    from asky.values import Document

_FAILURE_S = 60.0  # a page that failed may recover in a minute, and a run may name it several times
_USE_S = 600.0  # last-use times are accurate to ten minutes, so that reading a page again rarely waits for the disk
_GRACE_S = 0.1
_SHOWN_PATH = 80
_KEPT_CHARS = 1024 * 1024
"""Maximum number of characters kept of a page, from its beginning, unless all of it is wanted: some 300 printed pages.

Source: chunking this much takes .4 to 1 s, of Chinese 2.6 s, and one page is chunked at a time; 10 MB of HTML took 4 to
10 s, while all pages of a question together have 12 s.
"""


class KnownFailure(SourceUnreadable):
    """An address that is not requested, because it failed a moment ago or because the network is not allowed."""


class ReadDocument(Protocol):
    """Converts a page's bytes to a document; `asky.reading.process.pool.ReaderPool.read`."""

    def __call__(
        self,
        data: bytes,
        *,
        name: str,
        media_type: str,
        url: str | None = None,
        charset: str | None = None,
        keep_chars: int | None = None,
        wait_s: float = math.inf,
    ) -> Document: ...


Browse = Callable[[str, "Reached"], Awaitable["Fetched"]]
"""Fetches a page as rendered by a browser; `asky.net.browser.fetcher.BrowserFetcher.fetch`."""


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """The time that a page stays fresh, in seconds, and the limit on stored text, in bytes."""

    ttl_s: float
    max_bytes: int


class ResearchCache:
    """Reads pages, from the cache if possible. While a host fails, the older version is used.

    Without a `fetcher` only cached pages are read, however old. `browse` renders a page that needs JavaScript in a
    browser. `now` gives seconds since 1970.
    """

    def __init__(
        self,
        pages: PageTable,
        corpus: CorpusStore,
        documents: DocumentStore,
        ingester: Ingester,
        *,
        fetcher: Fetcher | None,
        read_document: ReadDocument,
        settings: CacheSettings,
        browse: Browse | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._pages = pages
        self._corpus = corpus
        self._documents = documents
        self._ingester = ingester
        self._fetcher = fetcher
        self._read_document = read_document
        self._settings = settings
        self._browse = browse
        self._now = now
        self._reading: dict[str, anyio.Lock] = {}
        # Chunk and store one page at a time: this is CPU-bound Python work, and takes memory.
        self._keeping = anyio.CapacityLimiter(1)

    async def cache_url(
        self,
        url: str,
        *,
        named_by_user: bool = False,
        whole: bool = False,
        again: bool = False,
        kind: SourceKind = "web",
        reached: Reached = ignore_host,
    ) -> WebPage:
        """Return the page at `url`, fetched if it is not cached or no longer fresh.

        `named_by_user` says that the user named this address, `whole` that a page fetched now is stored in full,
        however long; `reached` is called for every host contacted now, whatever the result. Concurrent readers of one
        address wait for each other. Parsing a page ends with the deadline of the caller. Raises what the fetcher and
        the readers raise; `KnownFailure` with the verdict of the first failure for an address that failed within the
        last minute, unless it is to be tried `again`, and with `not_cached` if there is no fetcher.
        """
        try:
            key = canonical_url(url)
        except ValueError as error:
            raise SourceRefused(str(error)) from None
        async with self._reading.setdefault(key, anyio.Lock()):
            row = await in_thread(self._pages.get, key)
            kept = await in_thread(self._kept, row, again) if row is not None else None
            if kept is not None:
                return kept
            if self._fetcher is None:
                raise KnownFailure("it is not in the cache", verdict="not_cached", hint="omit --offline to fetch it")
            try:
                return await self._fetch(
                    self._fetcher, url, key, row, named_by_user=named_by_user, whole=whole, kind=kind, reached=reached
                )
            except SourceRefused:
                raise  # the policy may change at any time
            except AskyError as error:
                if isinstance(error, StorageError):
                    raise
                stale = await in_thread(self._stale, row) if row is not None and _may_pass(error) else None
                if stale is not None:
                    return stale
                await in_thread(self._keep_failure, key, row, error)
                raise

    def _kept(self, row: PageRow, again: bool) -> WebPage | None:
        """Return the page of a row if it is usable. Raises for an address that failed a moment ago, unless `again`."""
        now = self._now()
        is_fresh = row.fresh_until(self._settings.ttl_s) > now
        if row.failure is not None:
            if is_fresh and not again:
                raise KnownFailure(row.failure.message, verdict=row.failure.code, hint=row.failure.hint)
            return None
        if not is_fresh and self._fetcher is not None:
            return None
        if now - row.used_at >= _USE_S:
            self._pages.note_use([row.url], now)
        return self._page(row, was_cached=True)

    def _stale(self, row: PageRow) -> WebPage | None:
        """Return the older version of an address: better than nothing while its host fails."""
        page = self._page(row, was_cached=True)
        return replace(page, is_stale=True) if page is not None else None

    def _page(self, row: PageRow, *, was_cached: bool) -> WebPage | None:
        """Return the page of a row; `None` if its text has been removed in the meantime."""
        if row.source_id is None:
            return None
        source = self._corpus.source(row.source_id)
        document_id = self._corpus.current_document(row.source_id)
        if source is None or document_id is None:
            return None
        document = replace(self._documents.document(document_id), links=row.links)
        return WebPage(source, document_id, document, was_cached, row.is_cut)

    async def _fetch(
        self,
        fetcher: Fetcher,
        url: str,
        key: str,
        row: PageRow | None,
        *,
        named_by_user: bool,
        whole: bool,
        kind: SourceKind,
        reached: Reached,
    ) -> WebPage:
        has_text = row is not None and row.source_id is not None
        fetched = await fetcher.fetch(
            url,
            etag=row.etag if row is not None and has_text else None,
            last_modified=row.last_modified if row is not None and has_text else None,
            named_by_user=named_by_user,
            reached=reached,
        )
        if fetched.status == 304 and row is not None:
            now = self._now()
            await in_thread(lambda: self._pages.renew(key, fetched_at=now, expires_at=now + self._settings.ttl_s))
            page = await in_thread(lambda: self._page(row, was_cached=False))
            if page is not None:
                return page
            fetched = await fetcher.fetch(url, named_by_user=named_by_user, reached=reached)
        try:
            document = await in_thread(self._read, fetched, _left_s(), whole)
        except SourceUnreadable as error:
            if error.verdict != "needs_javascript" or self._browse is None:
                raise
            # requested again: a browser pins the addresses of a whole visit
            rendered = await self._browse(fetched.url, reached)
            fetched = replace(rendered, requested=fetched.requested)
            document = await in_thread(self._read, fetched, _left_s(), whole)
        fetched = replace(fetched, body=b"")  # it may have to wait, and would keep the bytes in memory
        return await in_thread(self._keep, fetched, document, key, kind, limiter=self._keeping)

    def _read(self, fetched: Fetched, wait_s: float, whole: bool) -> Document:
        return self._read_document(
            fetched.body,
            name=_shown(fetched.url),
            media_type=media_type_of_response(fetched.url, fetched.media_type, fetched.charset, fetched.body),
            url=fetched.url,
            charset=fetched.charset,
            keep_chars=None if whole else _KEPT_CHARS,
            wait_s=wait_s,
        )

    def _keep(self, fetched: Fetched, document: Document, key: str, kind: SourceKind) -> WebPage:
        is_cut = fetched.is_cut or OMITTED in document.metadata
        uri = canonical_url(fetched.url)
        now = self._now()
        source = Source(
            source_id(uri), kind, uri, document.title or _shown(fetched.url), url=fetched.url, fetched_at=_written(now)
        )
        cut = self._ingester.cut(document)
        stored = self._ingester.keep(source, document, cut, self._corpus.collection(CACHE_COLLECTION, create=True))
        row = PageRow(
            url=key,
            final_url=fetched.url,
            fetched_at=now,
            expires_at=now + self._settings.ttl_s,
            used_at=now,
            source_id=source.id,
            etag=None if is_cut else fetched.etag,
            last_modified=None if is_cut else fetched.last_modified,
            links=document.links,
            is_cut=is_cut,
            bytes=len(document.text.encode("utf-8")),
        )
        self._pages.put(row)
        if uri != key:
            self._pages.put(replace(row, url=uri))
        return WebPage(source, stored.id, document, was_cached=False, is_cut=is_cut)

    def _keep_failure(self, key: str, row: PageRow | None, error: AskyError) -> None:
        """Record that an address failed, unless it has a text, which is better than none."""
        if row is not None and row.source_id is not None:
            return
        now = self._now()
        reported = failure(error, key)
        if isinstance(error, SourceUnreadable):
            reported = replace(reported, code=error.verdict)
        self._pages.put(PageRow(key, key, now, now + _FAILURE_S, now, failure=reported))


def _may_pass(error: AskyError) -> bool:
    """Return whether the failure is temporary: of the host rather than of the page."""
    return error.retryable or (isinstance(error, SourceUnreadable) and error.verdict in ("failed", "truncated"))


def _left_s() -> float:
    """Return the seconds that the caller still waits, and a little more: exceeding them is left to the caller."""
    return anyio.current_effective_deadline() - anyio.current_time() + _GRACE_S


def _shown(url: str) -> str:
    """Return a page for a message: host and path only, because the rest may be secret."""
    return host_of(url) + urlsplit(url).path[:_SHOWN_PATH]


def _written(now: float) -> str:
    return datetime.fromtimestamp(now, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
