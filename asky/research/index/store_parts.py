"""The parts of a search: the tables, the embedding model and the vector index, each opened on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from asky.config.schema import Retrieval
from asky.errors import AskyError
from asky.events import Listener, Warned
from asky.research.embedding.cached_embedder import CachedEmbedder
from asky.research.embedding.models import may_download
from asky.research.index.vector_index import ChromaIndex, IndexUnavailable, open_index
from asky.research.vector_store_common import join_packs

if TYPE_CHECKING:
    from asky.research.embedding.embedder import Embedder
    from asky.research.vector_store_common import Ids, Vectors
    from asky.storage.chunks import ChunkTable
    from asky.storage.documents import DocumentStore
    from asky.storage.findings import FindingStore
    from asky.storage.lexical import LexicalIndex
    from asky.storage.scope import Scope
    from asky.storage.text_vectors import TextVectorTable
    from asky.storage.vectors import VectorTable


@dataclass(frozen=True, slots=True)
class Tables:
    """The repositories that search reads and writes."""

    documents: DocumentStore
    chunks: ChunkTable
    lexical: LexicalIndex
    vectors: VectorTable
    findings: FindingStore
    text_vectors: TextVectorTable


class StoreParts:
    """The tables, the model and the index of one store, for one embedding model.

    `embedder` is called on first use and may raise an `AskyError`: search is then lexical only. Methods may be called
    from several threads, one at a time each.
    """

    def __init__(
        self,
        tables: Tables,
        *,
        embedder: Callable[[], Embedder],
        index_folder: Path,
        settings: Retrieval,
        listener: Listener,
    ) -> None:
        self.tables = tables
        self.settings = settings
        self.listener = listener
        self._make_embedder = embedder
        self._embedder: Embedder | None = None
        self._cached_embedder: CachedEmbedder | None = None
        self._index_folder = index_folder
        self._index: ChromaIndex | None = None
        self._matrix: tuple[tuple[int, Scope, int], Ids, Vectors] | None = None
        self._failed: dict[str, AskyError] = {}  # parts that could not be opened and are not tried again
        self._opening = threading.RLock()  # one thread loads the model and opens the index

    def embedder(self) -> Embedder | None:
        """Return the embedding model; `None` if it is unavailable, after a warning that says why."""
        part = "embedder" if may_download() else "local embedder"  # a run without the network fails for itself
        with self._opening:
            if self._embedder is None and part not in self._failed:
                try:
                    made = self._make_embedder()
                    _ = made.fingerprint  # raises if the model is missing
                    self._embedder = made
                except AskyError as error:
                    self._failed[part] = error
            if self._embedder is None:
                failed = self._failed[part]
                self.warn("embedder", f"{failed.message}; searching by keywords only", failed.hint)
            return self._embedder

    def cached_embedder(self, embedder: Embedder) -> CachedEmbedder:
        """Return the embedder of questions and other short texts."""
        with self._opening:
            if self._cached_embedder is None:
                self._cached_embedder = CachedEmbedder(embedder, self.space(embedder), self.tables.text_vectors)
            return self._cached_embedder

    def space(self, embedder: Embedder) -> int:
        """Return the id of the embedder's space."""
        return self.tables.vectors.space(embedder.fingerprint, embedder.dim)

    def index(self, embedder: Embedder) -> ChromaIndex | None:
        """Return the Chroma index, opened on first use; `None` if it is unavailable, after a warning that says why."""
        with self._opening:
            if self._index is None and "index" not in self._failed:
                try:
                    self._index = open_index(
                        self._index_folder,
                        self.tables.vectors,
                        fingerprint=embedder.fingerprint,
                        space_id=self.space(embedder),
                        dim=embedder.dim,
                    )
                except IndexUnavailable as error:
                    self._failed["index"] = error
            if (failed := self._failed.get("index")) is not None:
                self.warn("index", f"{failed.message}; searching SQLite directly", failed.hint)
            return self._index

    def matrix(self, embedder: Embedder, scope: Scope) -> tuple[Ids, Vectors]:
        """Return all ids and vectors in scope, int64[n] and float32[n, dim]; cached until either changes."""
        key = (self.space(embedder), scope, self.tables.vectors.version())
        kept = self._matrix
        if kept is None or kept[0] != key:
            kept = (key, *join_packs(self.tables.vectors.packs(key[0], scope), embedder.dim))
            self._matrix = kept
        return kept[1], kept[2]

    def warn(self, topic: str, message: str, hint: str | None = None) -> None:
        """Warn about `topic`; each affected run keeps the first warning of a topic."""
        self.listener(Warned(message, hint, topic))

    def close(self) -> None:
        """Close the index and write pending vectors. The store can be used again."""
        if self._index is not None:
            self._index.close()
            self._index = None
        if self._cached_embedder is not None:
            self._cached_embedder.flush()
