"""The embedding port: the interface that search and indexing need of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from asky.research.chunker import Tokenizer
    from asky.research.vector_store_common import Vectors

Progress = Callable[[int, int], None]
"""Called with the number of texts done, and the total."""


class Embedder(Protocol):
    """A model that maps texts to unit vectors, close together for texts of similar meaning."""

    @property
    def dim(self) -> int:
        """Return the length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Return the longest text in tokens of `tokenizer`, without special tokens; the rest of a text is ignored."""
        ...

    @property
    def fingerprint(self) -> str:
        """Return a name for everything that a vector depends on: never compare vectors with different fingerprints."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer whose tokens `max_tokens` counts."""
        ...

    def embed(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """Return `float32[len(texts), dim]`, one unit vector per text, in the order of `texts`.

        `progress(done, total)` is called after each batch with counts of texts. A text longer than `max_tokens` is
        truncated.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question, `float32[dim]`, to be compared with those of `embed`."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return what `embed_query` does for each text, `float32[len(texts), dim]`, in fewer batches."""
        ...
