"""Ingestion of folders and files, keeping a collection in sync with the file system.

Every file gets a verdict. A file with unchanged size and modification time is not opened, whichever collection it was
read for, unless this version of asky reads it better; one whose bytes the store has seen under another name is not
parsed; one that changed is read again, and only its changed chunks are embedded. Texts are indexed for full-text search
in batches of one transaction each.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asky.concurrency import gather, in_thread
from asky.errors import AskyError, SourceError, SourceUnreadable
from asky.events import Event, Listener, Noted, StageAdvanced, StageFinished, StageStarted, ignore
from asky.reading import scanned_pages
from asky.reading.detection import HEAD_BYTES, media_type_of
from asky.reading.formats import format_of, may_be_text
from asky.research.corpus.ingest import FileFacts, Ingester, read_with, read_without_ocr
from asky.research.corpus.report import (
    OTHER_CONTENT,
    AcquireCounts,
    AcquireReport,
    DiskChanges,
    unread_parts,
    verdict_of,
)
from asky.research.local.discovery import DiscoveredFile, Unread, discover
from asky.research.local.files import LocalRoots
from asky.research.local.names import show_name, source_title
from asky.text.counting import counted
from asky.values import Chunk, Document, Failure, Source, SourceKind, source_id

if TYPE_CHECKING:
    from pathlib import Path

    from asky.reading.process.pool import ReaderPool
    from asky.storage.corpus import CorpusStore, FileState
    from asky.storage.database import Database

_BATCH_FILES = 64
_BATCH_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """The text of a file, or the reason why there is none.

    `like` is the stored document with the same bytes, if the text is from there. `fatal` is an error that is not
    specific to the file: it ends the run.
    """

    found: DiscoveredFile
    content_sha256: str
    document: Document | None = None
    like: int | None = None
    error: SourceError | None = None
    fatal: AskyError | None = None


@dataclass(slots=True)
class _Scan:
    """The result of a scan: the files to read, and how many of them only because an earlier version has read them.

    `held` are the ids of unchanged sources that only other collections hold so far, `seen` the URIs of all files, and
    `blind` those of folders that could not be read, or that may be the mount point of a disk that is not there.
    """

    fresh: list[DiscoveredFile] = field(default_factory=list)
    outdated: int = 0
    held: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    blind: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where files are kept: the id of the collection, and the kind of source that they are."""

    collection_id: int
    kind: SourceKind


@dataclass(frozen=True, slots=True)
class FileSelection:
    """Which files of a folder a collection has, and the kind of source that they are.

    `reason_to_skip` returns why a file is left out, given its path below the root, or `None`.
    """

    kind: SourceKind = "file"
    reason_to_skip: Callable[[str], str | None] = lambda relative: None  # noqa: ARG005 - nothing is left out


