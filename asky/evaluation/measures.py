"""Ranking measures over document ids, with the definitions of trec_eval.

A ranking is a sequence of ids, best first; `relevant` maps an id to its gain, and only gains above 0 are relevant. A
document that is ranked twice counts where it comes first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

_NOTHING_RELEVANT = "no relevant document: the question belongs in no average"


def first_occurrences(ids: Iterable[str]) -> tuple[str, ...]:
    """Return `ids` in order, each kept where it comes first: how ranked passages become ranked documents."""
    return tuple(dict.fromkeys(ids))


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Return the normalised discounted cumulative gain of the first `k` documents, in `[0, 1]`.

    The gain of a document is its judgement as it stands (not 2^judgement - 1), one below 0 counts as 0, and rank r is
    discounted by log2(r + 1). Raises `ValueError` if `relevant` holds no gain above 0.

    Source: Järvelin and Kekäläinen 2002, in the form that trec_eval computes as `ndcg_cut`.
    """
    gains = [max(0, relevant.get(document, 0)) for document in first_occurrences(ranked)[:k]]
    ideal = _discounted(sorted((max(0, gain) for gain in relevant.values()), reverse=True)[:k])
    if ideal <= 0:
        raise ValueError(_NOTHING_RELEVANT)
    return _discounted(gains) / ideal


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Return the share of the relevant documents among the first `k`; `ValueError` if there is none to find."""
    wanted = _wanted(relevant)
    return len(wanted & set(first_occurrences(ranked)[:k])) / len(wanted)


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, int], k: int | None = 10) -> float:
    """Return 1 / the rank of the first relevant document, 0.0 if none is among the first `k`; averaged it is the MRR.

    With `k=None`, the whole ranking counts: trec_eval's `recip_rank`.
    """
    for rank, document in enumerate(first_occurrences(ranked)[:k], start=1):
        if relevant.get(document, 0) > 0:
            return 1 / rank
    return 0.0


def average_precision(ranked: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Return the mean, over all relevant documents, of the precision at their rank; one not ranked counts 0.

    Averaged over questions it is trec_eval's `map`. Raises `ValueError` if there is no relevant document.
    """
    wanted, found, total = _wanted(relevant), 0, 0.0
    for rank, document in enumerate(first_occurrences(ranked), start=1):
        if document in wanted:
            found += 1
            total += found / rank
    return total / len(wanted)


def _wanted(relevant: Mapping[str, int]) -> set[str]:
    wanted = {document for document, gain in relevant.items() if gain > 0}
    if not wanted:
        raise ValueError(_NOTHING_RELEVANT)
    return wanted
