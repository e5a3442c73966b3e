"""Ingestion into the corpus: folders and files, and records of a JSON Lines file.

Texts are indexed for full-text search first; embedding is a separate step that can be deferred.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from asky.concurrency import in_thread
from asky.events import Listener, StageAdvanced, StageFinished, StageStarted
from asky.research.corpus.add_records import RecordAcquirer
from asky.research.corpus.files import EVERY_FILE, FileAcquirer, FileSelection
from asky.research.corpus.ingest import Ingester
from asky.research.corpus.report import AcquireReport, DiskChanges
from asky.research.local.files import LocalRoots
from asky.storage.scope import Scope
from asky.values import Document, Source

if TYPE_CHECKING:
    from asky.reading.process.pool import ReaderPool
    from asky.research.vector_store import VectorStore
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database


class Acquirer:
    """Ingests sources into collections."""

    def __init__(
        self,
        database: Database,
        corpus: CorpusStore,
        store: VectorStore,
        ingester: Ingester,
        readers: ReaderPool,
        *,
        max_file_bytes: int,
        workers: int,
        listener: Listener,
    ) -> None:
        self._store = store
        self._ingester = ingester
        self._listener = listener
        self._files = FileAcquirer(
            database, corpus, ingester, readers, max_file_bytes=max_file_bytes, workers=workers, listener=listener
        )
        self._records = RecordAcquirer(database, ingester, listener)

    async def sync(self, collection_id: int, roots: LocalRoots, selection: FileSelection = EVERY_FILE) -> AcquireReport:
        """Synchronize the collection with what is under `roots` now; sources from elsewhere are left alone.

        Deleted files, and those that `selection` leaves out, are removed, unless they lie in a folder that could not be
        read.
        """
        return await self._files.sync(collection_id, roots, selection)

    def sync_unchanged(
        self, collection_id: int, roots: LocalRoots, selection: FileSelection = EVERY_FILE
    ) -> AcquireReport | None:
        """Return what `sync` would if it had nothing to do, or else `None`. Nothing is stored."""
        return self._files.sync_unchanged(collection_id, roots, selection)

    def compare(self, collection_id: int, roots: LocalRoots) -> DiskChanges:
        """Return what has changed on disk since the last sync; no file is opened and nothing is stored."""
        return self._files.compare(collection_id, roots)

    async def add_records(
        self, collection_id: int, collection: str, lines: Iterable[bytes], name: str
    ) -> AcquireReport:
        """Add `{"id", "text", "title"?, "url"?, "metadata"?}` objects, one per line; a known id is replaced.

        If several lines share an id, the last one counts. The report lists malformed lines, records without text, and
        records replaced by a later line as problems; the others are added.
        """
        return await self._records.add(collection_id, collection, lines, name)

    def add_text(self, source: Source, document: Document, collection_id: int) -> None:
        """Add one document that is already parsed, whatever its source."""
        self._ingester.keep(source, document, self._ingester.cut(document), collection_id)

    async def embed(self, scope: Scope) -> int:
        """Embed the chunks in scope that have no vector; return how many were embedded."""
        started = time.monotonic()
        self._listener(StageStarted("embed"))
        done = await in_thread(
            lambda: self._store.store_chunk_embeddings(
                scope, progress=lambda done, total: self._listener(StageAdvanced("embed", done, total))
            )
        )
        self._listener(StageFinished("embed", time.monotonic() - started, f"{done} passages"))
        return done
