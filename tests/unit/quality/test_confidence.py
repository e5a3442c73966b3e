from __future__ import annotations

import numpy as np
import pytest

from tests.quality.confidence import CALIBRATIONS, DIAGRAM, Predicted, diagram, left_in, left_out
from tests.quality.relevance import read_signals


def test_confidence_is_calibrated_on_sets_that_it_was_not_learned_on() -> None:
    signals = read_signals()
    assert left_in(signals).error() < 0.05
    assert left_out(signals).error() < 0.05


@pytest.mark.parametrize("name", ["logistic", "isotonic"])
def test_no_further_map_makes_its_probabilities_better(name: str) -> None:
    signals = read_signals()
    assert left_out(signals, CALIBRATIONS[name]).brier() > left_out(signals).brier()


def test_the_error_is_that_between_what_is_said_and_what_is_so() -> None:
    likely = np.full(100, 0.8)
    weights = np.ones(100)
    right = np.arange(100) % 10 < 6
    assert Predicted(likely, right.astype(float), weights).error(1) == pytest.approx(0.2)
    assert Predicted(np.full(100, 0.6), right.astype(float), weights).error(1) == pytest.approx(0.0)


def test_the_diagram_of_the_docs_is_that_of_the_signals() -> None:
    assert DIAGRAM.read_text(encoding="utf-8") == diagram(left_out(read_signals()))
