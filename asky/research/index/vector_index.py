"""Chroma as a rebuildable index of the vectors in SQLite.

Chroma is not process-safe, and a kill at the wrong moment can leave a store that cannot be opened, or that answers from
a part of its rows while `count()` is complete; a damaged file can crash the process. So one process owns it at a time
(a lock for the index's lifetime), it follows SQLite through the outbox, and it holds ids and vectors only. If anything
is wrong with its files, see `asky.research.index.state`, it is rebuilt from SQLite without embedding anything again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.errors import StorageError
from asky.installation import install_hint
from asky.research.index.state import (
    COLLECTION,
    IndexState,
    chroma_version,
    usable_state,
    write_clean,
    write_state,
)
from asky.research.telemetry import rule_out_telemetry
from asky.research.vector_store_common import ids_from_bytes, vectors_from_bytes
from asky.storage.scope import Scope
from asky.storage.vectors import OutboxEntry, VectorTable

if TYPE_CHECKING:
    from asky.research.embedding.embedder import Progress
    from asky.research.vector_store_common import Vectors

_BATCH = 2000  # rows per call: 1,824 rows per CPU second at 1,000 rows against 825 at 27; Chroma's limit is 5,461
_OUTBOX_BATCH = 500
_MANY = 5 * _BATCH  # changes that are worth a progress bar: 10 s of work
# Files are written every `sync_threshold` rows and the rest is inserted again at every open: with 100 an open costs 120
# ms of CPU at 10,500 rows, with the default of 1,000 up to 590 ms.
_HNSW = {
    "space": "cosine",
    "max_neighbors": 16,
    "ef_construction": 100,
    "ef_search": 100,
    "sync_threshold": 100,
    "batch_size": 100,
}


class IndexUnavailable(StorageError):
    """The index is unavailable; the vectors in SQLite still are."""

    code = "index_unavailable"


class ChromaIndex:
    """The vector index of one embedding space. Open it with `open_index`; `close` it to leave it clean.

    `follow`, `query` and `len()` raise `IndexUnavailable` if Chroma fails; the index is then no longer marked clean.
    Thread-safe.
    """

    def __init__(
        self, folder: Path, state: IndexState, lock: Any, vectors: VectorTable, space_id: int, dim: int
    ) -> None:
        self._folder = folder
        self._state = state
        self._lock = lock
        self._vectors = vectors
        self._space_id = space_id
        self._dim = dim
        self._sound = True
        self._following = threading.Lock()  # otherwise a deletion could be overtaken by the addition before it
        self._client = _client(folder / state.generation)
        self._collection = self._client.get_or_create_collection(
            COLLECTION,
            configuration={"hnsw": _HNSW},
            embedding_function=None,
            # Values common to all rows are stored once: a key in every row takes 55 bytes each, for itself and its
            # indexes.
            metadata={"space": space_id, "fingerprint": state.fingerprint},
        )

    def __len__(self) -> int:
        with self._guarded():
            return int(self._collection.count())

    def follow(self, progress: Progress | None = None) -> int:
        """Apply all changes in the outbox and return their number.

        Each batch is acknowledged when it is done, so that what is interrupted goes on from there. `progress` is called
        with the number of chunks done and the number at the start; it is not called for few.
        """
        applied = done = 0
        with self._following:
            total = self._vectors.outbox_chunks(self._space_id) if progress else 0
            while entries := self._vectors.outbox(self._space_id, limit=_OUTBOX_BATCH, max_chunks=_BATCH):
                with self._guarded():
                    self._apply(entries)
                self._vectors.acknowledge(entries)
                applied += len(entries)
                done += sum(len(entry.chunk_ids) // 8 for entry in entries)
                if progress and total >= _MANY:
                    progress(done, max(done, total))
        return applied

    def query(self, vector: Vectors, limit: int) -> list[tuple[int, float]]:
        """Return the `limit` nearest chunks as `(chunk id, cosine)`, nearest first."""
        limit = min(limit, len(self))
        if limit == 0:
            return []
        with self._guarded():
            found = self._collection.query(query_embeddings=[vector.tolist()], n_results=limit, include=["distances"])
        return [
            (int(id_), 1.0 - distance) for id_, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        ]

    def ids(self) -> set[int]:
        """Return the ids of all indexed chunks."""
        return {int(each) for each in self._collection.get(include=[])["ids"]}

    def close(self) -> None:
        """Close Chroma and release the index."""
        try:
            self._client.close()
            if self._sound:
                write_clean(self._folder, self._state)
        finally:
            self._lock.release()

    def abandon(self) -> None:
        """Close Chroma without marking the index clean; the caller keeps the lock."""
        self._client.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # Chroma passes on any exception of its Rust core
            self._sound = False
            raise _unavailable(error) from error

    def _apply(self, entries: Sequence[OutboxEntry]) -> None:
        """Apply additions, then deletions: a chunk id is never reused, so none is added after its deletion."""
        added_ids: list[int] = []
        added: list[Vectors] = []
        deleted: list[int] = []
        for entry in entries:
            ids = ids_from_bytes(entry.chunk_ids).tolist()
            if entry.operation == "delete":
                deleted += ids
            elif entry.vectors is not None:
                added_ids += ids
                added.append(vectors_from_bytes(entry.vectors, self._dim))
        self.add(added_ids, added)
        for start in range(0, len(deleted), _BATCH):
            self._collection.delete(ids=[str(each) for each in deleted[start : start + _BATCH]])

    def add(self, ids: Sequence[int], vectors: Sequence[Vectors]) -> None:
        """Add vectors: `ids[i]` belongs to row `i` of the concatenated `vectors`."""
        import numpy as np  # 0.2 s: only where vectors are touched

        if not ids:
            return
        matrix = np.concatenate(vectors)
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            # `upsert`, because a crash between Chroma's commit and the acknowledgement delivers the same ids again.
            self._collection.upsert(
                ids=[str(each) for each in batch],
                embeddings=matrix[start : start + _BATCH],
            )


def open_index(
    folder: Path,
    vectors: VectorTable,
    *,
    fingerprint: str,
    space_id: int,
    dim: int,
    rebuild: bool = False,
    progress: Progress | None = None,
) -> ChromaIndex:
    """Open the index of a space, following SQLite; rebuild it if it is missing, stale or damaged, or if asked to.

    A build that was interrupted goes on where it was. `progress` is called as `ChromaIndex.follow` does. Raises
    `IndexUnavailable` if another process has it open, or if Chroma cannot be used or is not installed.
    """
    if chroma_version() is None:
        raise IndexUnavailable("the vector index needs Chroma", hint=install_hint("installs it", extra="chroma"))
    from filelock import FileLock, Timeout  # 20 ms: only where the index is used

    lock = FileLock(folder / "lock", timeout=0, mode=0o600)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock.acquire()
    except Timeout:
        raise IndexUnavailable(
            "the vector index is in use by another process", hint="this one searches SQLite directly", retryable=True
        ) from None
    except OSError as error:
        raise IndexUnavailable(f"the vector index cannot be used: {folder}: {error.strerror}") from error
    try:
        state = None if rebuild else usable_state(folder, fingerprint)
        if state is None:
            state = _begin(folder, vectors, fingerprint, space_id)
        write_state(folder, replace(state, clean=False))
        index = ChromaIndex(folder, state, lock, vectors, space_id, dim)
        if not _is_complete(index, vectors, space_id, progress):
            index.abandon()
            index = ChromaIndex(folder, _begin(folder, vectors, fingerprint, space_id), lock, vectors, space_id, dim)
            index.follow(progress)
    except Exception as error:  # Chroma passes on any exception of its Rust core, including ImportError
        lock.release()
        raise _unavailable(error) from error
    return index


def _is_complete(index: ChromaIndex, vectors: VectorTable, space_id: int, progress: Progress | None) -> bool:
    """Let the index follow SQLite; return whether it has as many vectors then, whatever other processes add."""
    while True:
        index.follow(progress)
        if len(index) == vectors.coverage(space_id, Scope()).embedded:
            return True
        if not vectors.outbox(space_id, limit=1):
            return False


def _begin(folder: Path, vectors: VectorTable, fingerprint: str, space_id: int) -> IndexState:
    """Begin an empty generation, which grows by following the outbox: that now has all vectors of the space."""
    rule_out_telemetry()
    import shutil

    import chromadb

    state = IndexState(f"generation-{os.urandom(4).hex()}", fingerprint, chromadb.__version__, False, {}, {})
    write_state(folder, state)
    for old in folder.glob("generation-*"):
        shutil.rmtree(old, ignore_errors=True)
    vectors.restart_outbox(space_id)
    return state


def _client(folder: Path) -> Any:
    rule_out_telemetry()
    import chromadb  # over 1 s: only where the index is used
    from chromadb.config import Settings

    return chromadb.PersistentClient(path=str(folder), settings=Settings(anonymized_telemetry=False))


def _unavailable(error: Exception) -> IndexUnavailable:
    reason = " ".join(str(error).split())[:200]
    return IndexUnavailable(f"the vector index cannot be used: {type(error).__name__}: {reason}")
