"""Bootstrap intervals of averages over questions, and of the difference between two ways to answer them.

Every figure is a ratio of two sums over questions: an average is the sum of its values over the number of questions, a
share of claims the supported ones over all. Questions are resampled, never the claims within one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

SAMPLES = 2000
CONFIDENCE = 0.95
_SEED = 7
_AT_ONCE = 4_000_000  # drawn questions that are held in memory

Ratio = tuple[float, float]
"""What one question adds to the numerator and to the denominator of a figure; `(0, 0)` leaves it out."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An average over questions with the bounds between which `confidence` of the resampled averages lie."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @property
    def excludes_zero(self) -> bool:
        """`True` if a difference of 0 lies outside of the interval."""
        return self.low > 0 or self.high < 0


def bootstrap(
    values: Sequence[float], *, samples: int = SAMPLES, confidence: float = CONFIDENCE, seed: int = _SEED
) -> Interval:
    """Return the mean of `values` (one a question) and its percentile bootstrap interval; same `seed`, same bounds.

    Raises `ValueError` if `values` is empty.

    Source: Efron and Tibshirani 1993, chapter 13; Sakai 2006 for its use over questions.
    """
    return ratio_interval([(value, 1.0) for value in values], samples=samples, confidence=confidence, seed=seed)


def ratio_interval(
    ratios: Sequence[Ratio], *, samples: int = SAMPLES, confidence: float = CONFIDENCE, seed: int = _SEED
) -> Interval:
    """Return the ratio of the sums, as `bootstrap` does. Raises `ValueError` if the denominators sum to 0."""
    numerators, denominators = _columns([each for each in ratios if each[1]])
    if not len(numerators):
        raise ValueError("no values to average")
    drawn = _resampled([(numerators, denominators)], samples, seed)[0]
    return _interval(float(numerators.sum() / denominators.sum()), drawn, confidence)


def paired_difference(
    ours: Sequence[Ratio],
    theirs: Sequence[Ratio],
    *,
    samples: int = SAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = _SEED,
) -> Interval:
    """Return the ratio of `ours` minus that of `theirs`, each question drawn for both together.

    Both have one entry a question, in the same order. Raises `ValueError` if the lengths differ, or if one of the two
    has nothing to average.
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} and {len(theirs)} questions are no pairs")
    kept = [pair for pair in zip(ours, theirs, strict=True) if pair[0][1] or pair[1][1]]
    pairs = _columns([each for each, _ in kept]), _columns([each for _, each in kept])
    if not all(column[1].sum() for column in pairs):
        raise ValueError("no values to compare")
    first, second = _resampled(pairs, samples, seed)
    mean = float(pairs[0][0].sum() / pairs[0][1].sum() - pairs[1][0].sum() / pairs[1][1].sum())
    return _interval(mean, first - second, confidence)


def _columns(ratios: Sequence[Ratio]) -> tuple[Floats, Floats]:
    import numpy as np  # as everywhere: only where figures are made

    table = np.array(ratios, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _resampled(columns: Sequence[tuple[Floats, Floats]], samples: int, seed: int) -> list[Floats]:
    """Return for each pair of columns the ratios of its resampled sums, `float64[samples]`, the same draws for all.

    A draw without any denominator has no ratio and is NaN.
    """
    import numpy as np

    count = len(columns[0][0])
    generator = np.random.default_rng(seed)
    parts: list[list[Floats]] = [[] for _ in columns]
    step = max(1, _AT_ONCE // count)
    for start in range(0, samples, step):
        drawn = generator.integers(0, count, (min(step, samples - start), count))
        for part, (numerators, denominators) in zip(parts, columns, strict=True):
            with np.errstate(invalid="ignore", divide="ignore"):
                part.append(numerators[drawn].sum(axis=1) / denominators[drawn].sum(axis=1))
    return [np.concatenate(part) for part in parts]


def _interval(mean: float, drawn: Floats, confidence: float) -> Interval:
    import numpy as np

    tail = 100 * (1 - confidence) / 2
    low, high = np.nanpercentile(drawn, [tail, 100 - tail])
    return Interval(mean, float(low), float(high))
