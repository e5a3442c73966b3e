"""Splits by which a constant is chosen on some data and measured on other data, and intervals of paired differences.

A split is one label for each item: a set's name to leave one set out, or the number of a fold. What is chosen for the
items of a label is chosen on the items of all others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from asky.evaluation.intervals import Interval

if TYPE_CHECKING:
    import numpy.typing as npt


def grouped_folds(groups: Sequence[str], count: int = 5) -> list[int]:
    """Return the fold of each item, from 0: items of one group (a site, a document) share a fold.

    Folds hold about equally many items, the same in every run: the largest group first, each to the smallest fold so
    far; groups of a size in order of their hash.
    """
    sizes = {group: groups.count(group) for group in groups}
    folds: dict[str, int] = {}
    held = [0] * count
    for group in sorted(sizes, key=lambda each: (-sizes[each], hashlib.sha256(each.encode()).digest())):
        folds[group] = held.index(min(held))
        held[folds[group]] += sizes[group]
    return [folds[group] for group in groups]


Choice = TypeVar("Choice")


def chosen_elsewhere(
    choices: Sequence[Choice], labels: Sequence[Hashable], score: Callable[[Choice, Sequence[int]], float]
) -> list[Choice]:
    """Return for each item the choice with the highest `score` over the items of all other labels; ties: the first.

    `score` gets a choice and the positions of the items. Put today's choice first.
    """
    best = {
        label: max(choices, key=lambda choice: score(choice, [at for at, each in enumerate(labels) if each != label]))
        for label in dict.fromkeys(labels)
    }
    return [best[label] for label in labels]


def mean_of_sets(values: Iterable[float], sets: Iterable[Hashable]) -> float:
    """Return the mean over sets of the mean of each set's values: every set counts the same."""
    by_set: dict[Hashable, list[float]] = {}
    for value, name in zip(values, sets, strict=True):
        by_set.setdefault(name, []).append(value)
    return fmean(map(fmean, by_set.values()))


def paired_difference(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    groups: Sequence[Hashable] | None = None,
    sets: Sequence[Hashable] | None = None,
    samples: int = 2000,
) -> Interval:
    """Return the mean of `ours` minus `theirs` with its 95 % percentile bootstrap interval; always the same bounds.

    Whole `groups` are resampled (by default each item is one), within each of the `sets`, of whose means the mean is
    taken (by default all items are one set).

    Raises:
        ValueError: there are no items, or not as many of each.

    Source: Efron and Tibshirani 1993, chapter 13; Field and Welsh 2007 for whole groups.
    """
    differences = [our - their for our, their in zip(ours, theirs, strict=True)]
    names = sets or [None] * len(differences)
    where = groups or list(range(len(differences)))
    draw = np.random.default_rng(7)
    resampled: list[npt.NDArray[np.float64]] = []
    for name in dict.fromkeys(names):
        sums: dict[Hashable, tuple[float, int]] = {}
        for difference, group, each in zip(differences, where, names, strict=True):
            if each == name:
                total, size = sums.get(group, (0.0, 0))
                sums[group] = total + difference, size + 1
        drawn = np.array(list(sums.values()))[draw.integers(0, len(sums), (samples, len(sums)))].sum(axis=1)
        resampled.append(drawn[:, 0] / drawn[:, 1])
    if not resampled:
        raise ValueError("no items to compare")
    low, high = np.percentile(np.mean(resampled, axis=0), [2.5, 97.5])
    return Interval(mean_of_sets(differences, names), float(low), float(high))
