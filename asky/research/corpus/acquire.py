"""Ingestion into the corpus: folders and files, records of a JSON Lines file, and targets named in a question.

Texts are indexed for full-text search first; embedding is a separate step that can be deferred.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from asky.concurrency import in_thread
from asky.errors import SourceError
from asky.events import FileRead, Listener, StageAdvanced, StageFinished, StageStarted
from asky.reading.scanned_pages import SCANNED
from asky.research.corpus.add_records import RecordAcquirer
from asky.research.corpus.file_names import source_title
from asky.research.corpus.files import FileAcquirer, note_unread, verdict_of
from asky.research.corpus.ingest import FileFacts, Ingester, read_with, read_without_ocr
from asky.research.corpus.report import AcquireCounts, AcquireReport
from asky.research.local.files import LocalRoots
from asky.research.local.names import is_local_target, show_name
from asky.storage.scope import Scope
from asky.values import Document, Source, source_id

if TYPE_CHECKING:
    from asky.reading.process.pool import ReaderPool
    from asky.research.adapters import SourceAdapters
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

    async def sync(self, collection_id: int, roots: LocalRoots) -> AcquireReport:
        """Synchronize the collection with what is under `roots` now; sources from elsewhere are left alone.

        Deleted files are removed, unless they lie in a folder that could not be read.
        """
        return await self._files.sync(collection_id, roots)

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

    def add_target(self, target: str, adapters: SourceAdapters, collection_id: int) -> list[FileRead]:
        """Read a target: a file, the files of a folder (one level), or the source of a configured adapter.

        Returns the outcome of each. Raises `SourceError` if the target itself is refused or cannot be found.
        """
        counts = AcquireCounts(self._listener)
        links = [target]
        if is_local_target(target):
            listing = adapters.discover(target)
            links = [link.url for link in listing.links]
            for unread in listing.unread:
                note_unread(unread, counts)
        for link in links:
            try:
                self._add_link(link, adapters, adapters.roots, collection_id)
            except SourceError as error:
                if links == [target]:
                    raise
                counts.record(link, verdict_of(error), error.message)
            else:
                counts.record(link, "indexed")
        return counts.problems

    def _add_link(self, link: str, adapters: SourceAdapters, roots: LocalRoots, collection_id: int) -> None:
        """Read and store one file or one adapter source."""
        if not is_local_target(link):
            document = adapters.read(link).document
            self.add_text(Source(source_id(link), "file", link, document.title or link), document, collection_id)
            return
        with roots.open(link) as opened:  # taken before reading, so that the next scan notices a later change
            file, state = opened.file, opened.stat
        document = adapters.read(link).document
        title = source_title(document, file.relative)
        source = Source(source_id(file.uri), "file", file.uri, title, path=show_name(str(file.path)))
        version = read_without_ocr if SCANNED in document.metadata else read_with
        facts = FileFacts(state.size, state.mtime_ns, None, version(document.media_type))
        self._ingester.keep(source, document, self._ingester.cut(document, file.relative), collection_id, facts)

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
