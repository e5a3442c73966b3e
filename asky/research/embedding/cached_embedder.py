"""An embedder with a persistent cache: questions, titles and sentences recur in every run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from asky.research.vector_store_common import check_vectors, vectors_from_bytes, vectors_to_bytes

if TYPE_CHECKING:
    from asky.research.embedding.embedder import Embedder
    from asky.research.vector_store_common import Vectors
    from asky.storage.text_vectors import TextVectorTable


_PENDING = 64  # a commit waits for the disk, which takes as long as embedding a question


class CachedEmbedder:
    """Embeds short texts: vectors come from the table if present, else from the model.

    Chunks are not included: their vectors are stored with their documents. New vectors are written in batches, and by
    `flush`. Raises what the embedder raises, and `ProviderError` for vectors that would invalidate every comparison.
    """

    def __init__(self, embedder: Embedder, space_id: int, table: TextVectorTable) -> None:
        self._embedder = embedder
        self._space_id = space_id
        self._table = table
        self._fresh: dict[str, bytes] = {}

    def flush(self) -> None:
        """Write the new vectors."""
        fresh, self._fresh = self._fresh, {}
        if fresh:
            self._table.put(self._space_id, fresh)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed like `Embedder.embed`."""
        return self._recall(texts, "text", self._embedder.embed)

    def embed_query(self, text: str) -> Vectors:
        """Embed like `Embedder.embed_query`."""
        rows: Vectors = self._recall([text], "query", self._embedder.embed_queries)[0]
        return rows

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed like `Embedder.embed_queries`."""
        return self._recall(texts, "query", self._embedder.embed_queries)

    def mark_done(self, task: str) -> None:
        """Record that `task` was done, for later runs too."""
        self._fresh[_digest("deed", task)] = b""

    def is_done(self, task: str) -> bool:
        """Return whether `mark_done` recorded `task`."""
        digest = _digest("deed", task)
        return digest in self._fresh or bool(self._table.get(self._space_id, [digest]))

    def _recall(self, texts: Sequence[str], role: str, embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
        digests = [_digest(role, text) for text in texts]
        known = self._table.get(self._space_id, digests) | self._fresh
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if missing:
            vectors = embed(list(missing.values()))
            check_vectors(vectors, count=len(missing), dim=self._embedder.dim)
            fresh = {digest: vectors_to_bytes(vector) for digest, vector in zip(missing, vectors, strict=True)}
            known |= fresh
            self._fresh |= fresh
            if len(self._fresh) >= _PENDING:
                self.flush()
        return vectors_from_bytes(b"".join(known[digest] for digest in digests), self._embedder.dim)


def _digest(role: str, text: str) -> str:
    return hashlib.sha256(f"{role}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
