"""The dense leg of a search: the chunks that are nearest to the query, by Chroma or by an exact scan of the vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from asky.research.vector_index import IndexUnavailable
from asky.research.vector_store_common import best, join_packs

if TYPE_CHECKING:
    from asky.research.embedder import Embedder
    from asky.research.vector_store import VectorStore
    from asky.research.vector_store_common import Ids, Scores, Vectors
    from asky.storage.scope import Scope
    from asky.storage.vectors import Coverage

_SMALLEST_SHARE = 0.2  # of the store that a scope must be for Chroma to be asked without a filter


@dataclass(frozen=True, slots=True)
class DenseLeg:
    """What the dense leg proposes, and how it finds the vectors of any chunk; both empty where it did not run."""

    ids: tuple[int, ...] = ()
    query: Vectors | None = None
    find: Callable[[Ids], tuple[Ids, Vectors]] | None = None

    def rows(self, ids: Ids) -> Vectors | None:
        """float32[n, dim]: the vectors of `ids`, zeros for a chunk without one; `None` if the leg did not run."""
        if self.query is None or self.find is None:
            return None
        rows = np.zeros((len(ids), len(self.query)), dtype=np.float32)
        found, vectors = self.find(ids)
        rows[np.searchsorted(ids, found)] = vectors
        return rows

    def cosines(self, count: int, rows: Vectors | None) -> Scores:
        """float32[count] for the `rows` of so many chunks, NaN for a chunk without a vector."""
        if rows is None or self.query is None:
            return np.full(count, np.nan, dtype=np.float32)
        return np.where(rows.any(axis=1), rows @ self.query, np.float32("nan")).astype(np.float32)


def nearest(
    store: VectorStore, embedder: Embedder, query: str, scope: Scope, coverage: Coverage, count: int
) -> DenseLeg:
    """The best `count` chunks by cosine in a scope with that `coverage`."""
    vector = store.remembered(embedder).embed_query(query)
    if uses_index(store, coverage) and (near := _ask_index(store, embedder, vector, scope, count)) is not None:
        return DenseLeg(tuple(near), vector, lambda ids: _rows_in_packs(store, embedder, ids))
    ids, vectors = store.matrix(embedder, scope)
    near = ids[best(vectors @ vector, count)].tolist()
    return DenseLeg(tuple(near), vector, lambda wanted: _rows_in_matrix(ids, vectors, wanted))


def _rows_in_matrix(ids: Ids, vectors: Vectors, wanted: Ids) -> tuple[Ids, Vectors]:
    rows = np.flatnonzero(np.isin(ids, wanted))
    return ids[rows], vectors[rows]


def _rows_in_packs(store: VectorStore, embedder: Embedder, wanted: Ids) -> tuple[Ids, Vectors]:
    documents = set(store.tables.chunks.documents_of(wanted.tolist()).values())
    packs = store.tables.vectors.packs_of(store.space(embedder), sorted(documents))
    return _rows_in_matrix(*join_packs(packs, embedder.dim), wanted)


def uses_index(store: VectorStore, coverage: Coverage) -> bool:
    """Whether a scope with this many vectors is searched with Chroma."""
    engine = store.settings.engine
    return engine == "chroma" or (engine == "auto" and coverage.embedded > store.settings.exact_max_chunks)


def _ask_index(store: VectorStore, embedder: Embedder, vector: Vectors, scope: Scope, count: int) -> list[int] | None:
    """The nearest chunks in scope by Chroma, or `None` if it cannot tell: the exact scan then answers.

    Chroma is asked without a filter, which would cost it 30 to 250 ms, and what lies out of scope is dropped. A scope
    that is a small part of the store is better scanned.
    """
    index = store.index(embedder)
    if index is None:
        return None
    try:
        index.follow()
        share = store.tables.chunks.count(scope) / max(len(index), 1)
        if share < _SMALLEST_SHARE:
            return None
        near = index.query(vector, int(count / min(share, 1.0)))
    except IndexUnavailable as error:
        store.say_once("index", f"{error.message}; searching SQLite directly", error.hint)
        return None
    documents = store.tables.chunks.documents_of([each for each, _ in near])
    inside = store.tables.chunks.sources_of(sorted(set(documents.values())), scope)
    return [each for each, _ in near if documents.get(each) in inside][:count]
