"""Ingestion of folders and files, keeping a collection in sync with the file system.

Every file gets a verdict. A file with unchanged size and modification time is not opened; one whose bytes the store has
seen under another name is not parsed; one that changed is read again, and only its changed chunks are embedded. Texts
are indexed for full-text search in batches of one transaction each.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asky.concurrency import gather, in_thread
from asky.errors import AskyError, SourceError, SourceUnreadable
from asky.events import FileVerdict, Listener, Noted, StageAdvanced, StageFinished, StageStarted
from asky.reading.formats import HEAD_BYTES, format_of, may_be_text, media_type_of, reader_version
from asky.research.corpus.ingest import FileFacts, Ingester
from asky.research.corpus.report import AcquireCounts, AcquireReport
from asky.research.local.discovery import DiscoveredFile, Unread, discover
from asky.research.local.files import LocalRoots
from asky.research.local.names import show_name
from asky.text.counting import counted
from asky.values import Chunk, Document, Failure, Source, source_id

if TYPE_CHECKING:
    from asky.reading.process.pool import ReaderPool
    from asky.research.local.opened import LocalFile
    from asky.storage.corpus import CorpusStore, FileState
    from asky.storage.database import Database

_OTHER_CONTENT = "its content does not match its name"
_BATCH_FILES = 64
_BATCH_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """The text of a file, or the stored document with the same bytes, or the reason why there is neither.

    `fatal` is an error that is not specific to the file: it ends the run.
    """

    found: DiscoveredFile
    content_sha256: str
    document: Document | None = None
    document_id: int | None = None
    error: SourceError | None = None
    fatal: AskyError | None = None


class FileAcquirer:
    """Ingests files into collections."""

    def __init__(
        self,
        database: Database,
        corpus: CorpusStore,
        ingester: Ingester,
        readers: ReaderPool,
        *,
        max_file_bytes: int,
        workers: int,
        listener: Listener,
    ) -> None:
        self._database = database
        self._corpus = corpus
        self._ingester = ingester
        self._readers = readers
        self._max_file_bytes = max_file_bytes
        self._workers = workers
        self._listener = listener

    async def sync(self, collection_id: int, roots: LocalRoots) -> AcquireReport:
        """See `asky.research.corpus.acquire.Acquirer.sync`."""
        counts = AcquireCounts(self._listener)
        known = self._corpus.files(collection_id)
        self._listener(StageStarted("find"))
        fresh, seen, blind = await in_thread(self._scan, roots, known, counts)
        self._listener(StageFinished("find", time.monotonic() - counts.started, f"{len(seen)} files"))
        if fresh:
            await self._read_all(roots, fresh, collection_id, counts)
        gone = [state.source_id for uri, state in known.items() if uri not in seen and _was_under(uri, roots, blind)]
        counts.removed = await in_thread(self._corpus.remove_sources, collection_id, gone) if gone else 0
        return counts.report()

    # scanning

    def _scan(
        self, roots: LocalRoots, known: dict[str, FileState], counts: AcquireCounts
    ) -> tuple[list[DiscoveredFile], set[str], list[str]]:
        """Return the files to read, the URIs of all files seen, and the URIs of folders that could not be read."""
        fresh: list[DiscoveredFile] = []
        seen: set[str] = set()
        blind: list[str] = []
        again = 0
        for item in discover(roots, recursive=True):
            if isinstance(item, Unread):
                note_unread(item, counts)
                if item.verdict == "failed":
                    blind.append(item.path.as_uri())
                continue
            uri = item.file.uri
            seen.add(uri)
            state = known.get(uri)
            same = state is not None and (state.size, state.mtime_ns) == (item.stat.size, item.stat.mtime_ns)
            if state is not None and same and state.reader == reader_version(item.file.path.name):
                _record_unchanged(item, state, counts)
            elif not may_be_text(item.file.path.name):
                counts.record(item.file.shown, "unsupported", "no reader supports this kind of file")
                seen.discard(uri)
            else:
                fresh.append(item)
                again += same
        if again:
            self._listener(Noted(f"reading {counted(again, 'file')} again: this version reads them better"))
        return fresh, seen, blind

    # reading

    async def _read_all(
        self, roots: LocalRoots, fresh: Sequence[DiscoveredFile], collection_id: int, counts: AcquireCounts
    ) -> None:
        started, done = time.monotonic(), 0

        async def read_one(found: DiscoveredFile) -> _ReadFile:
            return await in_thread(self._read, roots, found)

        self._listener(StageStarted("read", len(fresh)))
        for batch in _batches(fresh):
            left = batch
            while left:
                read = await gather(left, read_one, limit=self._workers)
                left = await in_thread(self._keep_files, read, collection_id, counts)
            done += len(batch)
            self._listener(StageAdvanced("read", done, len(fresh)))
        self._listener(StageFinished("read", time.monotonic() - started, f"{done} files"))

    def _read(self, roots: LocalRoots, found: DiscoveredFile) -> _ReadFile:
        digest, name = "", found.file.path.name
        try:
            with roots.open_file(found.file) as opened:
                data = opened.read(self._max_file_bytes)
            digest = hashlib.sha256(data).hexdigest()
            same = self._corpus.same_content(digest, found.file.path.suffix, reader_version(name))
            if same is not None:
                return _ReadFile(found, digest, document_id=same)
            media_type = media_type_of(name, data[:HEAD_BYTES])
            if media_type is None:
                why = "no reader supports this kind of file" if format_of(name) is None else _OTHER_CONTENT
                raise SourceUnreadable(f"{found.file.shown}: {why}", verdict="unsupported")
            return _ReadFile(found, digest, self._readers.read(data, name=found.file.shown, media_type=media_type))
        except SourceError as error:
            return _ReadFile(found, digest, error=error)
        except AskyError as error:
            return _ReadFile(found, digest, fatal=error)

    # storing

    def _keep_files(
        self, outcomes: Sequence[_ReadFile | Failure], collection_id: int, counts: AcquireCounts
    ) -> list[DiscoveredFile]:
        """Store what was read; return the files to read again because the text they were to share is gone."""
        read = [each for each in outcomes if isinstance(each, _ReadFile)]
        assert len(read) == len(outcomes)  # _read turns every AskyError into a value
        for each in read:
            if each.fatal is not None:
                raise each.fatal
        chunked = {
            id(each): self._ingester.cut(each.document, file_name(each.found.file)) for each in read if each.document
        }
        again: dict[int, DiscoveredFile] = {}
        with self._database.write():
            # Files that share a text go first: its present owner may drop it in this very batch.
            for each in sorted(read, key=lambda each: each.document_id is None):
                if not self._keep_file(each, chunked.get(id(each)), collection_id, counts):
                    again[id(each)] = each.found
        for each in read:
            if id(each) in again:
                continue
            if each.error is None:
                counts.record(each.found.file.shown, "indexed")
            else:
                counts.record(each.found.file.shown, verdict_of(each.error), _reason(each.error, each.found.file.shown))
        return list(again.values())

    def _keep_file(
        self, read: _ReadFile, cut: tuple[list[Chunk], list[str]] | None, collection_id: int, counts: AcquireCounts
    ) -> bool:
        """Store one file; return `False` if the stored text it was to reuse has been dropped since."""
        found = read.found
        version = reader_version(found.file.path.name)
        facts = FileFacts(found.stat.size, found.stat.mtime_ns, read.content_sha256, version)
        if read.document_id is not None:
            # Queried again inside the transaction: files that swap places remove each other's text.
            same = self._corpus.same_content(read.content_sha256, found.file.path.suffix, facts.reader)
            if same is None:
                return False
            read = replace(read, document_id=same)
        title, metadata = (read.document.title, read.document.metadata) if read.document else (None, {})
        if read.document_id is not None:
            title, metadata = self._ingester.facts_of(read.document_id)
        title = title or found.file.shown.rsplit("/", 1)[-1]
        source = Source(source_id(found.file.uri), "file", found.file.uri, title, path=show_name(str(found.file.path)))
        if read.document is not None and cut is not None:
            stored = self._ingester.keep(source, read.document, cut, collection_id, facts)
            counts.chunks += len(stored.chunk_ids) if stored.is_new else 0
            return True
        self._corpus.put_source(
            source,
            collection_id,
            document_id=read.document_id,
            verdict=verdict_of(read.error) if read.error else "indexed",
            why=_reason(read.error, found.file.shown) if read.error else None,
            size=facts.size,
            mtime_ns=facts.mtime_ns,
            content_sha256=facts.content_sha256,
            metadata={**metadata, **facts.metadata()},
        )
        return True


def _record_unchanged(item: DiscoveredFile, state: FileState, counts: AcquireCounts) -> None:
    """Report an unchanged file; one that could not be used before still cannot, and is listed again."""
    if state.verdict == "indexed":
        counts.record(item.file.shown, "unchanged")
    else:
        counts.record(item.file.shown, state.verdict, state.why)  # type: ignore[arg-type]  # written by this module


def _was_under(uri: str, roots: LocalRoots, blind: Sequence[str]) -> bool:
    """Return whether a file lay under a root and in no folder that could not be read this time."""
    if any(_lies_in(uri, folder) for folder in blind):
        return False
    return any(_lies_in(uri, root.as_uri()) for root in roots.paths)


def _lies_in(uri: str, folder: str) -> bool:
    return uri == folder or uri.startswith(folder.rstrip("/") + "/")


def _batches(fresh: Sequence[DiscoveredFile]) -> Iterator[list[DiscoveredFile]]:
    """Yield groups of files that are small enough to hold in memory together."""
    batch: list[DiscoveredFile] = []
    size = 0
    for found in fresh:
        if batch and (len(batch) >= _BATCH_FILES or size + found.stat.size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(found)
        size += found.stat.size
    if batch:
        yield batch


def file_name(file: LocalFile) -> str:
    """Return the name of a file below the granted folder, or its own if that is the file."""
    return file.relative if file.relative not in ("", ".") else file.path.name


def note_unread(item: Unread, counts: AcquireCounts) -> None:
    """Record in `counts` what was not read, and why."""
    if item.verdict == "skipped":
        counts.skipped.append((item.name, item.reason, item.count))
    else:
        counts.record(item.name, item.verdict, item.reason)


def verdict_of(error: SourceError) -> FileVerdict:
    """Return the verdict for a file that raised `error`."""
    return error.verdict if isinstance(error, SourceUnreadable) else "refused"  # type: ignore[return-value]


def _reason(error: SourceError, shown: str) -> str:
    return error.message.removeprefix(f"{shown}: ")
