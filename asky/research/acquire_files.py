"""Bringing folders and files into a collection, and keeping it to what is there now.

Every file gets a verdict. A file whose size and time did not change is not opened; one whose bytes the store has seen
under another name is not parsed; one that changed is read anew and only its changed chunks are embedded. Texts are
indexed for words in batches of one transaction each.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asky.concurrency import gather, in_thread
from asky.errors import AskyError, SourceError, SourceUnreadable
from asky.events import FileVerdict, Listener, StageAdvanced, StageFinished, StageStarted
from asky.reading.formats import HEAD_BYTES, format_of, media_type_of
from asky.research.ingest import FileFacts, Ingester
from asky.research.local_discovery import Found, Unread, discover
from asky.research.local_files import LocalRoots
from asky.research.local_names import show_name
from asky.research.tally import AcquireReport, Tally
from asky.values import Chunk, Document, Failure, Source, source_id

if TYPE_CHECKING:
    from asky.reading.pool import ReaderPool
    from asky.storage.corpus import CorpusStore, FileState
    from asky.storage.database import Database

_BATCH_FILES = 64
_BATCH_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """A file's text, or the document that the store already has of its bytes, or why there is neither.

    `trouble` is not the file's: it ends the run.
    """

    found: Found
    content_sha256: str
    document: Document | None = None
    document_id: int | None = None
    error: SourceError | None = None
    trouble: AskyError | None = None


class FileAcquirer:
    """Reads files into collections."""

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
        """See `asky.research.acquire.Acquirer.sync`."""
        tally = Tally(self._listener)
        known = self._corpus.files(collection_id)
        self._listener(StageStarted("find"))
        fresh, seen, blind = await in_thread(self._look, roots, known, tally)
        self._listener(StageFinished("find", time.monotonic() - tally.started, f"{len(seen)} files"))
        if fresh:
            await self._read_all(roots, fresh, collection_id, tally)
        gone = [state.source_id for uri, state in known.items() if uri not in seen and _was_under(uri, roots, blind)]
        tally.removed = await in_thread(self._corpus.remove_sources, collection_id, gone) if gone else 0
        return tally.report()

    # looking

    def _look(
        self, roots: LocalRoots, known: dict[str, FileState], tally: Tally
    ) -> tuple[list[Found], set[str], list[str]]:
        """Files to read, uris of all files seen, and the uris of folders that could not be looked into."""
        fresh: list[Found] = []
        seen: set[str] = set()
        blind: list[str] = []
        for item in discover(roots, recursive=True):
            if isinstance(item, Unread):
                note_unread(item, tally)
                if item.verdict == "failed":
                    blind.append(item.path.as_uri())
                continue
            uri = item.file.uri
            seen.add(uri)
            state = known.get(uri)
            if state is not None and (state.size, state.mtime_ns) == (item.stat.size, item.stat.mtime_ns):
                _say_unchanged(item, state, tally)
            elif format_of(item.file.path.name) is None:
                tally.say(item.file.shown, "unsupported", "no reader takes this kind of file")
                seen.discard(uri)
            else:
                fresh.append(item)
        return fresh, seen, blind

    # reading

    async def _read_all(self, roots: LocalRoots, fresh: Sequence[Found], collection_id: int, tally: Tally) -> None:
        started, done = time.monotonic(), 0

        async def read_one(found: Found) -> _ReadFile:
            return await in_thread(self._read, roots, found)

        self._listener(StageStarted("read", len(fresh)))
        for batch in _batches(fresh):
            left = batch
            while left:
                read = await gather(left, read_one, limit=self._workers)
                left = await in_thread(self._keep_files, read, collection_id, tally)
            done += len(batch)
            self._listener(StageAdvanced("read", done, len(fresh)))
        self._listener(StageFinished("read", time.monotonic() - started, f"{done} files"))

    def _read(self, roots: LocalRoots, found: Found) -> _ReadFile:
        digest, name = "", found.file.path.name
        try:
            with roots.open_file(found.file) as opened:
                data = opened.read(self._max_file_bytes)
            digest = hashlib.sha256(data).hexdigest()
            same = self._corpus.same_content(digest, found.file.path.suffix)
            if same is not None:
                return _ReadFile(found, digest, document_id=same)
            media_type = media_type_of(name, data[:HEAD_BYTES])
            if media_type is None:
                raise SourceUnreadable(
                    f"{found.file.shown}: its content is not what its name says", verdict="unsupported"
                )
            return _ReadFile(found, digest, self._readers.read(data, name=found.file.shown, media_type=media_type))
        except SourceError as error:
            return _ReadFile(found, digest, error=error)
        except AskyError as error:
            return _ReadFile(found, digest, trouble=error)

    # keeping

    def _keep_files(self, outcomes: Sequence[_ReadFile | Failure], collection_id: int, tally: Tally) -> list[Found]:
        """Keep what was read; returns the files to read again, because the text they were to share is gone."""
        read = [each for each in outcomes if isinstance(each, _ReadFile)]
        assert len(read) == len(outcomes)  # _read turns every AskyError into a value
        for each in read:
            if each.trouble is not None:
                raise each.trouble
        cuts = {id(each): self._ingester.cut(each.document) for each in read if each.document}
        again: dict[int, Found] = {}
        with self._database.write():
            # Files that share a text go first: the one that held it until now may let go of it in this very batch.
            for each in sorted(read, key=lambda each: each.document_id is None):
                if not self._keep_file(each, cuts.get(id(each)), collection_id, tally):
                    again[id(each)] = each.found
        for each in read:
            if id(each) in again:
                continue
            if each.error is None:
                tally.say(each.found.file.shown, "indexed")
            else:
                tally.say(each.found.file.shown, verdict_of(each.error), _reason(each.error, each.found.file.shown))
        return list(again.values())

    def _keep_file(
        self, read: _ReadFile, cut: tuple[list[Chunk], list[str]] | None, collection_id: int, tally: Tally
    ) -> bool:
        """Keep one file; `False` where its text was to be one that the store has dropped since."""
        found = read.found
        if read.document_id is not None:
            # Asked again inside the transaction: files that change places take each other's text away.
            same = self._corpus.same_content(read.content_sha256, found.file.path.suffix)
            if same is None:
                return False
            read = replace(read, document_id=same)
        title = (read.document.title if read.document else None) or found.file.shown.rsplit("/", 1)[-1]
        source = Source(source_id(found.file.uri), "file", found.file.uri, title, path=show_name(str(found.file.path)))
        facts = FileFacts(found.stat.size, found.stat.mtime_ns, read.content_sha256)
        if read.document is not None and cut is not None:
            stored = self._ingester.keep(source, read.document, cut, collection_id, facts)
            tally.chunks += len(stored.chunk_ids) if stored.is_new else 0
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
        )
        return True


def _say_unchanged(item: Found, state: FileState, tally: Tally) -> None:
    """An unchanged file that could not be used before still cannot, and is named again."""
    if state.verdict == "indexed":
        tally.say(item.file.shown, "unchanged")
    else:
        tally.say(item.file.shown, state.verdict, state.why)  # type: ignore[arg-type]  # written by this module


def _was_under(uri: str, roots: LocalRoots, blind: Sequence[str]) -> bool:
    """Whether a file lay under a root and in no folder that could not be looked into this time."""
    if any(_lies_in(uri, folder) for folder in blind):
        return False
    return any(_lies_in(uri, root.as_uri()) for root in roots.paths)


def _lies_in(uri: str, folder: str) -> bool:
    return uri == folder or uri.startswith(folder.rstrip("/") + "/")


def _batches(fresh: Sequence[Found]) -> Iterator[list[Found]]:
    """Groups of files that are small enough to hold in memory together."""
    batch: list[Found] = []
    size = 0
    for found in fresh:
        if batch and (len(batch) >= _BATCH_FILES or size + found.stat.size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(found)
        size += found.stat.size
    if batch:
        yield batch


def note_unread(item: Unread, tally: Tally) -> None:
    """Say in `tally` what was not read, and why."""
    if item.verdict == "skipped":
        tally.skipped.append((item.name, item.reason, item.count))
    else:
        tally.say(item.name, item.verdict, item.reason)


def verdict_of(error: SourceError) -> FileVerdict:
    """What becomes of a file that raised this."""
    return error.verdict if isinstance(error, SourceUnreadable) else "refused"  # type: ignore[return-value]


def _reason(error: SourceError, shown: str) -> str:
    return error.message.removeprefix(f"{shown}: ")
