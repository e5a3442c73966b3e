"""Storing one document: chunked, indexed for full-text search, reusing vectors of unchanged chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.config.schema import Chunking
from asky.errors import StorageError
from asky.reading.formats import reader_version
from asky.research.corpus.report import unread_parts
from asky.research.index.embed_chunks import MAX_CONTEXT_TOKENS, embedding_text
from asky.research.vector_store_common import ids_from_bytes, ids_to_bytes, vectors_from_bytes, vectors_to_bytes
from asky.storage.vectors import Pack
from asky.values import Chunk, Document, Source

if TYPE_CHECKING:
    from asky.events import FileVerdict
    from asky.research.embedding.embedder import Embedder
    from asky.research.vector_store import VectorStore
    from asky.research.vector_store_common import Vectors
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database
    from asky.storage.documents import StoredDocument

NO_TEXT = "the record has no text"
_CUT_VERSION = 2  # raise it when the chunks or contexts of the same document change: stored files are read again then


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts that identify a state of a file; `content_sha256` is `None` if its bytes were not hashed.

    `read_with` is what `read_with` returned for it.
    """

    size: int
    mtime_ns: int
    content_sha256: str | None
    read_with: str


def read_with(media_type: str | None) -> str:
    """Return the version of what makes chunks of a file: of the reader of its media type, and of the cutting."""
    return f"{reader_version(media_type)}.{_CUT_VERSION}"


def read_without_ocr(media_type: str | None) -> str:
    """Return the same for a file whose scanned pages were left out, since what recognises their text is missing."""
    return f"{read_with(media_type)} without ocr"


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """The outcome of a record: "indexed", "unchanged" or "empty", and how many chunks were added to the store."""

    verdict: FileVerdict
    chunks_added: int


class Ingester:
    """Stores documents."""

    def __init__(self, database: Database, corpus: CorpusStore, store: VectorStore, *, chunking: Chunking) -> None:
        self._database = database
        self._corpus = corpus
        self._store = store
        self._chunking = chunking

    def cut(self, document: Document, path: str = "") -> tuple[list[Chunk], list[str]]:
        """Return the document's chunks and the context of each: its title, the headings above it, and words of `path`.

        `path` is a file's, below the folder that was granted.
        """
        from asky.research.corpus.cutting import cut_document  # 7 ms: only for a document that is new or has changed

        return cut_document(document, path, self._store.tokenizer(), self._chunking_for_model())

    def read_before(self, content_sha256: str, suffix: str, media_type: str) -> tuple[int, Document] | None:
        """Return the document that these bytes gave under another name with this suffix, if it would be the same."""
        id_ = self._corpus.same_content(content_sha256, suffix, read_with(media_type))
        try:
            return None if id_ is None else (id_, self._store.tables.documents.document(id_))
        except StorageError:  # dropped in between
            return None

    def _chunking_for_model(self) -> Chunking:
        """Return the settings, reduced to fit the window of a model that reads less than a chunk with its context."""
        embedder = self._store.embedder()
        max_tokens = embedder.max_tokens - MAX_CONTEXT_TOKENS if embedder else self._chunking.max_tokens
        if max_tokens >= self._chunking.max_tokens:
            return self._chunking
        return Chunking(max_tokens, min(self._chunking.overlap_tokens, max_tokens // 4))

    def keep(
        self,
        source: Source,
        document: Document,
        cut: tuple[Sequence[Chunk], Sequence[str]],
        collection_id: int,
        file: FileFacts | None = None,
        *,
        like: int | None = None,
    ) -> StoredDocument:
        """Store a document as the content of `source`.

        Chunks that its former document had, or the document `like`, keep their vectors.
        """
        with self._database.write():
            stored = self._store.tables.documents.put_document(document, *cut)
            before = like or self._corpus.current_document(source.id)
            if stored.is_new and before is not None and before != stored.id:
                self._carry_vectors(before, stored)
            self._corpus.put_source(
                source,
                collection_id,
                document_id=stored.id,
                size=file.size if file else None,
                mtime_ns=file.mtime_ns if file else None,
                content_sha256=file.content_sha256 if file else None,
                read_with=file.read_with if file else None,
                why=unread_parts(document.metadata) if file else None,
                metadata=dict(document.metadata),
            )
        return stored

    def keep_record(
        self, source: Source, document: Document, cut: tuple[Sequence[Chunk], Sequence[str]], collection_id: int
    ) -> KeptRecord:
        """Store a record as `keep` does, and return the outcome. One without text is stored without a document."""
        if not document.text.strip():
            self._corpus.put_source(
                source,
                collection_id,
                document_id=None,
                verdict="empty",
                why=NO_TEXT,
                metadata=dict(document.metadata),
            )
            return KeptRecord("empty", 0)
        before = self._corpus.current_document(source.id)
        stored = self.keep(source, document, cut, collection_id)
        return KeptRecord(
            "unchanged" if before == stored.id else "indexed", len(stored.chunk_ids) if stored.is_new else 0
        )

    def _carry_vectors(self, before: int, stored: StoredDocument) -> None:
        embedder = self._store.embedder()
        if embedder is None:
            return
        space_id = self._store.space(embedder)
        known = self._vectors_by_text(space_id, before, embedder)
        if not known:
            return
        kept = [
            (id_, known[text])
            for id_, context, part in self._store.tables.documents.chunk_inputs(stored.chunk_ids)
            if (text := embedding_text(context, part, embedder.tokenizer)) in known
        ]
        if kept:
            import numpy as np  # 0.2 s: only where vectors are touched

            ids, vectors = zip(*kept, strict=True)
            pack = Pack(stored.id, ids_to_bytes(ids), vectors_to_bytes(np.stack(vectors)))
            self._store.tables.vectors.put(space_id, [pack])

    def _vectors_by_text(self, space_id: int, document_id: int, embedder: Embedder) -> dict[str, Vectors]:
        documents = self._store.tables.documents
        vectors: dict[int, Vectors] = {}
        for pack in self._store.tables.vectors.packs_of(space_id, [document_id]):
            vectors |= zip(
                ids_from_bytes(pack.chunk_ids).tolist(), vectors_from_bytes(pack.vectors, embedder.dim), strict=True
            )
        return {
            embedding_text(context, text, embedder.tokenizer): vectors[id_]
            for id_, context, text in documents.chunk_inputs(documents.chunk_ids(document_id))
            if id_ in vectors
        }
