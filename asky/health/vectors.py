"""Checks of the stored vectors and of Chroma's index of them: whether each is valid, and whether they agree.

Chroma is not opened: the chunks in its index are read from its own SQLite file. Checking that each can still be found
takes Chroma, in a separate process, and is part of a full check only.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from asky.errors import AskyError
from asky.health.check import Check, note, ok, problem
from asky.research.index.state import chroma_version, is_unchanged, plausible_size, probe, read_state
from asky.research.index.vector_index import open_index
from asky.research.vector_store_common import ids_from_bytes, vectors_from_bytes
from asky.storage.database import Database
from asky.storage.repair.integrity import SpaceState, StoreIntegrity
from asky.storage.scope import Scope
from asky.storage.vectors import VectorTable

_EMBED_HINT = "`asky corpus rebuild --embeddings` computes them again"
_NAME = "vector index"
_REPAIR_HINT = "`asky doctor --repair` rebuilds it from the store; nothing is embedded again"
_UNREADABLE_HINT = "check the folder's permissions; meanwhile asky searches the vectors in the store"
_NO_LIMIT = 1 << 60


def check_vectors(database: Database) -> Iterator[Check]:
    """Check that the stored vectors are valid, and report how much of the corpus is embedded."""
    integrity, table = StoreIntegrity(database), VectorTable(database)
    try:
        spaces = [each for each in integrity.spaces() if each.vectors]
        found = [
            *_check_shapes(integrity, spaces),
            *(each for space in spaces if not space.misshapen for each in _check_space(integrity, table, space)),
        ]
    except AskyError as error:
        yield problem("vectors", error.message)
        return
    yield from found
    if not found:
        yield _coverage(integrity, spaces)


def _check_shapes(integrity: StoreIntegrity, spaces: list[SpaceState]) -> Iterator[Check]:
    for space in spaces:
        if space.misshapen:
            message = f"{space.misshapen:,} vector packs of {space.fingerprint} have the wrong length"
            yield problem("vectors", message, _EMBED_HINT)
    if misshapen := integrity.misshapen_findings():
        message = f"the vectors of {len(misshapen):,} findings have the wrong length"
        numbers = ", ".join(map(str, misshapen[:9]))
        yield problem("vectors", message, f"remove them with `asky memory rm ID` and add them again: {numbers}")


def _check_space(integrity: StoreIntegrity, table: VectorTable, space: SpaceState) -> Iterator[Check]:
    import numpy as np  # 0.2 s: only where there are vectors

    broken = 0
    embedded = []
    for pack in table.packs(space.id, Scope()):
        embedded.append(ids_from_bytes(pack.chunk_ids))
        rows = vectors_from_bytes(pack.vectors, space.dim)
        lengths = np.einsum("ij,ij->i", rows, rows)  # not finite if any number of the row is not
        broken += int(np.count_nonzero(~np.isfinite(lengths) | (lengths == 0)))
    if broken:
        yield problem("vectors", f"{broken:,} vectors of {space.fingerprint} are zero or not finite", _EMBED_HINT)
    ids = np.concatenate(embedded)
    unknown = int(np.count_nonzero(~np.isin(ids, np.asarray(integrity.chunk_ids(), dtype=ids.dtype))))
    duplicates = len(ids) - len(np.unique(ids))
    if unknown or duplicates:
        message = f"{unknown:,} vectors of {space.fingerprint} belong to no passage, {duplicates:,} are duplicates"
        yield problem("vectors", message, _EMBED_HINT)


def _coverage(integrity: StoreIntegrity, spaces: list[SpaceState]) -> Check:
    chunks = integrity.counts().chunks
    if not spaces:
        return ok("vectors", "none yet") if not chunks else note("vectors", f"none of {chunks:,} passages is embedded")
    words = "; ".join(f"{each.vectors:,} of {chunks:,} passages ({each.fingerprint})" for each in spaces)
    if len(spaces) > 1:
        return note("vectors", f"from several models: {words}", "only those of the configured model are used")
    if spaces[0].vectors < chunks:
        return note("vectors", words, "`asky corpus sync --all` embeds the rest")
    return ok("vectors", words)


# Chroma's index


def check_index(folder: Path, database: Database, *, full: bool, repair: bool) -> Check:
    """Check Chroma's index under `folder`; `full` also has Chroma find its own vectors.

    With `repair`, an index with a problem is rebuilt from the vectors in SQLite.
    """
    table = VectorTable(database)
    try:
        if not (folder / "index.json").exists() and not any(folder.glob("generation-*")):
            return ok(_NAME, "not used so far: the vectors in the store are searched directly")
        spaces = StoreIntegrity(database).spaces()
        found = _inspect(folder, table, spaces, full=full)
        return _rebuilt(folder, table, spaces, found) if repair and found.state == "problem" else found
    except AskyError as error:
        return problem(_NAME, error.message, error.hint)
    except OSError as error:  # a lock on a read-only disk, or a folder of another user
        reason = (error.strerror or type(error).__name__).lower()
        return note(_NAME, f"not checked: {error.filename or folder}: {reason}", _UNREADABLE_HINT)


def _inspect(folder: Path, table: VectorTable, spaces: list[SpaceState], *, full: bool) -> Check:
    state = read_state(folder)
    if state is None:
        return problem(_NAME, "its file index.json is missing or damaged", _REPAIR_HINT)
    generation = folder / state.generation
    if not generation.is_dir():
        return problem(_NAME, f"its folder {state.generation} is missing", _REPAIR_HINT)
    space = next((each for each in spaces if each.fingerprint == state.fingerprint), None)
    if space is None or state.chromadb != chroma_version():
        return note(_NAME, "belongs to another embedding model or Chroma version", "it is rebuilt on its next use")
    with _lock(folder) as acquired:
        if not acquired:
            hint = "run `asky doctor` again when that process is done"
            return note(_NAME, "in use by another process, and not checked", hint)
        fault = _fault(generation, table, space, full=full)
        closed = read_state(folder) or state  # as the check has left it
        if fault is None and closed.clean and not is_unchanged(generation, closed):
            fault = "its files have changed since it was closed"
    if fault is not None:
        return problem(_NAME, fault, _REPAIR_HINT)
    if not state.clean:
        return note(_NAME, "was not closed: its process was killed", "it is checked on its next use")
    return ok(_NAME, f"holds the {space.vectors:,} vectors of the store" + (" and finds them" if full else ""))


def _fault(generation: Path, table: VectorTable, space: SpaceState, *, full: bool) -> str | None:
    if not plausible_size(generation):
        return "its graph file is far larger than it should be"
    difference = _difference(generation / "chroma.sqlite3", table, space)
    if difference is None and full and not probe(generation):
        return "it does not find its own vectors"
    return difference


def _difference(file: Path, table: VectorTable, space: SpaceState) -> str | None:
    """Return how Chroma's chunks differ from SQLite's once the outbox is applied; `None` if they agree."""
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT embedding_id FROM embeddings")
            indexed = {int(row[0]) for row in rows}
    except (sqlite3.Error, ValueError) as error:
        return f"its rows cannot be read: {error}"
    wanted = {int(each) for pack in table.packs(space.id, Scope()) for each in ids_from_bytes(pack.chunk_ids)}
    for entry in table.outbox(space.id, limit=_NO_LIMIT):
        ids = ids_from_bytes(entry.chunk_ids).tolist()
        if entry.operation == "delete":
            indexed.difference_update(ids)
        elif entry.vectors is not None:
            indexed.update(ids)
    if indexed == wanted:
        return None
    return f"it lacks {len(wanted - indexed):,} of {len(wanted):,} passages and holds {len(indexed - wanted):,} others"


@contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Lock the index while the context is open. Yields `False` if another process has it open."""
    if not (folder / "lock").exists():
        yield True
        return
    from filelock import FileLock, Timeout

    with ExitStack() as held:
        try:
            held.enter_context(FileLock(folder / "lock", timeout=0, mode=0o600))
        except Timeout:
            yield False
        else:
            yield True


def _rebuilt(folder: Path, table: VectorTable, spaces: list[SpaceState], found: Check) -> Check:
    """Rebuild the index for its previous space, or else the fullest one, and return its state."""
    if not spaces:
        return found
    state = read_state(folder)
    fingerprint = state.fingerprint if state is not None else None
    space = next((each for each in spaces if each.fingerprint == fingerprint), spaces[0])
    index = open_index(folder, table, fingerprint=space.fingerprint, space_id=space.id, dim=space.dim, rebuild=True)
    count = len(index)
    index.close()
    if count != space.vectors:
        return problem(_NAME, f"{found.message}; rebuilt, it holds {count:,} of {space.vectors:,} vectors")
    return ok(_NAME, f"{found.message}; rebuilt, it holds the {count:,} vectors of the store")
