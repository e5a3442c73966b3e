from __future__ import annotations

import numpy as np
import pytest

from asky.llm.extractive import relevance
from asky.llm.extractive.model import ExtractiveSettings
from tests.quality.relevance import carried_over, learn, read_signals

# The area under the curve, and the precision at 70 % of the answerable questions, with weights learned on the others.
FLOORS = {
    "own-1": (0.89, 0.97),
    "own-2": (0.89, 0.94),
    "own-3": (0.67, 0.71),
    "own-4": (0.83, 0.84),
    "own-5": (0.83, 0.95),
    "clapnq": (0.86, 0.84),
    "squad2": (0.70, 0.61),
}


def test_the_weights_are_those_that_the_signals_teach() -> None:
    weights = [
        relevance._INTERCEPT,
        relevance._OF_SUPPORT,
        relevance._OF_NAMES,
        relevance._OF_RECORD,
        relevance._FOR_REASON,
        relevance._UNCOUNTED,
        relevance._IN_SIGHT,
        relevance._MEASURED,
        relevance._OF_NEARNESS,
    ]
    assert learn(read_signals()).round(2).tolist() == pytest.approx(weights, abs=0.011)


def test_a_signal_that_is_stored_is_one_of_the_model() -> None:
    signals = read_signals()
    named = dict(zip(signals.names, signals.values[0].tolist(), strict=True))
    read = relevance.Signals(**named)
    found = learn(signals)
    assert read.probability() == pytest.approx(1 / (1 + np.exp(-(found[0] + signals.values[0] @ found[1:]))), abs=0.01)


@pytest.mark.parametrize("name", FLOORS)
def test_what_is_learned_on_the_other_sets_carries_over(name: str) -> None:
    signals = read_signals()
    figures = carried_over(signals, name, ExtractiveSettings().min_relevance)
    area, precision = FLOORS[name]
    assert figures.area >= area
    assert figures.precision >= precision
