"""Ranking of candidates: fusion of two scores, and diversification. Pure functions over arrays.

Figures given as source are nDCG@10, averaged over ten retrieval sets with chunks of 200 tokens, all-MiniLM-L6-v2 and
FTS5's bm25; see `docs/decisions/0004-fusion.md`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from asky.research.vector_store_common import Ids, Scores, Vectors

PAIR_WEIGHT = 0.2
"""Weight of bm25 over pairs when added to the bm25 of words. Source: 0 .7227, .15 .7286, .2 .7301, .3 .7293."""

NEIGHBOURS = 3
"""Number of best candidates that raise those near to them. Source: 1, 3 and 5 lie within .003 of each other."""

NEIGHBOUR_WEIGHT = 0.1
"""Weight of the nearness to them. Source: CACM and DeepScholar together 0 .016, .05 .020, .1 .022, .2 .020, .3 .021."""

REPEAT_FACTORS = (1.0, 0.96, 0.92)
"""Factor of a document's first, second and any later chunk.

Source: documents among the first ten hits .7207 to .7260, their recall .726 to .736, gold characters in the first five
hits .859 to .857; hard caps of three chunks to one bring the last figure down to .814 to .690.
"""

DUPLICATE_COSINE = 0.95
"""Above it a chunk repeats a better one. Source: as `REPEAT_FACTORS`; .9 costs passages .001, .8 documents .005."""

DUPLICATE_WINDOW = 100
"""Number of best chunks compared for repetition: the comparison is quadratic, and nobody reads further."""


def fuse(cosines: Scores, words: Scores, pairs: Scores, *, dense_weight: float) -> Scores:
    """Return one score for each of n candidates, higher is better: float32[n].

    `dense_weight * cosine + (1 - dense_weight) * lexical / max lexical`, where the lexical score is the bm25 of the
    words plus `PAIR_WEIGHT` times that of the pairs. `cosines` holds NaN for a chunk without a vector, which gets the
    lowest of the others; `words` and `pairs` are 0 for a chunk that does not match. Both legs must have scored every
    candidate.

    The cosine is used unchanged and the lexical score is divided by its maximum, so that a score does not depend on
    which poor candidates are included, as it does with min-max scaling and with ranks.

    Source: bm25 .675, cosine .657, reciprocal ranks (k=60) .704, min-max (.5) .716, this .730; weights .5 .7126, .6
    .7173, .7 .7227, .8 .7184 before pairs.
    """
    import numpy as np  # here and below: see `asky.research.vector_store_common`

    lexical = words + np.float32(PAIR_WEIGHT) * pairs
    top = lexical.max(initial=0.0)
    relative = lexical / top if top > 0 else np.zeros_like(lexical)
    known = ~np.isnan(cosines)
    if not known.any():
        return np.asarray(relative, dtype=np.float32)
    filled = np.where(known, cosines, cosines[known].min())
    if top <= 0:
        return np.asarray(filled, dtype=np.float32)
    return np.asarray(dense_weight * filled + (1.0 - dense_weight) * relative, dtype=np.float32)


def raise_near_the_best(scores: Scores, vectors: Vectors, *, weight: float = NEIGHBOUR_WEIGHT) -> Scores:
    """Return the scores of n candidates, float32[n], with `weight` times their nearness to the best `NEIGHBOURS` added.

    Nearness is the largest cosine to one of these, times its score relative to the best score. Documents about one
    subject resemble each other, so this suits a query that is a text about one subject; a question may join several.
    `vectors` are as in `diversify`; a chunk without one is as near as the farthest of the others. Where the best
    candidate has no positive score, nothing is raised.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 3 (cluster hypothesis); figures in
    `docs/decisions/0004-fusion.md`.
    """
    import numpy as np

    top = np.argsort(-scores, kind="stable")[:NEIGHBOURS]
    known = vectors.any(axis=1)
    if not known.any() or scores[top[0]] <= 0:
        return scores
    relative = np.maximum(scores[top] / scores[top[0]], 0)
    nearness = (np.einsum("id,jd->ij", vectors, vectors[top]) * relative).max(axis=1)
    nearness = np.where(known, nearness, nearness[known].min())
    return np.asarray(scores + np.float32(weight) * nearness, dtype=np.float32)


def diversify(scores: Scores, documents: Ids, vectors: Vectors | None) -> Ids:
    """Return the display order of n candidates: positions, best first, each exactly once.

    A document's second and later chunks are demoted a little, and a chunk that nearly repeats a better one is moved
    behind the best `DUPLICATE_WINDOW`. Nothing is dropped: a corpus of one document fills as many places as one of
    many. Ties keep the order of the input. `documents` identifies chunks of one document by equal numbers; `vectors`
    are unit vectors, float32[n, dim], a row of zeros for a chunk without one; without them nothing counts as a
    repetition.
    """
    import numpy as np

    by_score = np.argsort(-scores, kind="stable")
    held_back = scores.copy()
    seen: Counter[int] = Counter()
    for position in by_score.tolist():
        earlier = seen[int(documents[position])]
        seen[int(documents[position])] += 1
        if scores[position] > 0:  # a factor below one would raise a negative score
            held_back[position] *= REPEAT_FACTORS[min(earlier, len(REPEAT_FACTORS) - 1)]
    order = by_score[np.argsort(-held_back[by_score], kind="stable")]
    return order if vectors is None else _repetitions_last(order, vectors)


SearchMode = Literal["hybrid", "semantic", "keyword"]
"""What finds chunks: their meaning and their words, or one of the two."""


@dataclass(frozen=True, slots=True)
class Selection:
    """How candidates become hits.

    `cutoff` is the least cosine to the query, in [-1, 1]; a chunk without a vector has none to be judged by, and stays.
    `mmr_alpha`, in [0, 1], weighs the score of a candidate against its similarity to those chosen before it: 1 takes
    the best, 0 the most different. Without it, `diversify` decides. `mode` says what finds candidates and scores them;
    without an embedding model, words do whatever it says. Raises `ValueError` for other numbers.
    """

    cutoff: float | None = None
    mmr_alpha: float | None = None
    mode: SearchMode = "hybrid"

    def __post_init__(self) -> None:
        if self.cutoff is not None and not -1 <= self.cutoff <= 1:
            raise ValueError(f"the cutoff must be between -1 and 1, not {self.cutoff}")
        if self.mmr_alpha is not None and not 0 <= self.mmr_alpha <= 1:
            raise ValueError(f"mmr_alpha must be between 0 and 1, not {self.mmr_alpha}")


DIVERSE = Selection()
"""No cutoff, and no more diversity than `diversify` gives."""


def select(
    scores: Scores, cosines: Scores, documents: Ids, vectors: Vectors | None, *, selection: Selection, limit: int
) -> Ids:
    """Return at most `limit` of n candidates: positions, best first. Ties keep the order of the input.

    `cosines` are those to the query, NaN for a chunk without a vector; for the others see `diversify`.
    """
    import numpy as np

    kept = np.arange(len(scores))
    if selection.cutoff is not None:
        kept = np.flatnonzero(np.isnan(cosines) | (cosines >= selection.cutoff))
    near = vectors[kept] if vectors is not None else None
    if selection.mmr_alpha is None or near is None:
        order = diversify(scores[kept], documents[kept], near)
    else:
        order = _by_marginal_relevance(scores[kept], near, selection.mmr_alpha, limit)
    return np.asarray(kept[order[:limit]], dtype=np.int64)


def _by_marginal_relevance(scores: Scores, vectors: Vectors, alpha: float, limit: int) -> Ids:
    """Return the order of the best `DUPLICATE_WINDOW` candidates by maximal marginal relevance.

    Source: Carbonell and Goldstein, SIGIR 1998, with the fused score as relevance and the cosine as similarity.
    """
    import numpy as np

    window = np.argsort(-scores, kind="stable")[:DUPLICATE_WINDOW]
    nearest, relevance = vectors[window], alpha * scores[window]
    similarity = np.zeros(len(window), dtype=np.float32)  # to the nearest of those chosen; to none at first
    left, chosen = np.ones(len(window), dtype=bool), []
    for _ in range(min(limit, len(window))):
        best = int(np.argmax(np.where(left, relevance - np.float32(1 - alpha) * similarity, -np.inf)))
        chosen.append(best)
        left[best] = False
        to_best = np.einsum("id,d->i", nearest, nearest[best])
        similarity = to_best if len(chosen) == 1 else np.maximum(similarity, to_best)
    return np.asarray(window[chosen], dtype=np.int64)


def _repetitions_last(order: Ids, vectors: Vectors) -> Ids:
    import numpy as np

    window = order[:DUPLICATE_WINDOW]
    nearest = vectors[window]
    # `@` would split this small product among BLAS threads that wait for each other: 5 to 25 ms of CPU, not 1.
    cosines = np.einsum("id,jd->ij", nearest, nearest)
    kept: list[int] = []
    repeated: list[int] = []
    for place in range(len(window)):
        repeats = bool(kept) and cosines[place, kept].max() > DUPLICATE_COSINE
        (repeated if repeats else kept).append(place)
    return np.concatenate([window[kept], window[repeated], order[DUPLICATE_WINDOW:]]).astype(np.int64)