EVERY_FILE = FileSelection()
"""Every file that a reader supports."""


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

    async def sync(self, collection_id: int, roots: LocalRoots, selection: FileSelection = EVERY_FILE) -> AcquireReport:
        """See `asky.research.corpus.acquire.Acquirer.sync`."""
        counts = AcquireCounts(self._listener)
        known = self._corpus.files(collection_id)
        self._listener(StageStarted("find"))
        scan = await in_thread(self._scan, roots, known, counts, selection)
        self._listener(StageFinished("find", time.monotonic() - counts.started, f"{len(scan.seen)} files"))
        if scan.held:
            await in_thread(self._corpus.hold, collection_id, scan.held, selection.kind)
        if scan.outdated:
            files = "1 file" if scan.outdated == 1 else f"{scan.outdated:,} files"
            self._listener(Noted(f"reading {files} again: this version reads them better"))
        if scan.fresh:
            await self._read_all(roots, scan.fresh, _Target(collection_id, selection.kind), counts)
        gone = _gone(known, scan, roots)
        counts.removed = await in_thread(self._corpus.remove_sources, collection_id, gone) if gone else 0
        return counts.report()

    def sync_unchanged(
        self, collection_id: int, roots: LocalRoots, selection: FileSelection = EVERY_FILE
    ) -> AcquireReport | None:
        """See `asky.research.corpus.acquire.Acquirer.sync_unchanged`."""
        events: list[Event] = []
        counts = AcquireCounts(events.append)
        known = self._corpus.files(collection_id)
        self._listener(StageStarted("find"))
        scan = self._scan(roots, known, counts, selection)
        if scan.fresh or scan.held or _gone(known, scan, roots):
            return None
        for each in events:
            self._listener(each)
        self._listener(StageFinished("find", time.monotonic() - counts.started, f"{len(scan.seen)} files"))
        return counts.report()

    def compare(self, collection_id: int, roots: LocalRoots) -> DiskChanges:
        """See `asky.research.corpus.acquire.Acquirer.compare`."""
        known = self._corpus.files(collection_id)
        scan = self._scan(roots, known, AcquireCounts(ignore), EVERY_FILE)
        facts = [(known.get(each.file.uri), each.stat) for each in scan.fresh]
        changed = sum(
            state is not None and (state.size, state.mtime_ns) != (stat.size, stat.mtime_ns) for state, stat in facts
        )
        new = sum(state is None for state, _ in facts) + len(scan.held)
        return DiskChanges(changed, new, len(_gone(known, scan, roots)))

    # scanning

    def _scan(
        self, roots: LocalRoots, known: dict[str, FileState], counts: AcquireCounts, selection: FileSelection
    ) -> _Scan:
        scan = _Scan(blind=[*_note_empty(roots, known, counts)])
        skipped: dict[str, list[str]] = {}
        for item in discover(roots, recursive=True):
            if isinstance(item, Unread):
                note_unread(item, counts)
                if item.verdict == "failed":
                    scan.blind.append(item.path.as_uri())
            elif reason := selection.reason_to_skip(item.file.relative):
                skipped.setdefault(reason, []).append(item.file.shown)
            else:
                self._scan_file(item, known, scan, counts)
        counts.skipped += [(names[0], reason, len(names)) for reason, names in skipped.items()]
        return scan

    def _scan_file(self, item: DiscoveredFile, known: dict[str, FileState], scan: _Scan, counts: AcquireCounts) -> None:
        uri = item.file.uri
        state = known.get(uri) or self._corpus.file(source_id(uri))
        is_same = state is not None and (state.size, state.mtime_ns) == (item.stat.size, item.stat.mtime_ns)
        if is_same and state is not None and _is_read_well(state, item.file.path.name):
            if uri not in known:
                scan.held.append(state.source_id)
            _record_unchanged(item, state, counts, is_new=uri not in known)
        elif not may_be_text(item.file.path.name):
            counts.record(item.file.shown, "unsupported", "no reader supports this kind of file")
            return
        else:
            scan.outdated += is_same
            scan.fresh.append(item)
        scan.seen.add(uri)

    # reading

    async def _read_all(
        self, roots: LocalRoots, fresh: Sequence[DiscoveredFile], target: _Target, counts: AcquireCounts
    ) -> None:
        started, done = time.monotonic(), 0
        lacking: list[str] = []

        async def read_one(found: DiscoveredFile) -> _ReadFile:
            return await in_thread(self._read, roots, found)

        self._listener(StageStarted("read", len(fresh)))
        for batch in _batches(fresh):
            read = await gather(batch, read_one, limit=self._workers)
            await in_thread(self._keep_files, read, target, counts)
            done += len(batch)
            lacking += [each.found.file.shown for each in read if isinstance(each, _ReadFile) and _lacks_scans(each)]
            self._listener(StageAdvanced("read", done, len(fresh)))
        self._listener(StageFinished("read", time.monotonic() - started, f"{done} files"))
        if lacking:
            files = f"{lacking[0]} has" if len(lacking) == 1 else f"{len(lacking):,} files ({lacking[0]}, ...) have"
            self._listener(Noted(f"{files} scanned pages that were not read: {scanned_pages.ocr_hint()}"))

    def _read(self, roots: LocalRoots, found: DiscoveredFile) -> _ReadFile:
        digest, name = "", found.file.path.name
        try:
            with roots.open_file(found.file) as opened:
                data = opened.read(self._max_file_bytes)
            digest = hashlib.sha256(data).hexdigest()
            media_type = media_type_of(name, data[:HEAD_BYTES])
            if media_type is None:
                why = "no reader supports this kind of file" if format_of(name) is None else OTHER_CONTENT
                raise SourceUnreadable(f"{found.file.shown}: {why}", verdict="unsupported")
            before = self._ingester.read_before(digest, found.file.path.suffix, media_type)
            if before is not None:
                return _ReadFile(found, digest, before[1], like=before[0])
            return _ReadFile(found, digest, self._readers.read(data, name=found.file.shown, media_type=media_type))
        except SourceError as error:
            return _ReadFile(found, digest, error=error)
        except AskyError as error:
            return _ReadFile(found, digest, fatal=error)

    # storing

    def _keep_files(self, outcomes: Sequence[_ReadFile | Failure], target: _Target, counts: AcquireCounts) -> None:
        """Store what was read."""
        read = [each for each in outcomes if isinstance(each, _ReadFile)]
        assert len(read) == len(outcomes)  # _read turns every AskyError into a value
        for each in read:
            if each.fatal is not None:
                raise each.fatal
        chunked = [
            self._ingester.cut(each.document, each.found.file.relative) if each.document else None for each in read
        ]
        # Those that take vectors from a stored document go first: its present owner may drop it in this very batch.
        ordered = sorted(zip(read, chunked, strict=True), key=lambda pair: pair[0].like is None)
        with self._database.write():
            for each, cut in ordered:
                self._keep_file(each, cut, target, counts)
        for each in read:
            if each.document is not None:
                counts.record(each.found.file.shown, "indexed", unread_parts(each.document.metadata))
            elif each.error is not None:
                counts.record(each.found.file.shown, verdict_of(each.error), _reason(each.error, each.found.file.shown))

    def _keep_file(
        self, read: _ReadFile, cut: tuple[list[Chunk], list[str]] | None, target: _Target, counts: AcquireCounts
    ) -> None:
        file, state = read.found.file, read.found.stat
        title = source_title(read.document, file.relative)
        source = Source(source_id(file.uri), target.kind, file.uri, title, path=show_name(str(file.path)))
        media_type = _type_by_name(file.path.name) or (read.document.media_type if read.document else None)
        version = read_without_ocr(media_type) if _lacks_scans(read) else read_with(media_type)
        facts = FileFacts(state.size, state.mtime_ns, read.content_sha256, version)
        if read.document is not None and cut is not None:
            stored = self._ingester.keep(source, read.document, cut, target.collection_id, facts, like=read.like)
            counts.chunks += len(stored.chunk_ids) if stored.is_new else 0
            return
        self._corpus.put_source(
            source,
            target.collection_id,
            document_id=None,
            verdict=verdict_of(read.error) if read.error else "indexed",
            why=_reason(read.error, file.shown) if read.error else None,
            size=facts.size,
            mtime_ns=facts.mtime_ns,
            content_sha256=facts.content_sha256,
            read_with=facts.read_with,
        )


