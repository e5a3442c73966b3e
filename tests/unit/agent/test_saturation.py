from __future__ import annotations

import pytest

from asky.agent.saturation import SaturationMetrics, calculate_saturation, should_stop

NOT_YET = "Saturation not yet reached, continuing research"


def test_shares_are_of_what_is_known_after_the_cycle() -> None:
    metrics = calculate_saturation(90, 100, 30, 40, 3, 4, 5, 20)
    assert metrics == SaturationMetrics(0.1, 0.25, 0.75, 0.25)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((0, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0)),  # nothing found, no source available
        ((0, 1, 0, 1, 1, 1, 1, 1), (1, 1, 1, 1)),
        ((0, 4, 0, 9, 0, 3, 2, 8), (1, 1, 0, 0.25)),  # a first cycle
        ((4, 4, 9, 9, 0, 0, 9, 8), (0, 0, 0, 1)),  # a source that was queried has gone since
    ],
)
def test_a_share_of_nothing_is_nothing_and_no_share_is_above_one(
    counts: tuple[int, ...], expected: tuple[float, ...]
) -> None:
    assert calculate_saturation(*counts) == SaturationMetrics(*expected)


@pytest.mark.parametrize("changed", [(1, -5), (3, -5), (4, 9), (0, -1), (2, -1), (6, -1), (7, -1)])
def test_impossible_counts_are_refused(changed: tuple[int, int]) -> None:
    counts = [0, 1, 0, 1, 1, 2, 1, 1]
    counts[changed[0]] = changed[1]
    with pytest.raises(ValueError, match="impossible counts"):
        calculate_saturation(*counts)


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ((0.05, 0.05, 0.80, 0.95), (False, NOT_YET)),
        ((0.0499, 0.05, 0.80, 0.95), (True, "Entity saturation reached (<5% new entities in last cycle)")),
        ((0.05, 0.0499, 0.80, 0.95), (True, "Fact saturation reached (<5% new facts in last cycle)")),
        ((0.05, 0.05, 0.80, 0.9501), (True, "Source coverage complete (>95% of available sources queried)")),
        ((0.05, 0.05, 0.8001, 0.95), (True, "High citation circularity (>80% circular references)")),
        ((0, 0, 1, 1), (True, "Entity saturation reached (<5% new entities in last cycle)")),
        ((1, 0, 1, 1), (True, "Fact saturation reached (<5% new facts in last cycle)")),
        ((1, 1, 1, 1), (True, "Source coverage complete (>95% of available sources queried)")),
    ],
)
def test_one_measure_past_its_threshold_stops_and_the_first_gives_the_reason(
    metrics: tuple[float, ...], expected: tuple[bool, str]
) -> None:
    assert should_stop(SaturationMetrics(*metrics)) == expected
