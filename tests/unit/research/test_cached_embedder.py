from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from asky.errors import ProviderError
from asky.research.embedding.cached_embedder import CachedEmbedder
from asky.storage.database import Database
from asky.storage.text_vectors import TextVectorTable
from asky.storage.vectors import VectorTable
from tests.support.embedding import FakeEmbedder


class Counting(FakeEmbedder):
    """An embedder that counts the texts that it is given."""

    seen = 0

    def embed(self, texts, **options):  # type: ignore[no-untyped-def] # the port's
        self.seen += len(texts)
        return super().embed(texts, **options)

    def embed_query(self, text):  # type: ignore[no-untyped-def] # the port's
        self.seen += 1
        return super().embed([text])[0]


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "asky.db")


def remembered(database: Database, embedder: Counting) -> CachedEmbedder:
    space = VectorTable(database).space(embedder.fingerprint, embedder.dim)
    return CachedEmbedder(embedder, space, TextVectorTable(database))


def test_a_text_is_embedded_once_and_never_again(database: Database) -> None:
    first, second = Counting(), Counting()
    vectors = remembered(database, first)
    expected = first.embed(["moon", "sun", "moon"])
    first.seen = 0
    assert np.array_equal(vectors.embed(["moon", "sun", "moon"]), expected)
    assert first.seen == 2
    assert np.array_equal(vectors.embed(["sun"]), expected[1:2])
    vectors.flush()
    later = remembered(database, second)
    assert np.array_equal(later.embed(["moon", "sun"]), expected[:2])
    assert np.array_equal(later.embed([]), np.zeros((0, second.dim), dtype=np.float32))
    assert second.seen == 0


def test_a_question_is_not_taken_for_a_text(database: Database) -> None:
    embedder = Counting()
    vectors = remembered(database, embedder)
    vectors.embed(["moon"])
    vectors.embed_query("moon")
    assert embedder.seen == 2
    assert vectors.embed_query("moon").shape == (embedder.dim,)
    assert embedder.seen == 2


def test_a_vector_that_would_poison_comparisons_is_refused_and_not_kept(database: Database) -> None:
    class Broken(Counting):
        def embed(self, texts, **_):  # type: ignore[no-untyped-def] # the port's
            return np.full((len(texts), self.dim), np.nan, dtype=np.float32)

    vectors = remembered(database, Broken())
    with pytest.raises(ProviderError):
        vectors.embed(["moon"])
    assert np.isfinite(remembered(database, Counting()).embed(["moon"])).all()


def test_only_the_newest_vectors_are_kept(database: Database) -> None:
    now = iter(range(100))
    table = TextVectorTable(database, now=lambda: float(next(now)))
    space = VectorTable(database).space("f", 1)
    for number in range(5):
        table.put(space, {f"d{number}": b"\0\0\0\0"})
    assert table.shrink(2) == 3
    assert set(table.get(space, [f"d{number}" for number in range(5)])) == {"d3", "d4"}
