"""`VectorStore`: hybrid search over the corpus, and the life of its vectors and their index.

The dense leg is an exact scan of the vectors in SQLite while the scope is small, and Chroma above a threshold; the
lexical leg is FTS5. Either leg can be missing - no embedding model, nothing embedded yet, an index in use elsewhere -
and search goes on with the other, saying so once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from asky.config.schema import Retrieval
from asky.errors import AskyError
from asky.events import Listener, Warned
from asky.research import vector_store_chunk_link_ops as chunk_ops
from asky.research import vector_store_embedding as embedding_ops
from asky.research import vector_store_finding_ops as finding_ops
from asky.research.locations import location_of
from asky.research.piece_tokenizer import PieceTokenizer
from asky.research.remembered_vectors import RememberedVectors
from asky.research.vector_index import ChromaIndex, IndexUnavailable, open_index, rebuild_index
from asky.research.vector_store_common import join_packs
from asky.research.vector_store_dense_leg import uses_index
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.research.chunker import Tokenizer
    from asky.research.embedder import Embedder
    from asky.research.vector_store_common import Ids, Vectors
    from asky.storage.chunks import ChunkTable
    from asky.storage.documents import DocumentStore
    from asky.storage.findings import Finding, FindingScope, FindingStore
    from asky.storage.lexical import LexicalIndex
    from asky.storage.text_vectors import TextVectorTable
    from asky.storage.vectors import Coverage, VectorTable
    from asky.values import Hit, Link, Location, Span


@dataclass(frozen=True, slots=True)
class Tables:
    """The repositories that search reads and writes."""

    documents: DocumentStore
    chunks: ChunkTable
    lexical: LexicalIndex
    vectors: VectorTable
    findings: FindingStore
    text_vectors: TextVectorTable


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
        settings: Retrieval,
        listener: Listener,
    ) -> None:
        self.tables = tables
        self.settings = settings
        self.listener = listener
        self._make_embedder = embedder
        self._embedder: Embedder | None = None
        self._remembered: RememberedVectors | None = None
        self._index_folder = index_folder
        self._index: ChromaIndex | None = None
        self._matrix: tuple[tuple[int, Scope, int], Ids, Vectors] | None = None
        self._said: set[str] = set()
        self._opening = threading.RLock()  # a model is loaded, and the index opened, by one thread

    # lifecycle

    def embedder(self) -> Embedder | None:
        """The embedding model, or `None` after saying once why there is none."""
        with self._opening:
            if self._embedder is None and "embedder" not in self._said:
                try:
                    made = self._make_embedder()
                    _ = made.fingerprint  # which is where a model that is not there is noticed
                    self._embedder = made
                except AskyError as error:
                    self.say_once("embedder", f"{error.message}; searching by keywords only", error.hint)
            return self._embedder

    def remembered(self, embedder: Embedder) -> RememberedVectors:
        """The vectors of questions and other short texts."""
        with self._opening:
            if self._remembered is None:
                self._remembered = RememberedVectors(embedder, self.space(embedder), self.tables.text_vectors)
            return self._remembered

    def space(self, embedder: Embedder) -> int:
        """The id of the embedder's space."""
        return self.tables.vectors.space(embedder.fingerprint, embedder.dim)

    def index(self, embedder: Embedder) -> ChromaIndex | None:
        """The Chroma index, opened on first need, or `None` after saying once why it cannot serve."""
        with self._opening:
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
        kept = self._matrix
        if kept is None or kept[0] != key:
            kept = (key, *join_packs(self.tables.vectors.packs(key[0], scope), embedder.dim))
            self._matrix = kept
        return kept[1], kept[2]

    def rebuild_index(self) -> int | None:
        """Make the Chroma index anew, if search uses it; returns how many chunks it holds, or `None` without one."""
        embedder = self.embedder()
        if embedder is None or not uses_index(self, self.tables.vectors.coverage(self.space(embedder), Scope())):
            return None
        self.close()
        with self._opening:
            self._index = rebuild_index(
                self._index_folder,
                self.tables.vectors,
                fingerprint=embedder.fingerprint,
                space_id=self.space(embedder),
                dim=embedder.dim,
            )
        return len(self._index)

    def say_once(self, subject: str, message: str, hint: str | None = None) -> None:
        """Warn about `subject`, unless that was done before."""
        if subject not in self._said:
            self._said.add(subject)
            self.listener(Warned(message, hint))

    def close(self) -> None:
        """Leave the index clean, and write what waits to be. The store can be used again."""
        if self._index is not None:
            self._index.close()
            self._index = None
        if self._remembered is not None:
            self._remembered.flush()

    # chunks

    def coverage(self, scope: Scope) -> Coverage | None:
        """How much of the scope is embedded, or `None` without an embedding model."""
        embedder = self.embedder()
        return self.tables.vectors.coverage(self.space(embedder), scope) if embedder else None

    def store_chunk_embeddings(self, scope: Scope, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed every chunk in scope that has no vector; returns how many. Each batch is kept as soon as it is done."""
        return embedding_ops.store_chunk_embeddings(self, scope, progress)

    def search_content_chunks(self, query: str, scope: Scope, *, limit: int) -> list[Hit]:
        """The best chunks for `query`, best first, diverse, at most `limit`; empty if nothing matches."""
        return self.search_several([query], scope, limit=limit)[0]

    def search_several(
        self, queries: Sequence[str], scope: Scope, *, limit: int, first: Sequence[str] = ()
    ) -> list[list[Hit]]:
        """As `search_content_chunks`, for each of `queries`, which differ.

        Where chunks in scope have no vector, at most `embed_at_once` are embedded for all queries together: those that
        their words find, then others, those of the sources with the ids `first` before the rest.
        """
        return chunk_ops.search_content_chunks(self, queries, scope, limit, first)

    def clear_cache_embeddings(self, scope: Scope) -> int:
        """Drop the vectors of everything in scope and return how many chunks lost theirs."""
        return embedding_ops.clear_cache_embeddings(self, scope)

    def search_relevant_links(self, query: str, links: Sequence[Link], *, limit: int) -> list[tuple[Link, float]]:
        """The links whose words are nearest to `query`, best first, with their relevance in [0, 1]; at most `limit`."""
        return chunk_ops.search_relevant_links(self, query, links, limit)

    # findings

    def store_finding(self, text: str, **details: object) -> int:
        """Keep a finding with its vector; see `FindingStore.add` for `details`."""
        return finding_ops.store_finding(self, text, details)

    def search_findings(self, query: str, scope: FindingScope, *, limit: int) -> list[tuple[Finding, float]]:
        """Findings in scope about `query`, best first, with their relevance in [0, 1]; the newer first where that ties.

        Relevance is the cosine with an embedding model, and without one the share of the query's content terms; what
        lies below the floor is left out.
        """
        return finding_ops.search_findings(self, query, scope, limit)

    # what other stages need of the model and the texts

    def embed_texts(self, texts: Sequence[str]) -> Vectors | None:
        """float32[n, dim], or `None` without an embedding model. No text is embedded twice, now or in a later run."""
        embedder = self.embedder()
        return self.remembered(embedder).embed(texts) if embedder else None

    def tokenizer(self) -> Tokenizer:
        """The embedding model's tokenizer; without a model one that counts no fewer tokens."""
        embedder = self.embedder()
        return embedder.tokenizer if embedder else PieceTokenizer()

    def count_tokens(self, text: str) -> int:
        """The tokens of `text`, by `tokenizer`."""
        return self.tokenizer().count([text])[0]

    def location(self, document_id: int, span: Span) -> Location:
        """The section path and page at which a span begins."""
        return location_of(*self.tables.documents.structure(document_id), span.start)
