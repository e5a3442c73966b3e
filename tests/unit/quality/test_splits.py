"""Splits for choosing a constant on some data and measuring it on other data, over numbers that are easily checked."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import pytest

from tests.quality.splits import chosen_elsewhere, grouped_folds, mean_of_sets, paired_difference


def test_a_group_is_in_one_fold_and_folds_are_alike_in_size() -> None:
    groups = ["big"] * 7 + [f"site{number % 20}" for number in range(40)]
    folds = grouped_folds(groups)
    assert len({(group, fold) for group, fold in zip(groups, folds, strict=True)}) == 21
    assert sorted(map(folds.count, range(5))) == [8, 9, 10, 10, 10]


def test_folds_do_not_depend_on_the_order_of_the_items() -> None:
    groups = [f"site{number}" for number in range(30)]
    folds = dict(zip(groups, grouped_folds(groups), strict=True))
    assert [folds[group] for group in reversed(groups)] == grouped_folds(groups[::-1])


def test_a_choice_that_fits_one_set_alone_is_not_the_choice_for_that_set() -> None:
    figures = {"plain": [0.5, 0.5, 0.5, 0.5], "fitted": [1.0, 1.0, 0.4, 0.4]}

    def score(choice: str, items: Sequence[int]) -> float:
        return fmean(figures[choice][at] for at in items)

    chosen = chosen_elsewhere(["plain", "fitted"], ["a", "a", "b", "b"], score)
    assert chosen == ["plain", "plain", "fitted", "fitted"]
    assert fmean(figures[choice][at] for at, choice in enumerate(chosen)) == pytest.approx(0.45)


def test_of_equal_choices_the_first_is_taken() -> None:
    assert chosen_elsewhere(["today", "other"], [0, 1], lambda choice, items: 1.0) == ["today", "today"]  # noqa: ARG005


def test_each_set_counts_the_same_in_a_mean_of_sets() -> None:
    assert mean_of_sets([0.0, 0.0, 0.0, 1.0], ["a", "a", "a", "b"]) == 0.5
    assert paired_difference([1.0, 1.0, 1.0, 2.0], [1.0] * 4, sets=["a", "a", "a", "b"]).mean == 0.5


def test_the_interval_of_a_difference_that_never_varies_is_a_point() -> None:
    gain = paired_difference([0.6, 0.7, 0.8], [0.5, 0.6, 0.7])
    assert (gain.mean, gain.low, gain.high) == pytest.approx((0.1, 0.1, 0.1))


def test_items_of_one_group_are_drawn_together() -> None:
    ours, theirs = [1.0] * 50 + [0.0] * 50, [0.5] * 100
    alone = paired_difference(ours, theirs)
    together = paired_difference(ours, theirs, groups=["a"] * 50 + ["b"] * 50)
    assert alone.mean == together.mean == 0.0
    assert together.low < alone.low < 0 < alone.high < together.high
    assert together == paired_difference(ours, theirs, groups=["a"] * 50 + ["b"] * 50)


def test_nothing_and_unequal_numbers_of_values_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="no items"):
        paired_difference([], [])
    with pytest.raises(ValueError, match="shorter"):
        paired_difference([1.0], [])
