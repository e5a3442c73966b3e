"""How well the confidence of the built-in model is calibrated: on each set with weights learned on the others.

The confidence is the relevance that `tests.quality.relevance` learns, whose signals this reads too. Each set counts
alike, and its questions with an answer as much as those without. Isotonic regression and a
logistic regression on top of it are measured beside it.

`python -m tests.quality.confidence` prints the figures as tables and draws the reliability diagram of the docs again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.quality.relevance import Signals, learn, read_signals

DIAGRAM = Path(__file__).parents[2] / "docs" / "concepts" / "confidence.svg"
BINS = 10
_RESAMPLES = 1000
_LEAST = 0.001
_SIDE, _MARGIN = 360, 50


@dataclass(frozen=True, slots=True)
class Predicted:
    """Probabilities `float64[n]` of having an answer, whether there was one, and the weight of each question."""

    likely: np.ndarray
    is_answered: np.ndarray
    weights: np.ndarray

    def only(self, chosen: np.ndarray) -> Predicted:
        """Return those of a mask `bool[n]` or of indices `int[k]`."""
        return Predicted(self.likely[chosen], self.is_answered[chosen], self.weights[chosen])

    def bins(self, count: int = BINS) -> list[tuple[float, float, float, int]]:
        """Return mean probability, share answered, share of the weight and number of each of `count` equal parts."""
        order = np.argsort(self.likely, kind="stable")
        reached = np.cumsum(self.weights[order]) / self.weights.sum()
        rows = []
        for part in np.split(order, np.searchsorted(reached, np.arange(1, count) / count)):
            if len(part):
                weights = self.weights[part]
                likely, answered = (np.average(each[part], weights=weights) for each in (self.likely, self.is_answered))
                rows.append((float(likely), float(answered), float(weights.sum() / self.weights.sum()), len(part)))
        return rows

    def error(self, count: int = BINS) -> float:
        """Return the expected calibration error over parts of equal weight, in [0, 1].

        Source: Naeini, Cooper and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", AAAI
        2015.
        """
        return sum(share * abs(likely - answered) for likely, answered, share, _ in self.bins(count))

    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of `error` over resampled questions."""
        random = np.random.default_rng(1)
        size = len(self.likely)
        errors = [self.only(random.integers(0, size, size)).error() for _ in range(_RESAMPLES)]
        low, high = np.percentile(errors, [2.5, 97.5])
        return float(low), float(high)

    def brier(self) -> float:
        """Return the mean squared error of the probabilities."""
        return float(np.average((self.likely - self.is_answered) ** 2, weights=self.weights))


Calibration = Callable[[Predicted], Callable[[np.ndarray], np.ndarray]]
"""Learns a map of probabilities from others."""


def unchanged(_learned: Predicted) -> Callable[[np.ndarray], np.ndarray]:
    return lambda likely: likely


def logistic(learned: Predicted) -> Callable[[np.ndarray], np.ndarray]:
    """Two parameters: Platt, "Probabilistic outputs for support vector machines", 1999; by Newton's method."""
    columns = np.column_stack([np.ones(len(learned.likely)), _log_odds(learned.likely)])
    found = np.array([0.0, 1.0])
    for _ in range(50):
        likely = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (learned.weights * (learned.is_answered - likely))
        curve = (columns * (learned.weights * likely * (1 - likely))[:, None]).T @ columns + 1e-6 * np.eye(2)
        found = found + np.linalg.solve(curve, slope)
    return lambda likely: 1 / (1 + np.exp(-(found[0] + found[1] * _log_odds(likely))))


def isotonic(learned: Predicted) -> Callable[[np.ndarray], np.ndarray]:
    """Pool adjacent violators: Zadrozny and Elkan, KDD 2002."""
    pools: list[list[float]] = []  # mean, weight, largest probability
    for at in np.argsort(learned.likely, kind="stable"):
        pools.append([float(learned.is_answered[at]), float(learned.weights[at]), float(learned.likely[at])])
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (mean, weight, _), (other, more, last) = pools[-2:]
            pools[-2:] = [[(mean * weight + other * more) / (weight + more), weight + more, last]]
    edges, means = np.array([each[2] for each in pools]), np.array([each[0] for each in pools])
    return lambda likely: means[np.minimum(np.searchsorted(edges, likely), len(means) - 1)]