def _is_read_well(state: FileState, name: str) -> bool:
    """Return whether this version, with the extras that are installed, would find nothing else in a stored file."""
    media_type = _type_by_name(name) or state.media_type  # the name first: a format may have got a reader of its own
    if state.read_with == read_without_ocr(media_type):
        return not scanned_pages.is_ocr_available()
    return state.read_with == read_with(media_type)


def _lacks_scans(read: _ReadFile) -> bool:
    """Return whether pages were left out because their text is in images."""
    if read.document is not None:
        return scanned_pages.SCANNED in read.document.metadata
    return isinstance(read.error, SourceUnreadable) and read.error.scanned_pages > 0


def _type_by_name(name: str) -> str | None:
    row = format_of(name)
    return row.media_type if row else None


def _record_unchanged(item: DiscoveredFile, state: FileState, counts: AcquireCounts, *, is_new: bool) -> None:
    """Report an unchanged file; one that could not be used before still cannot, and is listed again."""
    if state.verdict == "indexed":
        counts.record(item.file.shown, "indexed" if is_new else "unchanged", state.why)
    else:
        counts.record(item.file.shown, state.verdict, state.why)  # type: ignore[arg-type]  # written by this module


def _gone(known: Mapping[str, FileState], scan: _Scan, roots: LocalRoots) -> list[str]:
    """Return the ids of known sources whose files are no longer there."""
    return [
        state.source_id for uri, state in known.items() if uri not in scan.seen and _was_under(uri, roots, scan.blind)
    ]


def _was_under(uri: str, roots: LocalRoots, blind: Sequence[str]) -> bool:
    """Return whether a file lay under a root and in no folder that could not be read this time."""
    if any(_lies_in(uri, folder) for folder in blind):
        return False
    return any(_lies_in(uri, root.as_uri()) for root in roots.paths)


def _note_empty(roots: LocalRoots, known: Mapping[str, FileState], counts: AcquireCounts) -> Iterator[str]:
    """Yield the URI of each followed folder that has nothing in it now but had files, and tell that these are kept.

    A disk that is not mounted looks like that, and is no reason to forget its documents.
    """
    for root in roots.folders:
        uri = root.path.as_uri()
        kept = sum(_lies_in(each, uri) for each in known)
        if kept and _is_empty(root.path):
            shown, documents = show_name(str(root.path)), counted(kept, "document")
            counts.listener(
                Noted(
                    f"{shown} is empty, as if its disk were not mounted: {documents} of it are kept until"
                    f" `asky corpus rm {shlex.quote(shown)}` removes them"
                )
            )
            yield uri


def _is_empty(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:  # the walk says so
        return False


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


def note_unread(item: Unread, counts: AcquireCounts) -> None:
    """Record in `counts` what was not read, and why."""
    if item.verdict == "skipped":
        counts.skipped.append((item.name, item.reason, item.count))
    else:
        counts.record(item.name, item.verdict, item.reason)


def _reason(error: SourceError, shown: str) -> str:
    return error.message.removeprefix(f"{shown}: ")
