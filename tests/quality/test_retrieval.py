"""Floors of retrieval, each with the hash of its data. A floor only rises.

Beside the product's search three plainer ones are measured on the same stores: the words alone, the vectors alone, and
half of each. `ASKY_QUALITY_SETS=all` measures the large sets too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from asky.evaluation.intervals import Interval, bootstrap
from asky.evaluation.measures import first_occurrences, ndcg, recall
from asky.research.index.lexical_query import word_expression
from asky.research.vector_store_common import best
from asky.storage.scope import Scope
from asky.values import Span
from tests.quality.corpora import Corpora, Corpus
from tests.quality.spans import span_recall

if TYPE_CHECKING:
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]

pytestmark = [pytest.mark.slow, pytest.mark.model]

DEPTH = 100
"""Passages that become a ranking of documents."""

FIRST = 10
"""Hits that a reader sees, and places of a ranking that count."""

CANDIDATES = 200


@dataclass(frozen=True, slots=True)
class Floor:
    """What search must reach on the set with this hash.

    `ndcg` and `recall` are those of the first 10 documents; `hits_ndcg` and `hits_recall` of the first 10 hits alone,
    which hold some documents more than once.
    """

    name: str
    sha256: str
    ndcg: float
    recall: float
    hits_ndcg: float
    hits_recall: float
    large: bool = False


@dataclass(frozen=True, slots=True)
class SpanFloor:
    """The recall of gold characters that the first 5 and the first 10 hits must reach."""

    name: str
    sha256: str
    five: float
    ten: float


FLOORS = [
    Floor(
        "anthropic_docs_rag",
        "c7d6d679fe8b9d5930337ef2faa3db48dadf963a505c1beadc92291517ea7fce",
        ndcg=0.871,
        recall=0.921,
        hits_ndcg=0.863,
        hits_recall=0.904,
    ),
    Floor(
        "covidqa",
        "88b10a26316f473e2098e986b089132d01be0a35e306dba2ad49050b244c1589",
        ndcg=0.861,
        recall=0.934,
        hits_ndcg=0.856,
        hits_recall=0.917,
    ),
    Floor(
        "cranfield",
        "47593c1a564acdcd58e9c4a188bd6cdab22c8f7a48e9ff5e268f19bec4389d7f",
        ndcg=0.567,
        recall=0.494,
        hits_ndcg=0.553,
        hits_recall=0.474,
    ),
    Floor(
        "deepscholar",
        "58d7c2cbcf0e30aaa5c3075025ff60e9b40b36b81c8ac7eb9a5c7799fbc7bdab",
        ndcg=0.751,
        recall=0.565,
        hits_ndcg=0.706,
        hits_recall=0.510,
    ),
    Floor(
        "hotpot200",
        "437cb517162ef7c93535b84369034e31b664aedc99540f712af8ecbc449af351",
        ndcg=0.915,
        recall=0.970,
        hits_ndcg=0.913,
        hits_recall=0.965,
    ),
    Floor(
        "multihoprag_lite",
        "e18e0aedc78c828b866b492adbd63ee018e5250bc794731677ccfe9a4cff060a",
        ndcg=0.477,
        recall=0.633,
        hits_ndcg=0.477,
        hits_recall=0.633,
    ),
    Floor(
        "squad2_articles",
        "79c61b92f0457704560f37344806680d8e63a31c23671b8d18e44795b1180fe4",
        ndcg=0.972,
        recall=0.990,
        hits_ndcg=0.972,
        hits_recall=0.990,
    ),
    Floor(
        "cacm",
        "4fec84d84f251dfc9883d65648fc326140edfd338720acc682bf2f7ea63367f5",
        ndcg=0.587,
        recall=0.404,
        hits_ndcg=0.576,
        hits_recall=0.393,
        large=True,
    ),
    Floor(
        "musique200",
        "eaa151a9224d1ef20bf2b4617780dd7c076ac1ada515b38149a52bc9492c510e",
        ndcg=0.604,
        recall=0.666,
        hits_ndcg=0.604,
        hits_recall=0.666,
        large=True,
    ),
    Floor(
        "scifact",
        "711f403e90a8bcbb495835004cccaa8595d41dd55a5d2eab6bc2840e9a6673df",
        ndcg=0.801,
        recall=0.896,
        hits_ndcg=0.795,
        hits_recall=0.880,
        large=True,
    ),
]
"""Measured, less .01."""

SPAN_FLOORS = [
    SpanFloor("chunking_eval", "667354d604b38485847b9c78047273a39e96838028d5c12eabee9e93d6f0306b", 0.907, 0.959),
    SpanFloor("covidqa", "88b10a26316f473e2098e986b089132d01be0a35e306dba2ad49050b244c1589", 0.749, 0.825),
    SpanFloor("squad2_articles", "79c61b92f0457704560f37344806680d8e63a31c23671b8d18e44795b1180fe4", 0.852, 0.890),
]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The figures of one way to search on one set, one value a question."""

    ndcg: list[float]
    recall: list[float]
    hits_ndcg: list[float]
    hits_recall: list[float]


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured on one set, by way to search."""

    corpus: Corpus
    ways: Mapping[str, Ranking]


Way = Callable[[str], Sequence[tuple[str, Span]]]
"""A question to passages, best first: the document's id and the span."""


