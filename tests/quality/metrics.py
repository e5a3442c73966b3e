"""Ranking metrics over document ids or spans, and the interval that an average over questions comes with."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from asky.values import Span


@dataclass(frozen=True, slots=True)
class Interval:
    """An average over questions with the bounds between which `confidence` of the resampled averages lie."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def first_occurrences(ids: Iterable[str]) -> tuple[str, ...]:
    """`ids` in order, each kept where it comes first: how ranked passages become ranked documents."""
    return tuple(dict.fromkeys(ids))


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `k` documents, in `[0, 1]`.

    The gain of a document is its judgement as it stands (not 2^judgement - 1) and rank r is discounted by log2(r + 1).
    A document that is ranked twice counts where it comes first.

    Raises:
        ValueError: `relevant` holds no gain above 0.

    Source: Järvelin and Kekäläinen 2002, in the form that trec_eval computes as `ndcg_cut`.
    """
    gains = [relevant.get(document, 0) for document in first_occurrences(ranked)[:k]]
    ideal = _discounted(sorted(relevant.values(), reverse=True)[:k])
    if ideal <= 0:
        raise ValueError("no relevant document: the question belongs in no average")
    return _discounted(gains) / ideal


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """The share of the relevant documents among the first `k`; `ValueError` if there is none to find."""
    wanted = {document for document, gain in relevant.items() if gain > 0}
    if not wanted:
        raise ValueError("no relevant document: the question belongs in no average")
    return len(wanted & set(first_occurrences(ranked)[:k])) / len(wanted)


def complete_recall(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """1.0 if every relevant document is among the first `k`, else 0.0: what a question over several documents needs."""
    return float(recall(ranked, relevant, k) == 1.0)


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """1 / the rank of the first relevant document, 0.0 if none is among the first `k`; averaged it is the MRR."""
    for rank, document in enumerate(first_occurrences(ranked)[:k], start=1):
        if relevant.get(document, 0) > 0:
            return 1 / rank
    return 0.0


def span_recall(found: Iterable[tuple[str, Span]], gold: Iterable[tuple[str, Span]]) -> float:
    """The share of the gold characters that the found spans cover; pairs are (document, span), overlaps count once.

    `ValueError` if there is no gold character.
    """
    wanted = _characters(gold)
    if not wanted:
        raise ValueError("no gold character: the question belongs in no average")
    return len(wanted & _characters(found)) / len(wanted)


def _characters(spans: Iterable[tuple[str, Span]]) -> set[tuple[str, int]]:
    return {(document, at) for document, span in spans for at in range(span.start, span.end)}


def bootstrap(values: Sequence[float], *, samples: int = 2000, confidence: float = 0.95, seed: int = 7) -> Interval:
    """The mean of `values` (one a question) and its percentile bootstrap interval; the same `seed`, the same bounds.

    Raises:
        ValueError: `values` is empty.

    Source: Efron and Tibshirani 1993, chapter 13; Sakai 2006 for its use over questions.
    """
    if not values:
        raise ValueError("no values to average")
    generator = random.Random(seed)
    n = len(values)
    means = sorted(sum(generator.choices(values, k=n)) / n for _ in range(samples))
    tail = (1 - confidence) / 2
    return Interval(sum(values) / n, means[int(tail * samples)], means[min(samples - 1, int((1 - tail) * samples))])