CALIBRATIONS: dict[str, Calibration] = {"unchanged": unchanged, "logistic": logistic, "isotonic": isotonic}


def left_in(signals: Signals) -> Predicted:
    """Return the confidence of questions that its weights were learned on."""
    return Predicted(_likely(learn(signals), signals), signals.is_answered.astype(float), _weights(signals))


def left_out(signals: Signals, calibrate: Calibration = unchanged) -> Predicted:
    """Return the confidence of every question with weights, and a calibration, learned on the other sets alone."""
    likely = np.zeros(len(signals.sets))
    for name in dict.fromkeys(signals.sets.tolist()):
        inside = signals.sets == name
        others = signals.only(~inside)
        found = _likely(learn(others), signals.only(inside))
        if calibrate is not unchanged:
            found = calibrate(left_out(others))(found)
        likely[inside] = found
    return Predicted(likely, signals.is_answered.astype(float), _weights(signals))


def diagram(predicted: Predicted) -> str:
    """Return the reliability diagram as SVG: a dot for each tenth, its share answered above its mean confidence."""
    low, high = _MARGIN, _MARGIN + _SIDE
    size = _SIDE + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif" font-size="13" '
        'role="img" aria-label="Share of answers that are right, by confidence">',
        f'<rect width="{size}" height="{size}" fill="#fff"/>',
        f'<path d="M{low} {high}L{high} {low}" stroke="#999" stroke-dasharray="4 4"/>',
        f'<path d="M{low} {low}V{high}H{high}" stroke="#333" fill="none"/>',
    ]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        at = _SIDE * tick
        lines.append(f'<text x="{low + at:.0f}" y="{high + 18}" text-anchor="middle">{tick:g}</text>')
        lines.append(f'<text x="{low - 6}" y="{high - at + 4:.0f}" text-anchor="end">{tick:g}</text>')
    dots = [(low + _SIDE * likely, high - _SIDE * answered) for likely, answered, _, _ in predicted.bins()]
    lines.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in dots)}" stroke="#36c" fill="none"/>')
    lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#36c"/>' for x, y in dots]
    lines.append(f'<text x="{size / 2:.0f}" y="{size - 8}" text-anchor="middle">confidence</text>')
    lines.append(f'<text x="14" y="{size / 2:.0f}" transform="rotate(-90 14 {size / 2:.0f})" text-anchor="middle">')
    return "\n".join([*lines, "share with an answer</text>", "</svg>", ""])


def _likely(weights: np.ndarray, signals: Signals) -> np.ndarray:
    found: np.ndarray = 1 / (1 + np.exp(-(weights[0] + signals.values @ weights[1:])))
    return found


def _weights(signals: Signals) -> np.ndarray:
    weights = np.zeros(len(signals.sets))
    for name in dict.fromkeys(signals.sets.tolist()):
        for answered in (False, True):
            mask = (signals.sets == name) & (signals.is_answered == answered)
            weights[mask] = 1 / max(1, mask.sum())
    return weights


def _log_odds(likely: np.ndarray) -> np.ndarray:
    bounded = np.clip(likely, _LEAST, 1 - _LEAST)
    found: np.ndarray = np.log(bounded / (1 - bounded))
    return found


def main() -> None:
    """Print the tables of docs/concepts/extractive-model.md and draw the diagram."""
    signals = read_signals()
    found = left_out(signals)
    for name, each in (
        ("learned on them", left_in(signals)),
        *((n, left_out(signals, c)) for n, c in CALIBRATIONS.items()),
    ):
        low, high = each.interval()
        print(f"| {name} | {each.error():.3f} | {low:.3f} to {high:.3f} | {each.brier():.3f} |")
    for name in dict.fromkeys(signals.sets.tolist()):
        part = found.only(signals.sets == name)
        print(f"| {name} | {part.error(5):.2f} | {part.likely.mean():.2f} | {part.is_answered.mean():.2f} |")
    for likely, answered, _, count in found.bins():
        print(f"| {likely:.2f} | {answered:.2f} | {count} |")
    DIAGRAM.write_text(diagram(found), encoding="utf-8")


if __name__ == "__main__":
    main()
