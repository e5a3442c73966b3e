"""A cross-encoder over the best hits of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asky.config.schema import Retrieval
from asky.errors import NotConfigured
from asky.events import Warned
from asky.research.embedding.cross_encoder import CrossEncoder, Pair
from asky.research.index.reranking import RERANKED, Reranker
from asky.research.reader.named import NamedReader
from tests.support.search_store import SearchStore

NOTES = {"a": "The harbour tide is high.", "b": "The harbour tide is low.", "c": "The harbour tide table of today."}


class Reading:
    """A cross-encoder that scores a text by `score`, and keeps the pairs that it read."""

    def __init__(self, score: Callable[[str], float], labels: tuple[str, ...] = ("score",)) -> None:
        self.pairs: list[Pair] = []
        self.opened = 0
        self._score, self._labels = score, labels

    def open(self) -> CrossEncoder:
        self.opened += 1
        return CrossEncoder(self._labels, self._read)

    def _read(self, pairs: Sequence[Pair]) -> Any:
        self.pairs += pairs
        rows = np.zeros((len(pairs), len(self._labels)), dtype=np.float32)
        rows[:, -1] = [self._score(text) for _, text in pairs]
        return rows


def reranker(open_model: Callable[[], CrossEncoder]) -> Reranker:
    return Reranker(NamedReader("model", open_model).answers)


def store_with(folder: Path, reranker: Reranker | None, notes: dict[str, str]) -> SearchStore:
    store = SearchStore(folder, settings=Retrieval(engine="exact"), reranker=reranker)
    for name, text in notes.items():
        store.add(name, text)
    return store


@pytest.mark.parametrize("labels", [("score",), ("no", "yes")])
def test_the_model_decides_the_order_of_the_best(tmp_path: Path, labels: tuple[str, ...]) -> None:
    reading = Reading(lambda text: 3.0 if "low" in text else -2.0, labels)
    store = store_with(tmp_path, reranker(reading.open), NOTES)
    assert store.found("harbour tide")[0] == "/b"
    assert store.found("harbour tide")[0] == "/b"
    assert reading.opened == 1
    assert {query for query, _ in reading.pairs} == {"harbour tide"}
    store.close()


def test_only_the_best_are_read_and_none_is_lost(tmp_path: Path) -> None:
    notes = {f"n{number:02}": f"tide {'tide ' * (number % 7)}report number {number}" for number in range(RERANKED + 10)}
    plain = store_with(tmp_path / "plain", None, notes)
    usual = plain.found("tide report", limit=len(notes))
    plain.close()
    reading = Reading(lambda text: -len(text) / 20)
    store = store_with(tmp_path / "reranked", reranker(reading.open), notes)
    found = store.found("tide report", limit=len(notes))
    assert len(reading.pairs) == RERANKED
    assert sorted(found) == sorted(usual)
    read = {text for _, text in reading.pairs}
    assert notes[found[0][1:]] == min(read, key=len)
    store.close()


def test_a_model_that_is_not_there_costs_the_order_and_is_told(tmp_path: Path) -> None:
    def absent() -> CrossEncoder:
        raise NotConfigured("the NLI model or cross-encoder x is not on this machine", hint="download it")

    plain = store_with(tmp_path / "plain", None, NOTES)
    store = store_with(tmp_path / "reranked", reranker(absent), NOTES)
    assert store.found("harbour tide") == plain.found("harbour tide")
    told = [each for each in store.heard if isinstance(each, Warned)]
    assert [each.message for each in told][-1].endswith("search results are not reranked")
    store.close()
    plain.close()
