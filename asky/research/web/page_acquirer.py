"""Ingestion of web pages by address: each is read through the cache and added to the collection."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asky.concurrency import gather, in_thread
from asky.errors import AskyError, SourceRefused, SourceUnreadable, StorageError, TimedOut
from asky.events import Listener, StageAdvanced, StageFinished, StageStarted, Warned
from asky.research.corpus.report import AcquireCounts, AcquireReport, unread_parts
from asky.storage.scope import Scope
from asky.text.urls import canonical_url, host_of
from asky.values import source_id

if TYPE_CHECKING:
    from asky.events import FileVerdict
    from asky.research.cache import ResearchCache
    from asky.research.page import WebPage
    from asky.research.source_policy import SourcePolicy
    from asky.storage.corpus import CorpusStore
    from asky.storage.documents import DocumentStore
    from asky.storage.pages import PageTable

_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class AddedPages:
    """The outcome for each address; `errors` are those of addresses that could not be added, in order."""

    report: AcquireReport
    errors: tuple[AskyError, ...]


class PageAcquirer:
    """Ingests pages into collections. `is_offline` says that nothing can be fetched. `now` gives seconds since 1970."""

    def __init__(
        self,
        cache: ResearchCache,
        pages: PageTable,
        corpus: CorpusStore,
        documents: DocumentStore,
        *,
        policy: SourcePolicy,
        is_offline: bool,
        listener: Listener,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._cache = cache
        self._pages = pages
        self._corpus = corpus
        self._documents = documents
        self._policy = policy
        self._is_offline = is_offline
        self._listener = listener
        self._now = now

    async def add(self, collection: str, urls: Sequence[str]) -> AddedPages:
        """Read the pages at `urls`, which the user named, and make them sources of `collection`.

        Every host is asked again, whatever the cache holds; unchanged pages keep their text and vectors. A page that
        cannot be read is listed as an error and changes nothing, and the others continue; a new collection is created
        with its first page. Raises `ValueError` for anything but an http or https address, and `StorageError`.
        """
        wanted = list({canonical_url(url): url for url in reversed(urls)}.values())[::-1]
        counts = AcquireCounts(self._listener)
        done = 0

        async def add_one(url: str) -> AskyError | None:
            nonlocal done
            try:
                await self._add(collection, url, counts)
            except StorageError:
                raise
            except AskyError as error:
                counts.record(url, _verdict(error), error.message)
                return error
            finally:
                done += 1
                self._listener(StageAdvanced("read", done, len(wanted)))
            return None

        self._listener(StageStarted("read", len(wanted)))
        outcomes = await gather(wanted, add_one, limit=_AT_ONCE)
        errors = [each for each in outcomes if isinstance(each, AskyError)]
        report = counts.report()
        self._listener(StageFinished("read", report.seconds, f"{len(wanted)} pages"))
        return AddedPages(report, tuple(errors))

    async def _add(self, collection: str, url: str, counts: AcquireCounts) -> None:
        self._require_wanted(url)
        before = await in_thread(self._look_up, canonical_url(url))
        page = await self._cache.cache_url(url, named_by_user=True, whole=True)
        self._require_wanted(page.source.url or page.source.uri)  # it may have redirected
        self._warn(url, page)
        is_new = page.document_id != before
        was_held = await in_thread(self._hold, collection, page.source.id)
        if is_new:
            counts.chunks += len(await in_thread(self._documents.chunk_ids, page.document_id))
        parts = unread_parts(page.document.metadata)
        counts.record(url, "indexed" if is_new or not was_held else "unchanged", parts)

    def _look_up(self, key: str) -> int | None:
        """Return the present document of an address, after marking it stale so that its host is asked."""
        row, now = self._pages.get(key), self._now()
        if row is not None and row.expires_at > now and not self._is_offline:
            self._pages.put(replace(row, expires_at=now))
        known = row.source_id if row is not None else None
        return self._corpus.current_document(known or source_id(key))

    def _hold(self, collection: str, id_: str) -> bool:
        """Add a source to the collection; return whether it was already in it."""
        collection_id = self._corpus.collection(collection, create=True)
        was_held = self._corpus.count_sources(Scope((collection_id,), (id_,))) > 0
        self._corpus.hold(collection_id, [id_])
        return was_held

    def _require_wanted(self, url: str) -> None:
        """Raise `SourceRefused` for a page that the user's policy denies; naming a page overrides the other rules."""
        if reason := self._policy.address_refusal(url, is_named=True):
            raise SourceRefused(
                f"{host_of(url)}: {reason}",
                hint="[research.sources] in the configuration limits the pages that are read",
            )

    def _warn(self, url: str, page: WebPage) -> None:
        if page.is_stale:
            self._listener(Warned(f"{url}: its host is failing, so the earlier text is kept"))
        if page.is_cut:
            self._listener(Warned(f"{url}: only its beginning was read", "raise network.max_page_mb to read more"))


def _verdict(error: AskyError) -> FileVerdict:
    if isinstance(error, SourceUnreadable):
        return error.verdict  # type: ignore[return-value]  # what readers say of files, and of pages some words more
    if isinstance(error, SourceRefused):
        return "refused"
    return "timed_out" if isinstance(error, TimedOut) else "failed"
