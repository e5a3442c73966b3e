"""A large store made of numbers: Zipf-distributed words and clustered random vectors, without a model or a reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from asky.research.vector_store_common import ids_to_bytes, vectors_to_bytes
from asky.storage.scope import Scope
from asky.storage.vectors import Pack
from asky.values import Chunk, Document, Source, Span, source_id
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore

DIM = 384
CHUNKS_PER_SOURCE = 20
WORDS_PER_CHUNK = 200
VOCABULARY = 60_000
STOP_WORDS = 100  # a language's commonest words, which are never searched


class RandomEmbedder(FakeEmbedder):
    """Random unit vectors of the real model's length; a query's vector is near one of the clusters."""

    def __init__(self) -> None:
        super().__init__(dim=DIM, fingerprint="random-384")

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        return _cluster(sum(text.encode()) % 5000, 1)[0]


def build(folder: Path, sources: int, **options: object) -> SearchStore:
    """A store with `sources` times 20 chunks of 200 words. The first 20 sources are also the collection "session"."""
    store = SearchStore(folder, embedder=RandomEmbedder(), **options)  # type: ignore[arg-type]
    session = store.corpus.collection("session", create=True)
    space = store.vectors.space("random-384", DIM)
    words = Words(11)
    for first in range(0, sources, 200):
        with store.database.write():
            for number in range(first, min(first + 200, sources)):
                passages = words.passages(CHUNKS_PER_SOURCE)
                _add(store, number, passages, space, session if number < 20 else None)
    return store


def _add(store: SearchStore, number: int, passages: list[str], space: int, session: int | None) -> None:
    uri = f"file:///large/{number}"
    source = Source(source_id(uri), "file", uri, str(number), path=f"/large/{number}", fetched_at="now")
    collections = [store.collection] if session is None else [store.collection, session]
    put_passages(store, source, passages, _cluster(number, len(passages)), space, collections)


def put_passages(
    store: SearchStore,
    source: Source,
    passages: Sequence[str],
    vectors: npt.NDArray[np.float32],
    space: int,
    collections: Iterable[int],
) -> None:
    """Store a document whose chunks are these passages, with their vectors, as the content of `source`."""
    text = "\n".join(passages)
    chunks, start = [], 0
    for ordinal, passage in enumerate(passages):
        length = len(passage) + (ordinal < len(passages) - 1)
        chunks.append(Chunk(ordinal, Span(start, start + length), 250))
        start += length
    stored = store.documents.put_document(Document(text, "text/plain"), chunks, [""] * len(chunks))
    for collection in collections:
        store.corpus.put_source(source, collection, document_id=stored.id)
    store.vectors.put(space, [Pack(stored.id, ids_to_bytes(stored.chunk_ids), vectors_to_bytes(vectors))])


class Words:
    """Draws words as often common and rare as words are."""

    def __init__(self, seed: int) -> None:
        self._words = np.array([f"w{number:x}" for number in range(VOCABULARY)])
        chance = 1.0 / np.arange(10, VOCABULARY + 10)
        self._chance = chance / chance.sum()
        self._draw = np.random.default_rng(seed)

    def passages(self, count: int) -> list[str]:
        """Return so many passages of 200 words."""
        chosen = self._draw.choice(self._words, size=(count, WORDS_PER_CHUNK), p=self._chance)
        return [" ".join(row) for row in chosen]


def _cluster(number: int, count: int) -> npt.NDArray[np.float32]:
    """`count` unit vectors around the centre of cluster `number`."""
    centre = np.random.default_rng(number).normal(size=DIM)
    around = centre + 0.6 * np.random.default_rng(number + 1_000_000).normal(size=(count, DIM))
    return (around / np.linalg.norm(around, axis=1, keepdims=True)).astype(np.float32)


def queries(count: int) -> list[str]:
    """Questions of 8 content words, as often common and rare as words are."""
    draw = np.random.default_rng(5)
    ranks = np.arange(STOP_WORDS, VOCABULARY)
    chance = 1.0 / (ranks + 10)
    chosen = [draw.choice(ranks, 8, replace=False, p=chance / chance.sum()) for _ in range(count)]
    return [" ".join(f"w{rank:x}" for rank in each) for each in chosen]


def session_scope(store: SearchStore) -> Scope:
    """Where the first 20 sources are."""
    return Scope((store.corpus.collection("session"),))


@contextmanager
def statements(store: SearchStore) -> Iterator[list[str]]:
    """The statements that this thread gives to SQLite, without those that FTS5 gives to itself."""
    seen: list[str] = []
    with store.database.read() as connection:
        connection.set_trace_callback(lambda sql: None if sql.startswith("--") else seen.append(sql))
        try:
            yield seen
        finally:
            connection.set_trace_callback(None)
