"""The vectors in the store, and Chroma's index of them: whether each can be trusted, and whether they agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asky.errors import AskyError
from asky.health.check import Check, note, ok, problem
from asky.storage.integrity import SpaceState, StoreIntegrity
from asky.storage.scope import Scope
from asky.storage.vectors import VectorTable

if TYPE_CHECKING:
    from asky.storage.database import Database

_EMBED_AGAIN = "`asky corpus rebuild --embeddings` computes them again"


def check_vectors(database: Database) -> Iterator[Check]:
    """Whether every vector can be compared with a question's, and how much of the corpus has one."""
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
            message = f"{space.misshapen:,} packs of {space.fingerprint} have not the length of their vectors"
            yield problem("vectors", message, _EMBED_AGAIN)
    if misshapen := integrity.misshapen_findings():
        message = f"the vectors of {len(misshapen):,} findings have not the length that they should"
        yield problem(
            "vectors", message, "`asky memory rm ID` and add them again: " + ", ".join(map(str, misshapen[:9]))
        )


def _check_space(integrity: StoreIntegrity, table: VectorTable, space: SpaceState) -> Iterator[Check]:
    import numpy as np  # 0.2 s: only where there are vectors

    from asky.research.vector_store_common import ids_from_bytes, vectors_from_bytes

    broken = 0
    embedded = []
    for pack in table.packs(space.id, Scope()):
        embedded.append(ids_from_bytes(pack.chunk_ids))
        rows = vectors_from_bytes(pack.vectors, space.dim)
        lengths = np.einsum("ij,ij->i", rows, rows)  # not finite where any number of a row is not
        broken += int(np.count_nonzero(~np.isfinite(lengths) | (lengths == 0)))
    if broken:
        yield problem("vectors", f"{broken:,} vectors of {space.fingerprint} are zero or not finite", _EMBED_AGAIN)
    ids = np.concatenate(embedded)
    strange = int(np.count_nonzero(~np.isin(ids, np.asarray(integrity.chunk_ids(), dtype=ids.dtype))))
    twice = len(ids) - len(np.unique(ids))
    if strange or twice:
        message = f"{strange:,} vectors of {space.fingerprint} belong to no passage, {twice:,} are there twice"
        yield problem("vectors", message, _EMBED_AGAIN)


def _coverage(integrity: StoreIntegrity, spaces: list[SpaceState]) -> Check:
    chunks = integrity.counts().chunks
    if not spaces:
        return ok("vectors", "none yet") if not chunks else note("vectors", f"none of {chunks:,} passages is embedded")
    words = "; ".join(f"{each.vectors:,} of {chunks:,} passages ({each.fingerprint})" for each in spaces)
    if len(spaces) > 1:
        return note("vectors", f"of several models: {words}", "only those of the configured model are used")
    if spaces[0].vectors < chunks:
        return note("vectors", words, "`asky corpus sync --all` embeds the rest")
    return ok("vectors", words)
