"""What the two rules for texts as queries bring: see "Texts as queries" in `docs/decisions/0004-fusion.md`.

    pytest tests/quality/test_text_queries.py --data FOLDER -s

prints, for each set, the paired differences of nDCG@10 that repeated words and each weight of nearness make, and which
weight the other set would choose. Sets whose questions are single sentences are searched as before and need no run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from asky.evaluation.intervals import bootstrap
from asky.evaluation.measures import ndcg
from asky.research.index.lexical_query import is_text, pair_expression, word_expression
from asky.research.ranking import DIVERSE, NEIGHBOUR_WEIGHT, fuse, raise_near_the_best, select
from asky.research.vector_store_common import best
from asky.storage.scope import Scope
from tests.quality.corpora import Corpora, Corpus
from tests.quality.datasets import Question
from tests.quality.test_retrieval import CANDIDATES, DEPTH, Vectors, described

if TYPE_CHECKING:
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]

pytestmark = [pytest.mark.slow, pytest.mark.model]

SETS = ("cacm", "deepscholar")
WEIGHTS = (0.0, 0.05, NEIGHBOUR_WEIGHT, 0.15, 0.2, 0.3)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one query: rows of all chunks, their scores, documents and vectors."""

    rows: npt.NDArray[np.int64]
    cosines: Scores
    words: Scores
    pairs: Scores
    documents: npt.NDArray[np.int64]
    vectors: Scores

    def ranked(self, weight: float) -> npt.NDArray[np.int64]:
        scores = fuse(self.cosines, self.words, self.pairs, dense_weight=0.7)
        raised = raise_near_the_best(scores, self.vectors, weight=weight)
        order = select(raised, self.cosines, self.documents, self.vectors, selection=DIVERSE, limit=DEPTH)
        return np.asarray(self.rows[order])


def candidates(corpus: Corpus, query: str, expression: str) -> tuple[list[int], Candidates]:
    """The ids of all chunks, and the best of both legs with the scores of both."""
    ids, cosines = Vectors(corpus).scores(query)
    lexical, store = corpus.services.lexical, corpus.services.vectors
    found = lexical.search(expression, Scope(), limit=CANDIDATES)
    near = ids[best(cosines, CANDIDATES)].tolist()
    chosen = np.array(sorted({*found, *near}), dtype=np.int64)
    rows = np.searchsorted(ids, chosen)
    words, pairs = (lexical.scores(each, chosen.tolist()) for each in (expression, pair_expression(query)))
    owners = store.tables.chunks.documents_of(chosen.tolist())
    coverage = store.coverage(Scope())
    assert coverage is not None
    vectors = store.matrix(corpus.services.embedder, Scope(), coverage.embedded).rows_of(chosen)[1]
    documents = np.array([owners[each] for each in chosen.tolist()], dtype=np.int64)
    scores = (cosines[rows], filled(chosen, words), filled(chosen, pairs))
    return ids.tolist(), Candidates(rows, *scores, documents, vectors)


def filled(ids: npt.NDArray[np.int64], values: Mapping[int, float]) -> Scores:
    return np.array([values.get(each, 0.0) for each in ids.tolist()], dtype=np.float32)


def differences(corpus: Corpus) -> dict[float, list[float]]:
    """By weight of nearness, for each question that is a text or not, the gain over counting each word once."""
    gains: dict[float, list[float]] = {weight: [] for weight in WEIGHTS}
    for question in corpus.data.judged:
        if not is_text(question.text):
            for values in gains.values():
                values.append(0.0)
            continue
        expression = word_expression(question.text)
        once = " OR ".join(dict.fromkeys(expression.split(" OR ")))

        before = reached(corpus, question, once, 0.0)
        for weight, values in gains.items():
            values.append(reached(corpus, question, expression, weight) - before)
    return gains


def reached(corpus: Corpus, question: Question, expression: str, weight: float) -> float:
    """The nDCG@10 of a question with this expression for its words and this weight of nearness."""
    ids, found = candidates(corpus, question.text, expression)
    hits = described(corpus, [ids[row] for row in found.ranked(weight).tolist()])
    return ndcg([document for document, _ in hits], question.relevant)


def test_texts_as_queries_gain_by_an_interval_above_zero(corpora: Corpora) -> None:
    gains = {name: differences(corpora.open(name)) for name in SETS}
    for name, by_weight in gains.items():
        (other,) = (each for each in SETS if each != name)
        chosen = max(WEIGHTS, key=lambda weight: mean(gains[other][weight]))
        print(f"\n{name}: repeated words, and nearness with the weight")
        for weight, values in by_weight.items():
            print(f"  {weight:4} {bootstrap(values)}{'  best on ' + other if weight == chosen else ''}")
    for name in SETS:
        assert bootstrap(gains[name][NEIGHBOUR_WEIGHT]).low > 0


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
