"""From two legs to one ranking: fusion, then diversity. Pure functions over arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from asky.research.vector_store_common import Ids, Scores


def fuse(dense: Scores, lexical: Scores, *, dense_weight: float) -> Scores:
    """float32[n]: `dense_weight` times the dense leg plus the rest times the lexical leg, each scaled to [0, 1].

    `dense` holds cosines, NaN where a chunk has no vector; `lexical` holds BM25 scores, 0 where no word matched.
    """
    scaled = dense_weight * _scaled(dense) + (1.0 - dense_weight) * _scaled(lexical)
    return np.asarray(scaled, dtype=np.float32)


def _scaled(scores: Scores) -> Scores:
    """Scores of one query brought to [0, 1] by their own minimum and maximum; what has none gets 0."""
    known = scores[~np.isnan(scores)]
    if not len(known) or known.max() == known.min():
        return np.where(np.isnan(scores), np.float32(0), np.float32(known.max(initial=0) > 0))
    low, high = known.min(), known.max()
    return np.nan_to_num((scores - low) / (high - low), nan=0.0)


def diversify(scores: Scores, documents: Ids, limit: int) -> Ids:
    """Positions of at most `limit` chunks, best first."""
    order = np.argsort(-scores, kind="stable")
    return order[:limit]
