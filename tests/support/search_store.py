"""A real store in a folder, with a `VectorStore` over it and the fake embedder."""

from __future__ import annotations

from pathlib import Path

from asky.chat.entries import CHAT_ENTRIES
from asky.config.schema import Retrieval
from asky.events import Event
from asky.research.index.background import BackgroundEmbedding
from asky.research.index.reranking import Reranker
from asky.research.vector_store import Tables, VectorStore
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.findings import FindingStore
from asky.storage.scope import Scope
from asky.storage.vector_files import VectorFiles
from asky.storage.vectors import VectorTable
from asky.values import Chunk, Document, Source, Span, source_id
from tests.support.embedding import FakeEmbedder


class SearchStore:
    """Repositories, search, and short cuts to fill them. `heard` collects the events."""

    def __init__(
        self,
        folder: Path,
        *,
        settings: Retrieval | None = None,
        embedder: FakeEmbedder | Exception | None = None,
        background: BackgroundEmbedding | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.folder = folder
        self.database = Database(folder / "asky.db", ledger_entries=CHAT_ENTRIES)
        self.documents = DocumentStore(self.database)
        self.corpus = CorpusStore(self.database, self.documents)
        self.vectors = VectorTable(self.database)
        self.vector_files = VectorFiles(folder / "vectors", self.database)
        self.findings = FindingStore(self.database)
        self.embedder = embedder or FakeEmbedder()
        self.heard: list[Event] = []
        self.search = VectorStore(
            Tables.of(self.database),
            embedder=self._embedder,
            index_folder=folder / "chroma",
            vector_files=self.vector_files,
            settings=settings or Retrieval(),
            listener=self.heard.append,
            background=background,
            reranker=reranker,
        )
        self.collection = self.corpus.collection("default", create=True)
        self.scope = Scope((self.collection,))

    def _embedder(self) -> FakeEmbedder:
        if isinstance(self.embedder, Exception):
            raise self.embedder
        return self.embedder

    def add(self, name: str, *passages: str, title: str | None = None, collection: int | None = None) -> Source:
        """One source whose document has one chunk a passage."""
        text = "\n\n".join(passages)
        chunks, start = [], 0
        for ordinal, passage in enumerate(passages):
            end = min(start + len(passage) + 2, len(text))
            chunks.append(Chunk(ordinal, Span(start, end), len(passage.split())))
            start = end
        uri = f"file:///{name}"
        source = Source(source_id(uri), "file", uri, title or name, path=f"/{name}", fetched_at="now")
        with self.database.write():
            document = Document(text, "text/plain", title)
            stored = self.documents.put_document(document, chunks, [title or ""] * len(chunks))
            self.corpus.put_source(source, collection or self.collection, document_id=stored.id)
        return source

    def found(self, query: str, *, limit: int = 10, scope: Scope | None = None) -> list[str]:
        """The paths of the hits, best first."""
        hits = self.search.search_content_chunks(query, scope or self.scope, limit=limit)
        return [hit.source.path or "" for hit in hits]

    def close(self) -> None:
        self.search.close()
        self.database.close()
