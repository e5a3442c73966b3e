"""Reranking: a cross-encoder reads the query with each of the best chunks, and its scores order them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asky.research.reader.port import Floats
    from asky.research.vector_store_common import Scores

RERANKED = 40
"""Number of best chunks that are read: about 40 times the work of embedding a question. Not measured: models differ."""


class Reranker:
    """Scores chunks; `read` returns what `PairReader.answers` does. Its methods may be called from several threads."""

    def __init__(self, read: Callable[[Sequence[tuple[str, str, str]]], Floats]) -> None:
        self._read = read

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        """Return how well each text answers the query, in [0, 1]: float32[n]. Raises what `read` raises."""
        import numpy as np

        logits = self._read([(query, text, "") for text in texts])
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))), dtype=np.float32)
