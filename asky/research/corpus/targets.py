"""Ingestion of targets: local files, and sources of adapters, whose programs run only if no result is cached."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from asky.errors import SourceError, SourceUnreadable
from asky.reading.scanned_pages import SCANNED
from asky.research.adapters import AdapterLink, AdapterListing
from asky.research.corpus.files import note_unread
from asky.research.corpus.ingest import FileFacts, Ingester, read_with, read_without_ocr
from asky.research.corpus.offered_targets import OfferedTargets
from asky.research.corpus.report import AcquireCounts, unread_parts, verdict_of
from asky.research.local.names import is_local_target, show_name, show_target, source_title
from asky.research.page import WebPage
from asky.storage.pages import PageRow
from asky.values import Link, Source, source_id

if TYPE_CHECKING:
    from asky.events import Listener
    from asky.research.adapters import SourceAdapters
    from asky.research.run import ResearchRun
    from asky.storage.corpus import CorpusStore
    from asky.storage.documents import DocumentStore
    from asky.storage.pages import PageTable
    from asky.storage.runs import RunStore

MAX_LISTED = 100
"""Maximum number of sources that are read of one list: each is a call of the user's program."""

_MAX_TIMEOUTS = 3  # then the rest of a list is left out: each call may take `timeout_s`


class TargetAcquirer:
    """Ingests targets into collections. Results of adapters are fresh for `ttl_s`; `now` is in seconds since 1970."""

    def __init__(
        self,
        pages: PageTable,
        corpus: CorpusStore,
        documents: DocumentStore,
        ingester: Ingester,
        *,
        ttl_s: float,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._pages = pages
        self._corpus = corpus
        self._documents = documents
        self._ingester = ingester
        self._ttl_s = ttl_s
        self._now = now

    def add(
        self,
        target: str,
        adapters: SourceAdapters,
        collection_id: int,
        counts: AcquireCounts,
        *,
        refresh: bool = False,
        prune: bool = False,
    ) -> None:
        """Read a file, the files of a folder (one level), or a source of an adapter with, if it is a list, its sources.

        With `refresh`, programs run whatever the cache holds. With `prune`, sources of the collection that the target
        no longer lists are removed. A listed source that cannot be read is recorded in `counts`, and keeps its earlier
        text. Raises `SourceError` if the target itself is refused or cannot be read.
        """
        if is_local_target(target) and not adapters.runs_program(target):
            self._add_local(target, adapters, collection_id, counts)
            return
        listed = self._add_source(target, adapters, collection_id, counts, refresh=refresh)
        self._add_listed(target, listed, adapters, collection_id, counts, refresh=refresh)
        if prune:
            known = {source_id(each) for each in (target, *listed)}
            gone = [each.source_id for each in self._corpus.files(collection_id).values()]
            counts.removed += self._corpus.remove_sources(collection_id, [each for each in gone if each not in known])

    def read(
        self, target: str, adapters: SourceAdapters, collection_id: int, *, refresh: bool = False
    ) -> WebPage | AdapterListing:
        """Read one source of an adapter into the collection, or return the list that it is.

        Without `refresh`, a result is used again while it is fresh and the configured commands are the same. Raises
        `SourceError` as `SourceAdapters.load` does.
        """
        row, version = self._pages.get(target), adapters.version(target)
        if row is not None and not refresh and row.etag == version and row.fresh_until(self._ttl_s) > self._now():
            cached = self._cached(row, collection_id)
            if cached is not None:
                self._pages.note_use([target], self._now())
                return cached
        loaded = adapters.load(target)
        now = self._now()
        row = PageRow(target, target, now, now + self._ttl_s, now, etag=version)
        if isinstance(loaded, AdapterListing):
            links = tuple(Link(each.url, each.text, 0) for each in loaded.links)
            self._pages.put(replace(row, links=links))
            return loaded
        document = loaded.document
        title = document.title or show_target(target)
        fetched_at = datetime.fromtimestamp(now, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        source = Source(source_id(target), "file", target, title, fetched_at=fetched_at)
        stored = self._ingester.keep(source, document, self._ingester.cut(document), collection_id)
        size = len(document.text.encode("utf-8"))
        self._pages.put(replace(row, source_id=source.id, links=document.links, bytes=size))
        return WebPage(source, stored.id, document, was_cached=False)

    def offer(
        self,
        run: ResearchRun,
        adapters: SourceAdapters,
        runs: RunStore,
        collection_id: int,
        *,
        listener: Listener,
    ) -> OfferedTargets:
        """Return the targets that the model of `run` may read into the session's own collection."""

        def read(target: str) -> WebPage | AdapterListing:
            return self.read(target, adapters, collection_id)

        return OfferedTargets(run, adapters, self._pages, runs, read, listener=listener)

    def _cached(self, row: PageRow, collection_id: int) -> WebPage | AdapterListing | None:
        """Return the result in the cache, held by the collection; `None` if its text has been removed."""
        if row.source_id is None:
            return AdapterListing(tuple(AdapterLink(each.url, each.text) for each in row.links))
        source, document_id = self._corpus.source(row.source_id), self._corpus.current_document(row.source_id)
        if source is None or document_id is None:
            return None
        self._corpus.hold(collection_id, [source.id])
        document = replace(self._documents.document(document_id), links=row.links)
        return WebPage(source, document_id, document, was_cached=True)

    # adapters

    def _add_source(
        self, target: str, adapters: SourceAdapters, collection_id: int, counts: AcquireCounts, *, refresh: bool
    ) -> Sequence[str]:
        """Read one source, and record it; return the targets that it lists if it is a list."""
        before = self._corpus.current_document(source_id(target))
        found = self.read(target, adapters, collection_id, refresh=refresh)
        if isinstance(found, AdapterListing):
            if found.why_unread is not None:
                counts.skipped.append((show_target(target), found.why_unread, 1))
            return [each.url for each in found.links]
        is_new = found.document_id != before
        if is_new:
            counts.chunks += len(self._documents.chunk_ids(found.document_id))
        parts = unread_parts(found.document.metadata)
        counts.record(show_target(target), "indexed" if is_new else "unchanged", parts)
        return ()

    def _add_listed(
        self,
        target: str,
        listed: Sequence[str],
        adapters: SourceAdapters,
        collection_id: int,
        counts: AcquireCounts,
        *,
        refresh: bool,
    ) -> None:
        """Read the sources of a list; lists in it are not read, nor targets that no adapter handles."""
        timeouts = 0
        wanted = [each for each in dict.fromkeys(listed) if each != target]
        for number, each in enumerate(wanted):
            if number >= MAX_LISTED or timeouts >= _MAX_TIMEOUTS:
                why = (
                    f"only {MAX_LISTED} sources of a list are read" if number >= MAX_LISTED else "the others timed out"
                )
                counts.skipped.append((show_target(each), why, len(wanted) - number))
                return
            if not adapters.runs_program(each):
                counts.skipped.append((show_target(each), "no adapter is configured for it", 1))
                continue
            try:
                if self._add_source(each, adapters, collection_id, counts, refresh=refresh):
                    counts.skipped.append((show_target(each), "a list in a list is not read", 1))
            except SourceError as error:
                timeouts += isinstance(error, SourceUnreadable) and error.verdict == "timed_out"
                counts.record(show_target(each), verdict_of(error), error.message)

    # local files

    def _add_local(self, target: str, adapters: SourceAdapters, collection_id: int, counts: AcquireCounts) -> None:
        listing = adapters.discover(target)
        links = [link.url for link in listing.links]
        for unread in listing.unread:
            note_unread(unread, counts)
        for link in links:
            try:
                self._add_file(link, adapters, collection_id)
            except SourceError as error:
                if links == [target]:
                    raise
                counts.record(link, verdict_of(error), error.message)
            else:
                counts.record(link, "indexed")

    def _add_file(self, link: str, adapters: SourceAdapters, collection_id: int) -> None:
        with adapters.roots.open(link) as opened:  # taken before reading, so that the next scan notices a later change
            file, state = opened.file, opened.stat
        document = adapters.read(link).document
        title = source_title(document, file.relative)
        source = Source(source_id(file.uri), "file", file.uri, title, path=show_name(str(file.path)))
        version = read_without_ocr if SCANNED in document.metadata else read_with
        facts = FileFacts(state.size, state.mtime_ns, None, version(document.media_type))
        self._ingester.keep(source, document, self._ingester.cut(document, file.relative), collection_id, facts)
