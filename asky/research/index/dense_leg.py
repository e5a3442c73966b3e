"""The dense leg of a search: the chunks nearest to the query, from Chroma or an exact scan of the vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.research.index.matrix import Matrix
from asky.research.index.vector_index import IndexUnavailable
from asky.research.vector_store_common import join_packs
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.research.embedding.embedder import Embedder
    from asky.research.index.store_parts import StoreParts
    from asky.research.vector_store_common import Ids, Scores, Vectors
    from asky.storage.vectors import Coverage

_MIN_SHARE = 0.2  # the share of the store that a scope must hold for Chroma to be queried without a filter


@dataclass(frozen=True, slots=True)
class DenseLeg:
    """The candidates of the dense leg, and a lookup of the vectors of any chunk; empty if the leg did not run."""

    ids: tuple[int, ...] = ()
    query: Vectors | None = None
    find: Callable[[Ids], tuple[Ids, Vectors]] | None = None

    def rows(self, ids: Ids) -> Vectors | None:
        """Return the vectors of `ids`, float32[n, dim], with zeros if missing; `None` if the leg did not run."""
        if self.query is None or self.find is None:
            return None
        import numpy as np  # here and below: see `asky.research.vector_store_common`

        rows = np.zeros((len(ids), len(self.query)), dtype=np.float32)
        found, vectors = self.find(ids)
        if len(found):
            rows[np.searchsorted(ids, found)] = vectors
        return rows

    def cosines(self, count: int, rows: Vectors | None) -> Scores:
        """Return the cosines of `rows` with the query, float32[count]; NaN for a chunk without a vector."""
        import numpy as np

        if rows is None or self.query is None:
            return np.full(count, np.nan, dtype=np.float32)
        return np.where(rows.any(axis=1), rows @ self.query, np.float32("nan")).astype(np.float32)


def nearest(
    store: StoreParts, embedder: Embedder, query: str, scope: Scope, coverage: Coverage, count: int
) -> DenseLeg:
    """Return the `count` chunks of the scope with the highest cosines; `coverage` is that of the scope."""
    vector = store.cached_embedder(embedder).embed_query(query)
    if (
        uses_index(store, embedder, coverage)
        and (near := _ask_index(store, embedder, vector, scope, count)) is not None
    ):
        return DenseLeg(tuple(near), vector, lambda ids: _rows_in_packs(store, embedder, ids))
    matrix = store.matrix(embedder, scope, coverage.embedded)
    return DenseLeg(tuple(matrix.nearest(vector, count)), vector, matrix.rows_of)


def _rows_in_packs(store: StoreParts, embedder: Embedder, wanted: Ids) -> tuple[Ids, Vectors]:
    documents = set(store.tables.chunks.documents_of(wanted.tolist()).values())
    packs = store.tables.vectors.packs_of(store.space(embedder), sorted(documents))
    ids, vectors = join_packs(packs, embedder.dim)
    return Matrix(ids, [vectors]).rows_of(wanted)


def uses_index(store: StoreParts, embedder: Embedder, coverage: Coverage) -> bool:
    """Return whether a scope with this coverage is searched with Chroma, if that is available.

    Chroma is queried without a filter, which would cost 30 to 250 ms; chunks out of scope are dropped. A scope that is
    a small part of the store is better scanned.
    """
    engine = store.settings.engine
    if engine == "exact" or (engine == "auto" and coverage.embedded <= store.settings.exact_max_chunks):
        return False
    return coverage.chunks >= _MIN_SHARE * store.tables.vectors.coverage(store.space(embedder), Scope()).embedded


def _ask_index(store: StoreParts, embedder: Embedder, vector: Vectors, scope: Scope, count: int) -> list[int] | None:
    """Return the nearest chunks in scope from Chroma; `None` if it cannot answer and an exact scan is needed."""
    index = store.index(embedder)
    if index is None:
        return None
    try:
        index.follow()
        share = store.tables.chunks.count(scope) / max(len(index), 1)
        near = index.query(vector, int(count / min(share, 1.0)))
    except IndexUnavailable as error:
        store.warn("index", f"{error.message}; searching SQLite directly", error.hint)
        return None
    documents = store.tables.chunks.documents_of([each for each, _ in near])
    inside = store.tables.chunks.sources_of(sorted(set(documents.values())), scope)
    return [each for each, _ in near if documents.get(each) in inside][:count]
