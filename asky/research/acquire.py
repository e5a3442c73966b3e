"""Bringing sources into the corpus: folders and files, records of a JSON Lines file, and what a question names.

Texts are indexed for words first; embedding is a step of its own that can be left for later.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from asky.concurrency import in_thread
from asky.errors import SourceError
from asky.events import FileRead, Listener, StageAdvanced, StageFinished, StageStarted
from asky.research.acquire_files import FileAcquirer, note_unread, verdict_of
from asky.research.acquire_records import RecordAcquirer
from asky.research.ingest import FileFacts, Ingester
from asky.research.local_files import LocalRoots
from asky.research.local_names import is_local_target, show_name
from asky.research.tally import AcquireReport, Tally
from asky.storage.scope import Scope
from asky.values import Document, Source, source_id

if TYPE_CHECKING:
    from asky.reading.pool import ReaderPool
    from asky.research.adapters import SourceAdapters
    from asky.research.vector_store import VectorStore
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database


class Acquirer:
    """Reads sources into collections."""

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
        """Make the collection hold what is under `roots` now; what the store knows from elsewhere is left alone.

        Files that are gone are forgotten, unless they lie in a folder that could not be looked into.
        """
        return await self._files.sync(collection_id, roots)

    async def add_records(
        self, collection_id: int, collection: str, lines: Iterable[bytes], name: str
    ) -> AcquireReport:
        """Add `{"id", "text", "title"?, "url"?, "metadata"?}` objects, one a line; a known id is replaced.

        Of several lines with one id the last counts. A line that is no such object is a problem of the report, and so
        are records without text and those that a later line replaces; the others go on.
        """
        return await self._records.add(collection_id, collection, lines, name)

    def add_text(self, source: Source, document: Document, collection_id: int) -> None:
        """Add one document that is at hand, whatever it comes from."""
        self._ingester.keep(source, document, self._ingester.cut(document), collection_id)

    def add_target(
        self, target: str, adapters: SourceAdapters, roots: LocalRoots, collection_id: int
    ) -> list[FileRead]:
        """Read what a question names: a file, the files of a folder (one level), or a configured adapter's source.

        Returns what became of each. Raises `SourceError` where the target itself is refused or cannot be found.
        """
        tally = Tally(self._listener)
        links = [target]
        if is_local_target(target):
            listing = adapters.discover(target)
            links = [link.url for link in listing.links]
            for unread in listing.unread:
                note_unread(unread, tally)
        for link in links:
            try:
                self._add_link(link, adapters, roots, collection_id)
            except SourceError as error:
                if links == [target]:
                    raise
                tally.say(link, verdict_of(error), error.message)
            else:
                tally.say(link, "indexed")
        return tally.problems

    def _add_link(self, link: str, adapters: SourceAdapters, roots: LocalRoots, collection_id: int) -> None:
        """Read one file or one source of an adapter, and keep it."""
        if not is_local_target(link):
            document = adapters.read(link).document
            self.add_text(Source(source_id(link), "file", link, document.title or link), document, collection_id)
            return
        with roots.open(link) as opened:  # before it is read: a later change is then noticed by the next look
            file, state = opened.file, opened.stat
        document = adapters.read(link).document
        title = document.title or file.path.name
        source = Source(source_id(file.uri), "file", file.uri, title, path=show_name(str(file.path)))
        facts = FileFacts(state.size, state.mtime_ns, None)
        self._ingester.keep(source, document, self._ingester.cut(document), collection_id, facts)

    async def embed(self, scope: Scope) -> int:
        """Embed what is not embedded in scope; returns how many chunks were."""
        started = time.monotonic()
        self._listener(StageStarted("embed"))
        done = await in_thread(
            lambda: self._store.store_chunk_embeddings(
                scope, progress=lambda done, total: self._listener(StageAdvanced("embed", done, total))
            )
        )
        self._listener(StageFinished("embed", time.monotonic() - started, f"{done} passages"))
        return done
