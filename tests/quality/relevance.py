"""Learn the weights of `asky.llm.extractive.relevance` from the signals of answered and unanswerable questions.

`relevance_signals.csv` holds the signals of 799 questions: those of ClapNQ and SQuAD 2.0, and of five sets that people
wrote about documents like their own (papers, notes, code, tables, settings, mail, manuals, contracts) without knowing
asky. Answerable questions are there if the units quoted hold the answer.

`python -m tests.quality.relevance` prints the weights, and how well those learned on the other sets carry over to each.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("relevance_signals.csv")
_RIDGE = 0.2
_SET_WEIGHT = 60  # of each set's answerable questions together, and of its unanswerable ones: all sets count alike
_STEPS = 50


@dataclass(frozen=True, slots=True)
class Signals:
    """Signals `float64[n, k]` with the names of their columns; `sets` and `is_answered` have length n."""

    names: tuple[str, ...]
    sets: np.ndarray
    values: np.ndarray
    is_answered: np.ndarray

    def only(self, mask: np.ndarray) -> Signals:
        """Return those of a mask `bool[n]`."""
        return Signals(self.names, self.sets[mask], self.values[mask], self.is_answered[mask])


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """Figures of a set that the weights were not learned on, in [0, 1].

    `area` is that under the curve, `precision` the share of answerable questions among the answered ones if 70 % of the
    answerable ones are answered; `kept` and `refused` are the shares that are treated rightly at the threshold.
    """

    area: float
    precision: float
    kept: float
    refused: float


def read_signals() -> Signals:
    """Return the stored signals."""
    with FILE.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    values = np.array([[float(cell) for cell in row[1:-1]] for row in rows])
    answered = np.array([row[-1] == "1" for row in rows])
    return Signals(tuple(header[1:-1]), np.array([row[0] for row in rows]), values, answered)


def learn(signals: Signals) -> np.ndarray:
    """Return the weights `float64[1 + k]` of a ridge logistic regression, the intercept first, by Newton's method."""
    weights = np.zeros(len(signals.sets))
    for name in set(signals.sets):
        for answered in (False, True):
            mask = (signals.sets == name) & (signals.is_answered == answered)
            weights[mask] = _SET_WEIGHT / max(1, mask.sum())
    columns = np.column_stack([np.ones(len(signals.values)), signals.values])
    ridge = np.diag([0.0, *[_RIDGE] * signals.values.shape[1]])
    found = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weights * (signals.is_answered - likely)) - ridge @ found
        curve = (columns * (weights * likely * (1 - likely))[:, None]).T @ columns + ridge
        found = found + np.linalg.solve(curve, slope)
    return found


def carried_over(signals: Signals, name: str, threshold: float) -> CarriedOver:
    """Return the figures of the set `name` with the weights learned on the others."""
    inside = signals.sets == name
    found = learn(signals.only(~inside))
    tested = signals.only(inside)
    likely = 1 / (1 + np.exp(-(found[0] + tested.values @ found[1:])))
    right, wrong = likely[tested.is_answered], likely[~tested.is_answered]
    area = (right[:, None] > wrong).mean() + 0.5 * (right[:, None] == wrong).mean()
    answered = likely >= np.quantile(right, 0.3)
    return CarriedOver(
        float(area),
        float(tested.is_answered[answered].mean()),
        float((right >= threshold).mean()),
        float((wrong < threshold).mean()),
    )


def main() -> None:
    """Print the weights and the figures of each set left out."""
    from asky.llm.extractive.model import ExtractiveSettings

    signals, threshold = read_signals(), ExtractiveSettings().min_relevance
    print(dict(zip(("intercept", *signals.names), learn(signals).round(2).tolist(), strict=True)))
    for name in dict.fromkeys(signals.sets.tolist()):
        print(name, carried_over(signals, name, threshold))


if __name__ == "__main__":
    main()
