"""Chroma's index on disk: whether it is whole and holds what SQLite holds. Chroma itself is not opened here.

Which chunks the index has is read from Chroma's own SQLite file. Whether each of them can still be found takes Chroma,
in a process of its own: only in a full check.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from asky.errors import AskyError
from asky.health.check import Check, note, ok, problem
from asky.research.vector_index_state import is_unchanged, plausible_size, probe, read_state
from asky.storage.integrity import SpaceState, StoreIntegrity
from asky.storage.scope import Scope
from asky.storage.vectors import VectorTable

if TYPE_CHECKING:
    from asky.storage.database import Database

_NAME = "vector index"
_REPAIR_HINT = "`asky doctor --repair` makes it anew from the store; nothing is embedded again"
_UNREADABLE_HINT = "run it again where the folder can be read and written; searches use the vectors in the store"
_ALL = 1 << 60


def check_index(folder: Path, database: Database, *, full: bool, repair: bool) -> Check:
    """Whether Chroma's index under `folder` can be trusted; `full` has Chroma find its vectors again.

    With `repair` an index with a problem is made anew from the vectors in SQLite.
    """
    table = VectorTable(database)
    try:
        if not (folder / "index.json").exists() and not any(folder.glob("generation-*")):
            return ok(_NAME, "not used so far: the vectors in the store are searched directly")
        spaces = StoreIntegrity(database).spaces()
        found = _look(folder, table, spaces, full=full)
        return _rebuilt(folder, table, spaces, found) if repair and found.state == "problem" else found
    except AskyError as error:
        return problem(_NAME, error.message, error.hint)
    except OSError as error:  # the lock of an index on a read-only disk, or a folder of somebody else's
        reason = (error.strerror or type(error).__name__).lower()
        return note(_NAME, f"not checked: {error.filename or folder}: {reason}", _UNREADABLE_HINT)


def _look(folder: Path, table: VectorTable, spaces: list[SpaceState], *, full: bool) -> Check:
    from importlib.metadata import version

    state = read_state(folder)
    if state is None:
        return problem(_NAME, "its note index.json is missing or damaged", _REPAIR_HINT)
    generation = folder / state.generation
    if not generation.is_dir():
        return problem(_NAME, f"its folder {state.generation} is gone", _REPAIR_HINT)
    space = next((each for each in spaces if each.fingerprint == state.fingerprint), None)
    if space is None or state.chromadb != version("chromadb"):
        return note(_NAME, "is of another embedding model or Chroma version", "it is made anew when it is next used")
    with _lock(folder) as alone:
        if not alone:
            return note(_NAME, "in use by another process, and not checked", "run it again when that process is done")
        fault = _fault(generation, table, space, full=full)
        closed = read_state(folder) or state  # as looking has left it
        if fault is None and closed.clean and not is_unchanged(generation, closed):
            fault = "its files are not those that were there when it was closed"
    if fault is not None:
        return problem(_NAME, fault, _REPAIR_HINT)
    if not state.clean:
        return note(_NAME, "was not closed: its process was killed", "it is checked when it is next used")
    return ok(_NAME, f"holds the {space.vectors:,} vectors of the store" + (" and finds them" if full else ""))


def _fault(generation: Path, table: VectorTable, space: SpaceState, *, full: bool) -> str | None:
    if not plausible_size(generation):
        return "its graph file has grown out of proportion"
    difference = _difference(generation / "chroma.sqlite3", table, space)
    if difference is None and full and not probe(generation):
        return "it does not find its own vectors again"
    return difference


def _difference(file: Path, table: VectorTable, space: SpaceState) -> str | None:
    """How the chunks in Chroma differ from those in SQLite once the outbox is delivered; `None` where they agree."""
    from asky.research.vector_store_common import ids_from_bytes

    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT embedding_id FROM embeddings")
            indexed = {int(row[0]) for row in rows}
    except (sqlite3.Error, ValueError) as error:
        return f"its rows cannot be read: {error}"
    wanted = {int(each) for pack in table.packs(space.id, Scope()) for each in ids_from_bytes(pack.chunk_ids)}
    for entry in table.outbox(space.id, limit=_ALL):
        ids = ids_from_bytes(entry.chunk_ids).tolist()
        if entry.operation == "delete":
            indexed.difference_update(ids)
        elif entry.vectors is not None:
            indexed.update(ids)
    if indexed == wanted:
        return None
    return f"it lacks {len(wanted - indexed):,} of {len(wanted):,} passages and holds {len(indexed - wanted):,} others"


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Whether nobody else has the index open; nobody can open it meanwhile."""
    if not (folder / "lock").exists():
        yield True
        return
    from filelock import FileLock, Timeout

    lock = FileLock(folder / "lock", timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def _rebuilt(folder: Path, table: VectorTable, spaces: list[SpaceState], found: Check) -> Check:
    """The state of the index after it was made anew for the space that it was of, or the fullest one."""
    from asky.research.vector_index import rebuild_index  # numpy comes with it

    if not spaces:
        return found
    state = read_state(folder)
    fingerprint = state.fingerprint if state is not None else None
    space = next((each for each in spaces if each.fingerprint == fingerprint), spaces[0])
    index = rebuild_index(folder, table, fingerprint=space.fingerprint, space_id=space.id, dim=space.dim)
    count = len(index)
    index.close()
    if count != space.vectors:
        return problem(_NAME, f"{found.message}; made anew, it holds {count:,} of {space.vectors:,} vectors")
    return ok(_NAME, f"{found.message}; made anew, it holds the {count:,} vectors of the store")
