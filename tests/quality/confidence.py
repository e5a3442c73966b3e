"""How well the confidence of the built-in model is calibrated: how often an answer is found at each confidence.

`confidence.csv` holds what the model said of each question of four sets that no weight was learned on: ClapNQ, SQuAD
2.0 and the validation documents of `tools/reader_data`. An answer is found if the quoted units hold it; of each set
questions with an answer count as much as those without. `python -m tests.quality.confidence DATA` measures again and
draws the reliability diagram of the docs; without `DATA` it prints the figures.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.quality.extractive import SETS, Case, Passage, answered, quotes_gold

FILE = Path(__file__).with_name("confidence.csv")
DIAGRAM = Path(__file__).parents[2] / "docs" / "concepts" / "confidence.svg"
MADE = Path(__file__).parents[2] / "tools" / "reader_data"
BINS = 10
_RESAMPLES = 1000
_OF_MADE = 400  # questions of a file
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


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked: of which set, whether it has an answer, what was said of it, whether that is right."""

    name: str
    has_answer: bool
    confidence: float
    is_right: bool


def read_asked() -> list[Asked]:
    """Return the stored questions."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return [Asked(row[0], row[1] == "1", float(row[2]), row[3] == "1") for row in csv.reader(file)]


def predicted(asked: Sequence[Asked]) -> Predicted:
    """Return what was said of questions; those of a set with an answer weigh as much as those without."""
    groups = [(each.name, each.has_answer) for each in asked]
    return Predicted(
        np.array([each.confidence for each in asked]),
        np.array([float(each.is_right) for each in asked]),
        np.array([1 / groups.count(group) for group in groups]),
    )


def measure(data: Path) -> Iterator[Asked]:
    """Ask the model the questions of all sets; those of `data`, and of the validation documents."""
    for name, cases in SETS.items():
        for case in cases(data):
            yield _asked(name.partition("-")[0], case)
    for file in sorted(MADE.glob("*_val.jsonl.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            made = [case for line in lines for case in _made_cases(json.loads(line))]
        for number in np.random.default_rng(1).permutation(len(made))[:_OF_MADE].tolist():
            yield _asked(file.name.partition("_")[0], made[number])


def _made_cases(document: dict[str, object]) -> Iterator[Case]:
    units: list[str] = document["units"]  # type: ignore[assignment]
    text = "\n\n".join(units)
    passage = Passage("P0000", units[0], text)
    for each in document["questions"]:  # type: ignore[attr-defined]
        yield Case(each["q"], (passage,), tuple(units[number] for number in each["answers"]), text)


def _asked(name: str, case: Case) -> Asked:
    text, confidence = answered(case, least=0.0)
    return Asked(name, bool(case.gold), confidence or 0.0, quotes_gold(case, text))


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


def precision(asked: Sequence[Asked], share: float = 0.7) -> float:
    """Return the share of questions with an answer among those above the confidence that `share` of these reach."""
    reached = sorted((each.confidence for each in asked if each.has_answer), reverse=True)
    least = reached[max(0, round(share * len(reached)) - 1)]
    above = [each.has_answer for each in asked if each.confidence >= least]
    return sum(above) / len(above)


def area(asked: Sequence[Asked]) -> float:
    """Return how likely a question with an answer has a higher confidence than one without."""
    having = np.array([each.confidence for each in asked if each.has_answer])
    lacking = np.array([each.confidence for each in asked if not each.has_answer])
    return float((having[:, None] > lacking).mean() + 0.5 * (having[:, None] == lacking).mean())


def main() -> None:
    """Print the tables of docs/concepts/extractive-model.md; with a folder of data, measure and draw first."""
    if len(sys.argv) > 1:
        with FILE.open("w", encoding="utf-8", newline="") as file:
            for each in measure(Path(sys.argv[1])):
                row = (each.name, int(each.has_answer), f"{each.confidence:.3f}", int(each.is_right))
                csv.writer(file, lineterminator="\n").writerow(row)
    asked = read_asked()
    whole = predicted(asked)
    low, high = whole.interval()
    print(f"| all | {len(asked)} | {whole.error():.3f} | {low:.3f} to {high:.3f} | {whole.brier():.3f} |")
    for name in dict.fromkeys(each.name for each in asked):
        part = [each for each in asked if each.name == name]
        print(f"| {name} | {len(part)} | {area(part):.2f} | {precision(part):.2f} | {predicted(part).error(5):.2f} |")
    for likely, right, _, count in whole.bins():
        print(f"| {likely:.2f} | {right:.2f} | {count} |")
    DIAGRAM.write_text(diagram(whole), encoding="utf-8")


if __name__ == "__main__":
    main()
