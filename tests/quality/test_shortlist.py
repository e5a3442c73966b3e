"""Floors of the source shortlist: nDCG@8 over simulated searches, with the hash of the data. A floor only rises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from asky.evaluation.intervals import Interval, bootstrap
from asky.evaluation.measures import ndcg
from tests.quality.corpora import RememberingEmbedder, cache_folder, services_in
from tests.quality.datasets import load_set
from tests.quality.shortlist import Rankings, Web, rank, sample

pytestmark = [pytest.mark.slow, pytest.mark.model]

K = 8
WAYS = ("shortlist", "search", "meaning")


@dataclass(frozen=True, slots=True)
class Floor:
    """What the shortlist must reach for so many questions of the set with this hash."""

    name: str
    sha256: str
    questions: int
    ndcg: float
    papers: bool = False


FLOORS = [
    Floor("deepscholar", "58d7c2cbcf0e30aaa5c3075025ff60e9b40b36b81c8ac7eb9a5c7799fbc7bdab", 20, 0.726, papers=True),
    Floor("multihoprag_lite", "e18e0aedc78c828b866b492adbd63ee018e5250bc794731677ccfe9a4cff060a", 110, 0.463),
    Floor("hotpot200", "437cb517162ef7c93535b84369034e31b664aedc99540f712af8ecbc449af351", 200, 0.810),
    Floor("anthropic_docs_rag", "c7d6d679fe8b9d5930337ef2faa3db48dadf963a505c1beadc92291517ea7fce", 44, 0.838),
    Floor("covidqa", "88b10a26316f473e2098e986b089132d01be0a35e306dba2ad49050b244c1589", 60, 0.798),
    Floor("squad2_articles", "79c61b92f0457704560f37344806680d8e63a31c23671b8d18e44795b1180fe4", 60, 0.918),
]
"""Measured, less .01."""


class Bench:
    """Ranks the questions of each set once."""

    def __init__(self, data: Path, embedder: RememberingEmbedder) -> None:
        self._data = data
        self._embedder = embedder
        self._ranked: dict[str, list[Rankings]] = {}

    def figures(self, floor: Floor, way: str) -> list[float]:
        """nDCG@8 of `way`, one value a question."""
        if floor.name not in self._ranked:
            data = load_set(self._data / floor.name)
            assert data.sha256 == floor.sha256, "the floor was measured on other data"
            web = Web(data, papers=floor.papers)
            self._ranked[floor.name] = [
                rank(web, question, self._embedder.embed) for question in sample(data, floor.questions)
            ]
        ranked = self._ranked[floor.name]
        return [ndcg(getattr(each, way), each.question.relevant, K) for each in ranked]


@pytest.fixture(scope="module")
def bench(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = cache_folder(tmp_path_factory.getbasetemp() / "quality")
    services = services_in(folder, "shortlist")
    yield Bench(data_folder, services.embedder)
    services.close()


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_the_shortlist_is_at_least_as_good_as_before(floor: Floor, bench: Bench) -> None:
    print(f"\n{floor.name}, {floor.questions} questions:", end="")
    for way in WAYS:
        print(f" {way} {bootstrap(bench.figures(floor, way))}", end="")
    print()
    assert np.mean(bench.figures(floor, "shortlist")) >= floor.ndcg


@pytest.mark.parametrize("other", ["search", "meaning"])
def test_the_shortlist_is_better_than_a_plainer_order(other: str, bench: Bench) -> None:
    gain = average_gain([gains(bench, floor, other) for floor in FLOORS])
    print(
        f"\nshortlist minus {other}: {gain}, {sum(floor.questions for floor in FLOORS)} questions, {len(FLOORS)} sets"
    )
    assert gain.low > 0


def gains(bench: Bench, floor: Floor, other: str) -> list[float]:
    pairs = zip(bench.figures(floor, "shortlist"), bench.figures(floor, other), strict=True)
    return [ours - theirs for ours, theirs in pairs]


def average_gain(by_set: Sequence[Sequence[float]]) -> Interval:
    """The mean over sets of their mean gain, every set the same; resampled over the questions of each."""
    draw = np.random.default_rng(7)
    arrays = [np.array(values) for values in by_set]
    samples = sum(each[draw.integers(0, len(each), (2000, len(each)))].mean(axis=1) for each in arrays) / len(arrays)
    low, high = np.percentile(samples, [2.5, 97.5])
    return Interval(float(np.mean([each.mean() for each in arrays])), float(low), float(high))
