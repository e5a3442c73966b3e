"""Reranking: a cross-encoder reads the query with each of the best chunks, and its scores order them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asky.research.embedding.cross_encoder import CrossEncoder
    from asky.research.vector_store_common import Scores

RERANKED = 40
"""Number of best chunks that are read: about 40 times the work of embedding a question. Not measured: models differ."""


class Reranker:
    """Scores chunks with a model that `open_model` opens on first use. Its methods may be called from several threads.

    Of a model with several outputs the last counts, or the one that is named entailment.
    """

    def __init__(self, open_model: Callable[[], CrossEncoder]) -> None:
        self._open_model = open_model
        self._model: CrossEncoder | None = None
        self._opening = threading.Lock()

    def scores(self, query: str, texts: Sequence[str]) -> Scores:
        """Return how well each text answers the query, in [0, 1]: float32[n]. Raises what `open_model` raises."""
        import numpy as np

        with self._opening:
            self._model = self._model or self._open_model()
        outputs = self._model.read([(query, text) for text in texts])
        column = next((at for at, each in enumerate(self._model.labels) if each.startswith("entail")), -1)
        return np.asarray(1 / (1 + np.exp(-np.clip(outputs[:, column], -30, 30))), dtype=np.float32)