class Bench:
    """Measures each set once."""

    def __init__(self, corpora: Corpora) -> None:
        self._corpora = corpora
        self._measured: dict[str, Measured] = {}

    def measure(self, name: str) -> Measured:
        if name not in self._measured:
            corpus = self._corpora.open(name)
            ways: dict[str, Way] = {"words": Words(corpus), "vectors": Vectors(corpus), "half of each": Half(corpus)}
            figures = {label: rank(corpus, way) for label, way in ways.items()}
            figures["asky"] = rank(corpus, lambda query: hits_of(corpus, query))
            self._measured[name] = Measured(corpus, figures)
        return self._measured[name]


def hits_of(corpus: Corpus, query: str) -> list[tuple[str, Span]]:
    """What the product finds."""
    return [(str(hit.source.external_id or ""), hit.span) for hit in corpus.search(query, limit=DEPTH)]


@dataclass(frozen=True, slots=True)
class Words:
    """The full-text index alone."""

    corpus: Corpus

    def __call__(self, query: str) -> list[tuple[str, Span]]:
        return described(self.corpus, list(self.scores(query, DEPTH)))

    def scores(self, query: str, limit: int) -> dict[int, float]:
        return self.corpus.services.lexical.search(word_expression(query), Scope(), limit=limit)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors alone, all of them compared."""

    corpus: Corpus

    def __call__(self, query: str) -> list[tuple[str, Span]]:
        ids, cosines = self.scores(query)
        return described(self.corpus, [int(ids[row]) for row in best(cosines, DEPTH)])

    def scores(self, query: str) -> tuple[npt.NDArray[np.int64], Scores]:
        store = self.corpus.services.vectors
        embedder = self.corpus.services.embedder
        coverage = store.coverage(Scope())
        assert coverage is not None
        matrix = store.matrix(embedder, Scope(), coverage.embedded)
        return matrix.ids, matrix.cosines(embedder.embed_query(query))


@dataclass(frozen=True, slots=True)
class Half:
    """The usual recipe: the best 200 of each leg, both scores of each scaled to [0, 1] over them, half of each."""

    corpus: Corpus

    def __call__(self, query: str) -> list[tuple[str, Span]]:
        ids, cosines = Vectors(self.corpus).scores(query)
        words = Words(self.corpus).scores(query, CANDIDATES)
        cosine_of = dict(zip(ids.tolist(), cosines.tolist(), strict=True))
        union = list(dict.fromkeys([*words, *(int(ids[row]) for row in best(cosines, CANDIDATES))]))
        words |= self.corpus.services.lexical.scores(
            word_expression(query), [each for each in union if each not in words]
        )
        half = scaled([cosine_of[each] for each in union]) + scaled([words.get(each, 0.0) for each in union])
        return described(self.corpus, [union[place] for place in best(half, DEPTH)])


def scaled(scores: Sequence[float]) -> Scores:
    values = np.array(scores, dtype=np.float32)
    return np.asarray((values - values.min()) / max(float(values.max() - values.min()), 1e-9), dtype=np.float32)


def described(corpus: Corpus, chunk_ids: Sequence[int]) -> list[tuple[str, Span]]:
    """The document and span of each chunk."""
    tables = corpus.services.vectors.tables
    chunks = tables.chunks.fetch(chunk_ids)
    sources = tables.chunks.sources_of(sorted({each.document_id for each in chunks.values()}), Scope())
    found = (chunks[each] for each in chunk_ids)
    return [(str(sources[each.document_id].external_id or ""), each.span) for each in found]


def rank(corpus: Corpus, way: Way) -> Ranking:
    figures = Ranking([], [], [], [])
    for question in corpus.data.judged:
        found = [document for document, _ in way(question.text)]
        ranked, first = first_occurrences(found), first_occurrences(found[:FIRST])
        figures.ndcg.append(ndcg(ranked, question.relevant, FIRST))
        figures.recall.append(recall(ranked, question.relevant, FIRST))
        figures.hits_ndcg.append(ndcg(first, question.relevant, FIRST))
        figures.hits_recall.append(recall(first, question.relevant, FIRST))
    return figures


def spans_of(corpus: Corpus) -> tuple[list[float], list[float]]:
    """The recall of gold characters in the first 5 and 10 hits, one value a question that names them."""
    figures: tuple[list[float], list[float]] = ([], [])
    for question in corpus.data.judged:
        if gold := [(each.document, each.span) for each in question.gold]:
            found = hits_of(corpus, question.text)
            for values, count in zip(figures, (5, 10), strict=True):
                values.append(span_recall(found[:count], gold))
    return figures


@pytest.fixture(scope="module")
def bench(corpora: Corpora) -> Bench:
    return Bench(corpora)


def wanted(floor: Floor) -> bool:
    return not floor.large or os.environ.get("ASKY_QUALITY_SETS") == "all"


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_search_finds_at_least_as_much_as_before(floor: Floor, bench: Bench) -> None:
    if not wanted(floor):
        pytest.skip("a large set: measured with ASKY_QUALITY_SETS=all")
    measured = bench.measure(floor.name)
    assert measured.corpus.data.sha256 == floor.sha256, "the floor was measured on other data"
    report(floor.name, measured)
    ours = measured.ways["asky"]
    assert mean(ours.ndcg) >= floor.ndcg
    assert mean(ours.recall) >= floor.recall
    assert mean(ours.hits_ndcg) >= floor.hits_ndcg
    assert mean(ours.hits_recall) >= floor.hits_recall


@pytest.mark.parametrize("floor", SPAN_FLOORS, ids=lambda floor: floor.name)
def test_the_first_hits_hold_the_passages_that_answer(floor: SpanFloor, corpora: Corpora) -> None:
    corpus = corpora.open(floor.name)
    assert corpus.data.sha256 == floor.sha256, "the floor was measured on other data"
    five, ten = spans_of(corpus)
    print(f"\n{floor.name}: gold characters in 5 hits {bootstrap(five)}, in 10 {bootstrap(ten)}")
    assert mean(five) >= floor.five
    assert mean(ten) >= floor.ten


@pytest.mark.parametrize("other", ["words", "vectors", "half of each"])
def test_search_is_on_average_better_than_a_plainer_one(other: str, bench: Bench) -> None:
    ways = [bench.measure(floor.name).ways for floor in FLOORS if wanted(floor)]
    print(f"\nasky minus {other}, {len(ways)} sets:", end="")
    for figure in ("ndcg", "recall", "hits_ndcg", "hits_recall"):
        gain = average_gain([gains(each, other, figure) for each in ways])
        print(f" {figure} {gain}", end="")
        assert gain.mean > 0
    print()


def gains(ways: Mapping[str, Ranking], other: str, figure: str) -> list[float]:
    pairs = zip(getattr(ways["asky"], figure), getattr(ways[other], figure), strict=True)
    return [ours - theirs for ours, theirs in pairs]


def average_gain(by_set: Sequence[Sequence[float]]) -> Interval:
    """The mean over sets of their mean gain, every set the same; resampled over the questions of each."""
    total = len(by_set)
    draw = np.random.default_rng(7)
    samples = np.zeros(2000)
    for values in by_set:
        array = np.array(values)
        samples += array[draw.integers(0, len(array), (2000, len(array)))].mean(axis=1) / total
    low, high = np.percentile(samples, [2.5, 97.5])
    return Interval(sum(mean(each) for each in by_set) / total, float(low), float(high))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def report(name: str, measured: Measured) -> None:
    corpus = measured.corpus
    documents, questions = len(corpus.data.documents), len(corpus.data.judged)
    print(f"\n{name}: {documents} documents, {corpus.chunks} chunks, {questions} questions")
    for label, figures in measured.ways.items():
        values = (figures.ndcg, figures.recall, figures.hits_ndcg, figures.hits_recall)
        print(
            f"  {label:13}", "  ".join(f"{title} {bootstrap(each)}" for title, each in zip(TITLES, values, strict=True))
        )


TITLES = ("nDCG@10", "recall@10", "of 10 hits: nDCG", "recall")
