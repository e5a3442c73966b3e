"""Bounds on what the default stopping rule costs and how often it is wrong: no data is needed, but 10 s of CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.agent.stopping import AnyMeasure, stopping_rule
from tests.quality.stopping import SETS, Figures, fixed, measure, ruled, worlds

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "gain", "fetches", "early"),
    [("development", -0.0035, 0.69, 0.04), ("held out", -0.0095, 0.795, 0.075), ("harder", -0.0025, 0.935, 0.075)],
)
def test_the_default_rule_is_as_good_as_documented(
    name: str, gain: float, fetches: float, early: float, data_folder: Path
) -> None:
    del data_folder  # measured with the other sets
    runs = worlds(*SETS[name])
    default, seed_rule = measure(runs, ruled(stopping_rule())), measure(runs, ruled(AnyMeasure()))
    assert default.gain.mean >= gain
    assert default.fetches.mean <= fetches
    assert default.early <= early
    assert seed_rule.early > 2 * default.early
    assert (
        fewest_cycles_as_safe(default, [measure(runs, fixed(cycles)) for cycles in range(1, 13)]) > default.fetches.mean
    )


def fewest_cycles_as_safe(rule: Figures, fixed_runs: list[Figures]) -> float:
    """The fetches of the shortest run of a fixed length that stops too early no more often than `rule`."""
    return min(each.fetches.mean for each in fixed_runs if each.early <= rule.early)
