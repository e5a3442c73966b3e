"""What a chunk costs on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from asky.config.schema import Chunking, Retrieval
from asky.research.corpus.ingest import Ingester
from asky.research.embedding import packaged
from asky.research.embedding.embedder import Progress
from asky.research.embedding.tokens import ModelTokenizer
from asky.research.index.embed_chunks import MAX_CONTEXT_TOKENS
from asky.values import Document, Source, source_id
from tests.bench.measure import bytes_below
from tests.bench.prose import real_documents
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore

pytestmark = [pytest.mark.slow, pytest.mark.model]

FEWER, MORE = 2_000, 6_000
DOCUMENTS_AT_ONCE = 64  # as `corpus add` does


class EmbedderOfProse(FakeEmbedder):
    """Random vectors of the default model's length, and its tokens, with room for chunks of any size."""

    def __init__(self, max_tokens: int) -> None:
        super().__init__(dim=384, max_tokens=max_tokens + MAX_CONTEXT_TOKENS, fingerprint="random-384")
        definition = packaged.FOLDER / packaged.TOKENIZER_FILE
        self.tokenizer = ModelTokenizer(definition.read_text("utf-8"), window=self.max_tokens)  # type: ignore[assignment]  # the real one
        self._draw = np.random.default_rng(11)

    def embed(self, texts: Sequence[str], *, progress: Progress | None = None) -> npt.NDArray[np.float32]:
        vectors = self._draw.normal(size=(len(texts), self.dim))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        if progress:
            progress(len(texts), len(texts))
        return vectors.astype(np.float32)


@dataclass(frozen=True, slots=True)
class Size:
    """What a store holds, and the bytes of its files."""

    chunks: int
    words: int
    characters: int
    sqlite_bytes: int
    chroma_bytes: int


@dataclass(frozen=True, slots=True)
class FurtherChunk:
    """What a chunk holds and takes on disk, as a mean of some."""

    words: float
    characters: float
    sqlite_bytes: float
    chroma_bytes: float

    @property
    def all_bytes(self) -> float:
        return self.sqlite_bytes + self.chroma_bytes

    @property
    def bytes_for_200_words(self) -> float:
        return self.all_bytes * 200 / self.words


class GrowingStore:
    """A store with Chroma that takes in real prose, in documents and chunks of a size, by the ways of `corpus add`."""

    def __init__(self, folder: Path, document_characters: int, max_tokens: int) -> None:
        self._folder = folder
        self._documents = enumerate(real_documents(document_characters))
        self._chunking = Chunking(max_tokens, Chunking().overlap_tokens)
        self._chunks = self._words = self._characters = 0

    def grow(self, chunks: int) -> Size:
        """Add documents until there are so many chunks, and close the store."""
        embedder = EmbedderOfProse(self._chunking.max_tokens)
        store = SearchStore(self._folder, settings=Retrieval(engine="chroma"), embedder=embedder)
        ingester = Ingester(store.database, store.corpus, store.search, chunking=self._chunking)
        while self._chunks < chunks:
            with store.database.write():
                for number, text in self._next():
                    self._add(store, ingester, number, text)
            store.search.store_chunk_embeddings(store.scope)
            index = store.search.index(embedder)
            assert index is not None
            index.follow()
            assert len(index) == self._chunks
        store.close()
        chroma = bytes_below(self._folder / "chroma")
        return Size(self._chunks, self._words, self._characters, bytes_below(self._folder) - chroma, chroma)

    def _next(self) -> Iterator[tuple[int, str]]:
        some = list(islice(self._documents, DOCUMENTS_AT_ONCE))
        assert some, "there is not so much prose"
        return iter(some)

    def _add(self, store: SearchStore, ingester: Ingester, number: int, text: str) -> None:
        document = Document(text, "text/plain", f"Document {number}")
        cut = ingester.cut(document)
        uri = f"file:///home/somebody/documents/{number}.txt"
        source = Source(source_id(uri), "file", uri, f"{number}.txt", path=uri[7:], fetched_at=store.database.clock())
        ingester.keep(source, document, cut, store.collection)
        parts = [text[chunk.span.start : chunk.span.end] for chunk in cut[0]]
        self._chunks += len(parts)
        self._words += sum(len(part.split()) for part in parts)
        self._characters += sum(map(len, parts))


def further_chunk(folder: Path, document_characters: int, max_tokens: int) -> FurtherChunk:
    """What one more chunk takes, in a store of documents and chunks of such a size."""
    store = GrowingStore(folder, document_characters, max_tokens)
    few, more = store.grow(FEWER), store.grow(MORE)
    further = [large - small for small, large in zip(astuple(few), astuple(more), strict=True)]
    each = FurtherChunk(*(number / further[0] for number in further[1:]))
    print(f"\n{each.words:.0f} words and {each.characters:.0f} characters a chunk")
    print(f"bytes a chunk: {each.sqlite_bytes:.0f} in SQLite, {each.chroma_bytes:.0f} in Chroma")
    print(f"bytes for 200 words: {each.bytes_for_200_words:.0f}")
    assert each.chroma_bytes > 4 * 384  # its vectors are there
    return each


@pytest.mark.parametrize(
    ("document_characters", "max_tokens"),
    [pytest.param(30_000, 334, id="articles"), pytest.param(6_000, 356, id="notes")],
)
def test_a_further_chunk_of_200_words_takes_at_most_6_kb_with_both_indexes(
    document_characters: int, max_tokens: int, tmp_path: Path
) -> None:
    each = further_chunk(tmp_path, document_characters, max_tokens)
    assert each.words == pytest.approx(200, rel=0.05)
    assert 1150 <= each.characters <= 1400
    assert each.all_bytes <= 6000
    assert each.bytes_for_200_words <= 6000


def test_a_further_chunk_of_the_default_size_takes_at_most_5_kb_with_both_indexes(tmp_path: Path) -> None:
    each = further_chunk(tmp_path, 30_000, Chunking().max_tokens)
    assert each.words < 160
    assert each.all_bytes <= 5000
