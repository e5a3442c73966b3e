"""An embedder that embeds no text twice: questions, titles and sentences come back with every run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from asky.research.vector_store_common import check_vectors, vectors_from_bytes, vectors_to_bytes

if TYPE_CHECKING:
    from asky.research.embedder import Embedder
    from asky.research.vector_store_common import Vectors
    from asky.storage.text_vectors import TextVectorTable


_PENDING = 64  # a commit waits for the disk, which takes as long as embedding a question


class RememberedVectors:
    """Vectors of short texts, from the table where they are known and from the model otherwise.

    Chunks are not among them: their vectors lie with their documents. What is new is written in batches, and by
    `flush`. Raises what the embedder raises, and `ProviderError` for vectors that would poison every comparison.
    """

    def __init__(self, embedder: Embedder, space_id: int, table: TextVectorTable) -> None:
        self._embedder = embedder
        self._space_id = space_id
        self._table = table
        self._fresh: dict[str, bytes] = {}

    def flush(self) -> None:
        """Write what is new."""
        fresh, self._fresh = self._fresh, {}
        if fresh:
            self._table.put(self._space_id, fresh)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As `Embedder.embed`."""
        return self._recall(texts, "text", self._embedder.embed)

    def embed_query(self, text: str) -> Vectors:
        """As `Embedder.embed_query`."""
        rows: Vectors = self._recall([text], "query", lambda texts: self._embedder.embed_query(texts[0])[None])[0]
        return rows

    def note(self, deed: str) -> None:
        """Remember that something was done, in later runs too."""
        self._fresh[_digest("deed", deed)] = b""

    def has_noted(self, deed: str) -> bool:
        """Whether `note` was told that."""
        digest = _digest("deed", deed)
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
