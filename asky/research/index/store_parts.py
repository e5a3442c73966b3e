"""The parts of a search: the tables, the embedding model and the vector index, each opened on first use."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from asky.config.schema import Retrieval
from asky.errors import AskyError
from asky.events import Listener, StageAdvanced, StageFinished, StageStarted, Warned
from asky.net.reach import is_local_only
from asky.research.embedding.cached_embedder import CachedEmbedder
from asky.research.index.matrix import Matrix, matrix_of
from asky.research.index.titles import TitleTable
from asky.research.index.vector_index import ChromaIndex, IndexUnavailable, open_index
from asky.research.vector_store_common import join_packs
from asky.storage.chunks import ChunkTable
from asky.storage.documents import DocumentStore
from asky.storage.findings import FindingStore
from asky.storage.lexical import LexicalIndex
from asky.storage.scope import Scope
from asky.storage.text_vectors import TextVectorTable
from asky.storage.vector_files import MIN_ROWS
from asky.storage.vectors import VectorTable
from asky.text.counting import counted

if TYPE_CHECKING:
    from asky.research.embedding.embedder import Embedder
    from asky.research.index.background import BackgroundEmbedding
    from asky.research.index.reranking import Reranker
    from asky.storage.database import Database
    from asky.storage.vector_files import VectorFiles

# Comparing a question with a mapped vector takes 0.15 to 0.2 microseconds, reading one from SQLite 2.6.
_SHARED_PART = 0.1
# Summaries, which every question is compared with, and the texts of some papers, which change with the question.
# With several runs at once, those of each; one that is not shared has at most 30 MB.
_KEPT_MATRICES = 4
_MatrixKey: TypeAlias = tuple[int, Scope, int]
"""Identifies vectors: their space, their scope, and the version of the corpus."""

_INDEX_STAGE = "building the vector index"


@dataclass(frozen=True, slots=True)
class Tables:
    """The repositories that search reads and writes."""

    documents: DocumentStore
    chunks: ChunkTable
    lexical: LexicalIndex
    vectors: VectorTable
    findings: FindingStore
    text_vectors: TextVectorTable
    titles: TitleTable

    @classmethod
    def of(cls, database: Database) -> Tables:
        """Return the repositories of one store."""
        return cls(
            DocumentStore(database),
            ChunkTable(database),
            LexicalIndex(database),
            VectorTable(database),
            FindingStore(database),
            TextVectorTable(database),
            TitleTable(database),
        )


class StoreParts:
    """The tables, the model and the index of one store, for one embedding model.

    `embedder` is called on first use and may raise an `AskyError`: search is then lexical only. `background` embeds
    what a search leaves out; without it, that is left to other commands. `reranker` orders the best hits again. Methods
    may be called from several threads, one at a time each.
    """

    def __init__(
        self,
        tables: Tables,
        *,
        embedder: Callable[[], Embedder],
        index_folder: Path,
        vector_files: VectorFiles,
        settings: Retrieval,
        listener: Listener,
        background: BackgroundEmbedding | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.tables = tables
        self.reranker = reranker
        self.background = background
        self.settings = settings
        self.listener = listener
        self._make_embedder = embedder
        self._embedder: Embedder | None = None
        self._cached_embedder: CachedEmbedder | None = None
        self._index_folder = index_folder
        self._vector_files = vector_files
        self._index: ChromaIndex | None = None
        self._matrices: tuple[tuple[_MatrixKey, Matrix], ...] = ()  # the last used first
        self._failed: dict[str, AskyError] = {}  # parts that could not be opened and are not tried again
        self._opening = threading.RLock()  # one thread loads the model and opens the index

    def embedder(self) -> Embedder | None:
        """Return the embedding model; `None` if it is unavailable, after a warning that says why."""
        part = "local embedder" if is_local_only() else "embedder"  # a run without the network fails for itself
        with self._opening:
            if self._embedder is None and part not in self._failed:
                try:
                    made = self._make_embedder()
                    _ = made.fingerprint  # raises if the model is missing
                    self._embedder = made
                except AskyError as error:
                    self._failed[part] = error
            if self._embedder is None:
                failed = self._failed[part]
                self.warn("embedder", f"{failed.message}; searching by keywords only", failed.hint)
            return self._embedder

    def cached_embedder(self, embedder: Embedder) -> CachedEmbedder:
        """Return the embedder of questions and other short texts."""
        with self._opening:
            if self._cached_embedder is None:
                self._cached_embedder = CachedEmbedder(embedder, self.space(embedder), self.tables.text_vectors)
            return self._cached_embedder

    def space(self, embedder: Embedder) -> int:
        """Return the id of the embedder's space."""
        return self.tables.vectors.space(embedder.fingerprint, embedder.dim)

    def index(self, embedder: Embedder) -> ChromaIndex | None:
        """Return the Chroma index, opened on first use; `None` if it is unavailable, after a warning that says why."""
        with self._opening:
            if self._index is None and "index" not in self._failed:
                try:
                    self._index = self.open_index(embedder)
                except IndexUnavailable as error:
                    self._failed["index"] = error
            if (failed := self._failed.get("index")) is not None:
                self.warn("index", f"{failed.message}; searching SQLite directly", failed.hint)
            return self._index

    def open_index(self, embedder: Embedder, *, rebuild: bool = False) -> ChromaIndex:
        """Open the Chroma index, or build it, which shows a stage if it takes long. Raises `IndexUnavailable`."""
        started = time.monotonic()
        stages: list[int] = []

        def advance(done: int, total: int) -> None:
            if not stages:
                self.listener(StageStarted(_INDEX_STAGE, total))
            stages.append(done)
            self.listener(StageAdvanced(_INDEX_STAGE, done, total))

        try:
            return open_index(
                self._index_folder,
                self.tables.vectors,
                fingerprint=embedder.fingerprint,
                space_id=self.space(embedder),
                dim=embedder.dim,
                rebuild=rebuild,
                progress=advance,
            )
        finally:
            if stages:
                passages = counted(stages[-1], "passage")
                self.listener(StageFinished(_INDEX_STAGE, time.monotonic() - started, passages))

    def matrix(self, embedder: Embedder, scope: Scope, embedded: int) -> Matrix:
        """Return the vectors in scope, of which there are `embedded`; those of four scopes are kept until they change.

        Many of them come from files that processes share, unless they are few of the store's.
        """
        space_id = self.space(embedder)
        key = (space_id, scope, self.tables.vectors.version())
        kept = self._matrices
        matrix = dict(kept).get(key)
        if matrix is None:
            matrix = self._read_matrix(embedder, space_id, scope, embedded)
        others = [(other, each) for other, each in kept if other != key and other[2] == key[2]]
        self._matrices = ((key, matrix), *others)[:_KEPT_MATRICES]
        return matrix

    def _read_matrix(self, embedder: Embedder, space_id: int, scope: Scope, embedded: int) -> Matrix:
        if self._is_shared(space_id, scope, embedded):
            documents = None if scope == Scope() else self.tables.chunks.documents_in(scope)
            return matrix_of(self._vector_files.blocks(space_id), embedder.dim, documents)
        ids, vectors = join_packs(self.tables.vectors.packs(space_id, scope), embedder.dim)
        return Matrix(ids, [vectors])

    def _is_shared(self, space_id: int, scope: Scope, embedded: int) -> bool:
        """Return whether the vectors of a scope are taken from files that hold those of the whole store."""
        if embedded < MIN_ROWS or scope == Scope():
            return embedded >= MIN_ROWS
        return embedded >= _SHARED_PART * self.tables.vectors.coverage(space_id, Scope()).embedded

    def warn(self, topic: str, message: str, hint: str | None = None, *, is_repeat: bool = False) -> None:
        """Warn about `topic`; each affected run keeps the first warning of a topic."""
        self.listener(Warned(message, hint, topic, is_repeat))

    def close(self) -> None:
        """Close the index and write pending vectors. The store can be used again."""
        if self._index is not None:
            self._index.close()
            self._index = None
        if self._cached_embedder is not None:
            self._cached_embedder.flush()
