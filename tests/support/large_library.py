"""A large library of papers made of numbers, and the product's parts over it. See `tests.support.large_store`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from asky.config.loader import load_config
from asky.papers.catalog import CONTENT
from asky.papers.summaries import SUMMARIES
from asky.storage.papers import Paper, PaperTable
from asky.values import Source, source_id
from asky.wiring import Services
from tests.support.large_store import DIM, RandomEmbedder, Words, put_passages
from tests.support.search_store import SearchStore

CONTENT_PASSAGES, SUMMARY_PASSAGES = 40, 3
_ADDED_AT_ONCE = 50
_PAPERS_OF_A_TOPIC = 20


class LibraryServices(Services):
    """The product's parts over the store below `home`, with an embedder that is open already."""

    def __init__(self, home: Path, embedder: Any) -> None:
        environ = {"HOME": str(home), "ASKY_HOME": str(home / "asky")}
        super().__init__(load_config(environ=environ, cwd=home), environ)
        self._given = embedder

    @cached_property
    def embedder(self) -> Any:
        return self._given


class TopicEmbedder(RandomEmbedder):
    """Random unit vectors; that of a query of `about_topic` is near the passages of the papers of its topic."""

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        return _around(int(text.split()[-1]), seed=sum(text.encode()), count=1)[0]


def about_topic(texts: Iterable[str]) -> list[str]:
    """Return the texts as queries, each about another topic."""
    return [f"{text} topic {number}" for number, text in enumerate(texts)]


def build_library(home: Path, papers: int) -> None:
    """Write a store with so many papers below `home`, added 50 at once; each has 40 passages and 3 of its summary.

    Twenty papers are about a topic: their passages have cosines of about .5 with each other and with a query about it.
    """
    store = SearchStore(home / "asky" / "data", embedder=RandomEmbedder())
    content, summaries = (store.corpus.collection(name, create=True) for name in (CONTENT, SUMMARIES))
    space, table, words = store.vectors.space("random-384", DIM), PaperTable(store.database), Words(11)
    for first in range(0, papers, _ADDED_AT_ONCE):
        added = range(first, min(first + _ADDED_AT_ONCE, papers))
        with store.database.write():
            for collection, count in ((content, CONTENT_PASSAGES), (summaries, SUMMARY_PASSAGES)):
                for number in added:
                    vectors = _around(number % (papers // _PAPERS_OF_A_TOPIC), number + 10_000 * count, count)
                    source = _source(number, "" if collection == content else "#summary")
                    put_passages(store, source, words.passages(count), vectors, space, [collection])
            for number in added:
                source, summary = _source(number, ""), _source(number, "#summary")
                id_ = source.uri.removeprefix("paper:")
                table.put(Paper(id_, 1, None, None, "complete", source, summary.id), [f"arxiv:{id_}"])
    store.close()


def _source(number: int, part: str) -> Source:
    uri = f"paper:{2001 + number // 2500}.{10_000 + number}{part}"
    return Source(source_id(uri), "file", uri, f"The tides of {number} harbours", fetched_at="now")


def _around(topic: int, seed: int, count: int) -> npt.NDArray[np.float32]:
    """`count` unit vectors around the centre of a topic."""
    centre = np.random.default_rng(topic).normal(size=DIM)
    around = centre + np.random.default_rng(seed + 1_000_000).normal(size=(count, DIM))
    return (around / np.linalg.norm(around, axis=1, keepdims=True)).astype(np.float32)
