from __future__ import annotations

import numpy as np
import pytest

from tests.quality.confidence import DIAGRAM, Predicted, diagram, predicted, read_asked


def test_confidence_is_calibrated_on_sets_that_it_was_not_learned_on() -> None:
    assert predicted(read_asked()).error() < 0.1


def test_the_error_is_that_between_what_is_said_and_what_is_so() -> None:
    likely = np.full(100, 0.8)
    weights = np.ones(100)
    right = np.arange(100) % 10 < 6
    assert Predicted(likely, right.astype(float), weights).error(1) == pytest.approx(0.2)
    assert Predicted(np.full(100, 0.6), right.astype(float), weights).error(1) == pytest.approx(0.0)


def test_the_diagram_of_the_docs_is_that_of_the_questions() -> None:
    assert DIAGRAM.read_text(encoding="utf-8") == diagram(predicted(read_asked()))
