"""The port of embedding: what search and indexing need of a model that turns texts into vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from asky.research.chunker import Tokenizer
    from asky.research.vector_store_common import Vectors

Progress = Callable[[int, int], None]
"""Called with how many texts are done, and of how many."""


class Embedder(Protocol):
    """Something that turns texts into unit vectors that are near each other where the texts mean the same."""

    @property
    def dim(self) -> int:
        """The length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """The longest text in tokens of `tokenizer`, special tokens left out; what lies beyond is not seen."""
        ...

    @property
    def fingerprint(self) -> str:
        """Names everything that a vector depends on: vectors with different fingerprints must not be compared."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer whose tokens `max_tokens` counts."""
        ...

    def embed(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        """`float32[len(texts), dim]`, one unit vector a text, in the order of `texts`.

        `progress(done, total)` is called after each batch with counts of texts. A text longer than `max_tokens` is
        embedded up to there.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """`float32[dim]`: the unit vector of a question, to be compared with those of `embed`."""
        ...
