"""`VectorStore`: hybrid search over the corpus, and the life of its vectors and their index.

The dense leg is an exact scan of the vectors in SQLite while the scope is small, and Chroma above a threshold; the
lexical leg is FTS5. Either leg can be missing - no embedding model, nothing embedded yet, an index in use elsewhere -
and search continues with the other, saying so once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from asky.research import vector_store_chunk_link_ops as chunk_ops
from asky.research import vector_store_finding_ops as finding_ops
from asky.research.embedding.piece_tokenizer import PieceTokenizer
from asky.research.excerpts.locations import Places
from asky.research.index import embed_chunks as embedding_ops
from asky.research.index.dense_leg import uses_index
from asky.research.index.store_parts import StoreParts
from asky.research.index.store_parts import Tables as Tables
from asky.research.ranking import DIVERSE, Selection
from asky.storage.scope import Scope

if TYPE_CHECKING:
    from asky.research.chunker import Tokenizer
    from asky.research.vector_store_common import Vectors
    from asky.storage.findings import Finding, FindingScope
    from asky.storage.vectors import Coverage
    from asky.values import Hit, Link, Location, Span


class VectorStore(StoreParts):
    """Search over chunks and findings, with one embedding model; see `StoreParts` for the parts that it opens.

    Methods may be called from several threads, one at a time each.
    """

    def rebuild_index(self) -> int | None:
        """Rebuild the Chroma index, if search uses it; return the number of its chunks, or `None` without one."""
        embedder = self.embedder()
        if embedder is None or self.engine(Scope()) != "chroma":
            return None
        self.close()
        with self._opening:
            self._index = self.open_index(embedder, rebuild=True)
        return len(self._index)

    def engine(self, scope: Scope) -> Literal["exact", "chroma"] | None:
        """Return what compares vectors in this scope: an exact scan or Chroma; `None` without an embedding model."""
        embedder, coverage = self.embedder(), self.coverage(scope)
        if embedder is None or coverage is None:
            return None
        return "chroma" if uses_index(self, embedder, coverage) else "exact"

    # chunks

    def coverage(self, scope: Scope) -> Coverage | None:
        """Return how much of the scope is embedded; `None` without an embedding model."""
        embedder = self.embedder()
        return self.tables.vectors.coverage(self.space(embedder), scope) if embedder else None

    def store_chunk_embeddings(self, scope: Scope, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Embed every chunk in scope that has no vector; return how many. Each batch is stored when it is done."""
        return embedding_ops.store_chunk_embeddings(self, scope, progress)

    def count_left(self) -> int | None:
        """Return how many chunks are left to embed in collections that are partly embedded; `None` without a model."""
        return embedding_ops.count_left(self)

    def embed_left(self, progress: Callable[[int, int], None]) -> int:
        """Embed these chunks, in small batches; return how many."""
        return embedding_ops.embed_left(self, progress)

    def search_content_chunks(
        self,
        query: str,
        scope: Scope,
        *,
        limit: int,
        selection: Selection = DIVERSE,
        may_embed: Callable[[], bool] = embedding_ops.always,
    ) -> list[Hit]:
        """Return the best chunks for `query`, best first, diversified, at most `limit`; empty if nothing matches.

        `selection` may ask for a least similarity, and for more diversity. `may_embed` as in `search_several`.
        """
        return chunk_ops.search_content_chunks(self, [query], scope, limit, (), selection, may_embed)[0]

    def search_several(
        self,
        queries: Sequence[str],
        scope: Scope,
        *,
        limit: int,
        first: Sequence[str] = (),
        selection: Selection = DIVERSE,
        may_embed: Callable[[], bool] = embedding_ops.always,
    ) -> list[list[Hit]]:
        """Search like `search_content_chunks` for each of `queries`, which must differ; return the hits of each.

        If chunks in scope have no vector, at most `embed_at_once` are embedded for all queries together: their lexical
        hits, then chunks of the sources with the ids `first`, then others. Once `may_embed` returns false, what is left
        is searched by words.
        """
        return chunk_ops.search_content_chunks(self, queries, scope, limit, first, selection, may_embed)

    def clear_cache_embeddings(self, scope: Scope) -> int:
        """Delete the vectors of all chunks in scope; return how many chunks had one."""
        return embedding_ops.clear_cache_embeddings(self, scope)

    def search_relevant_links(self, query: str, links: Sequence[Link], *, limit: int) -> list[tuple[Link, float]]:
        """Return the `limit` links nearest to `query` by their words, each with a relevance in [0, 1], best first."""
        return chunk_ops.search_relevant_links(self, query, links, limit)

    # findings

    def store_finding(self, text: str, **details: object) -> int:
        """Store a finding with its vector and return its id; see `FindingStore.add` for `details`."""
        return finding_ops.store_finding(self, text, details)

    def search_findings(self, query: str, scope: FindingScope, *, limit: int) -> list[tuple[Finding, float]]:
        """Return the findings in scope about `query`, with a relevance in [0, 1], best first; ties are newest first.

        Relevance is the cosine, or without an embedding model the share of the query's content terms; findings below
        the floor are left out.
        """
        return finding_ops.search_findings(self, query, scope, limit)

    # the model and the texts, for other stages

    def embed_texts(self, texts: Sequence[str]) -> Vectors | None:
        """Return the vectors, float32[n, dim]; `None` without an embedding model. No text is ever embedded twice."""
        embedder = self.embedder()
        return self.cached_embedder(embedder).embed(texts) if embedder else None

    def embed_queries(self, queries: Sequence[str]) -> None:
        """Embed these queries together, so that searching for each finds its vector; nothing without a model."""
        embedder = self.embedder()
        if embedder is not None:
            self.cached_embedder(embedder).embed_queries(queries)

    def tokenizer(self) -> Tokenizer:
        """Return the embedding model's tokenizer; without a model, one that counts at least as many tokens."""
        embedder = self.embedder()
        return embedder.tokenizer if embedder else PieceTokenizer()

    def location(self, document_id: int, span: Span) -> Location:
        """Return the section path and the page or line at which a span begins."""
        return Places(self.tables.documents).at(document_id, span.start)
