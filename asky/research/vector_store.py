"""`VectorStore`: hybrid search over the corpus, and the life of its vectors and their index.

The dense leg is an exact scan of the vectors in SQLite while the scope is small, and Chroma above a threshold; the
lexical leg is FTS5. Either leg can be missing - no embedding model, nothing embedded yet, an index in use elsewhere -
and search goes on with the other, saying so once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from asky.errors import AskyError
from asky.events import Listener, Warned
from asky.research import vector_store_chunk_link_ops as chunk_ops
from asky.research import vector_store_finding_ops as finding_ops
from asky.research.vector_index import ChromaIndex, IndexUnavailable, open_index
from asky.research.vector_store_common import join_packs
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.research.embeddings import Embedder
    from asky.research.vector_store_common import Ids, Vectors
    from asky.storage.chunks import ChunkTable
    from asky.storage.documents import DocumentStore
    from asky.storage.lexical import LexicalIndex
    from asky.storage.sessions import Finding, FindingStore
    from asky.storage.vectors import Coverage, VectorTable
    from asky.values import Hit

Engine = Literal["auto", "chroma", "exact"]


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How search works. The constants are measured; see `docs/decisions`."""

    engine: Engine = "auto"
    exact_max_chunks: int = 500_000
    candidates: int = 200
    dense_weight: float = 0.6
    context_weight: float = 1.0
    embed_at_once: int = 256


@dataclass(frozen=True, slots=True)
class Tables:
    """The repositories that search reads and writes."""

    documents: DocumentStore
    chunks: ChunkTable
    lexical: LexicalIndex
    vectors: VectorTable
    findings: FindingStore


class VectorStore:
    """Search over chunks and findings, for one embedding model.

    `embedder` is called on first need and may raise an `AskyError`: search is then lexical only. Methods may be called
    from several threads, one at a time each.
    """

    def __init__(
        self,
        tables: Tables,
        *,
        embedder: Callable[[], Embedder],
        index_folder: Path,
        settings: RetrievalSettings,
        listener: Listener,
    ) -> None:
        self.tables = tables
        self.settings = settings
        self.listener = listener
        self._make_embedder = embedder
        self._embedder: Embedder | None = None
        self._index_folder = index_folder
        self._index: ChromaIndex | None = None
        self._matrix: tuple[tuple[int, Scope, int], Ids, Vectors] | None = None
        self._said: set[str] = set()

    # lifecycle

    def embedder(self) -> Embedder | None:
        """The embedding model, or `None` after saying once why there is none."""
        if self._embedder is None and "embedder" not in self._said:
            try:
                self._embedder = self._make_embedder()
            except AskyError as error:
                self.say_once("embedder", f"{error.message}; searching by keywords only", error.hint)
        return self._embedder

    def space(self, embedder: Embedder) -> int:
        """The id of the embedder's space."""
        return self.tables.vectors.space(embedder.fingerprint, embedder.dim)

    def index(self, embedder: Embedder) -> ChromaIndex | None:
        """The Chroma index, opened on first need, or `None` after saying once why it cannot serve."""
        if self._index is None and "index" not in self._said:
            try:
                self._index = open_index(
                    self._index_folder,
                    self.tables.vectors,
                    fingerprint=embedder.fingerprint,
                    space_id=self.space(embedder),
                    dim=embedder.dim,
                )
            except IndexUnavailable as error:
                self.say_once("index", f"{error.message}; searching SQLite directly", error.hint)
        return self._index

    def matrix(self, embedder: Embedder, scope: Scope) -> tuple[Ids, Vectors]:
        """All vectors in scope: int64[n] and float32[n, dim]. Kept until the corpus or the scope changes."""
        key = (self.space(embedder), scope, self.tables.vectors.version())
        if self._matrix is None or self._matrix[0] != key:
            ids, vectors = join_packs(self.tables.vectors.packs(key[0], scope), embedder.dim)
            self._matrix = (key, ids, vectors)
        return self._matrix[1], self._matrix[2]

    def say_once(self, subject: str, message: str, hint: str | None = None) -> None:
        """Warn about `subject`, unless that was done before."""
        if subject not in self._said:
            self._said.add(subject)
            self.listener(Warned(message, hint))

    def close(self) -> None:
        """Leave the index clean. The store can be used again."""
        if self._index is not None:
            self._index.close()
            self._index = None

    # chunks

    def coverage(self, scope: Scope) -> Coverage | None:
        """How much of the scope is embedded, or `None` without an embedding model."""
        embedder = self.embedder()
        return self.tables.vectors.coverage(self.space(embedder), scope) if embedder else None

    def store_chunk_embeddings(self, scope: Scope, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed every chunk in scope that has no vector; returns how many. Each batch is kept as soon as it is done."""
        return chunk_ops.store_chunk_embeddings(self, scope, progress)

    def search_content_chunks(self, query: str, scope: Scope, *, limit: int) -> list[Hit]:
        """The best chunks for `query`, best first, diverse, at most `limit`; empty if nothing matches."""
        return chunk_ops.search_content_chunks(self, query, scope, limit)

    def clear_cache_embeddings(self, scope: Scope) -> int:
        """Drop the vectors of everything in scope and return how many chunks lost theirs."""
        return chunk_ops.clear_cache_embeddings(self, scope)

    # findings

    def store_finding(self, text: str, **details: object) -> int:
        """Keep a finding with its vector; see `FindingStore.add` for `details`."""
        return finding_ops.store_finding(self, text, details)

    def search_findings(self, query: str, *, session_id: str | None, limit: int) -> list[tuple[Finding, float]]:
        """Findings about `query`, best first, with their relevance in [0, 1]; those below the floor are left out."""
        return finding_ops.search_findings(self, query, session_id, limit)

    def embed_texts(self, texts: Sequence[str]) -> Vectors | None:
        """float32[n, dim], or `None` without an embedding model."""
        embedder = self.embedder()
        return embedder.embed(texts) if embedder else None
