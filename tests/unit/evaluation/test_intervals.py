"""Intervals of averages and of paired differences."""

from __future__ import annotations

import pytest

from asky.evaluation.intervals import Interval, bootstrap, paired_difference, ratio_interval


def test_bootstrap_gives_the_plain_mean_and_bounds_around_it() -> None:
    values = [0.0, 1.0] * 50
    interval = bootstrap(values)
    assert interval.mean == pytest.approx(0.5)
    # the mean of 100 fair draws has a standard deviation of 0.05: its 95 % interval is about 0.5 +- 0.098
    assert interval.low == pytest.approx(0.402, abs=0.02)
    assert interval.high == pytest.approx(0.598, abs=0.02)


def test_bootstrap_repeats_itself_for_a_seed_and_differs_for_another() -> None:
    values = [n / 37 for n in range(37)]
    assert bootstrap(values, seed=1) == bootstrap(values, seed=1)
    assert bootstrap(values, seed=1) != bootstrap(values, seed=2)


def test_bootstrap_of_equal_values_is_a_point() -> None:
    interval = bootstrap([0.25] * 8)
    assert (interval.low, interval.mean, interval.high) == (0.25, 0.25, 0.25)


def test_bootstrap_refuses_no_values() -> None:
    with pytest.raises(ValueError, match="no values"):
        bootstrap([])


def test_a_ratio_weighs_questions_by_their_denominator() -> None:
    assert ratio_interval([(1, 1), (0, 3)]).mean == pytest.approx(1 / 4)


def test_a_question_without_a_denominator_is_in_no_average() -> None:
    assert ratio_interval([(1, 1), (0, 0), (0, 0)]) == Interval(1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="no values"):
        ratio_interval([(0, 0)])


def test_a_paired_difference_is_narrower_than_the_values_are_apart() -> None:
    theirs = [(n / 50, 1.0) for n in range(50)]
    ours = [(value + 0.02, one) for value, one in theirs]
    difference = paired_difference(ours, theirs)
    assert difference.mean == pytest.approx(0.02)
    assert difference.low == pytest.approx(0.02)
    assert difference.high == pytest.approx(0.02)
    assert difference.excludes_zero
    assert ratio_interval(theirs).high - ratio_interval(theirs).low > 0.1


def test_a_difference_of_noise_holds_zero() -> None:
    ours = [(float(n % 2), 1.0) for n in range(40)]
    theirs = [(float((n + 1) % 2), 1.0) for n in range(40)]
    assert not paired_difference(ours, theirs).excludes_zero


def test_pairs_of_unequal_length_or_without_values_are_refused() -> None:
    with pytest.raises(ValueError, match="no pairs"):
        paired_difference([(1, 1)], [])
    with pytest.raises(ValueError, match="no values to compare"):
        paired_difference([(1, 1)], [(0, 0)])


def test_ten_thousand_questions_are_resampled_in_parts() -> None:
    interval = bootstrap([n / 10_000 for n in range(10_000)])
    # the mean of 10,000 uniform values has a standard deviation of .2887 / 100: its 95 % interval is about .5 +- .0057
    assert interval.low == pytest.approx(0.49431, abs=0.001)
    assert interval.high == pytest.approx(0.50559, abs=0.001)
