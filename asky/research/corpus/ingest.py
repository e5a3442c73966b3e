"""Storing one document: chunked, indexed for full-text search, reusing vectors of unchanged chunks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.research.chunker import ChunkSettings, chunk_document
from asky.research.index.embed_chunks import MAX_CONTEXT_TOKENS, embedding_text
from asky.research.locations import SEPARATOR
from asky.research.vector_store_common import ids_from_bytes, ids_to_bytes, vectors_from_bytes, vectors_to_bytes
from asky.storage.vectors import Pack
from asky.text.terms import words
from asky.values import Chunk, Document, Section, Source

if TYPE_CHECKING:
    from asky.events import FileVerdict
    from asky.research.embedding.embedder import Embedder
    from asky.research.vector_store import VectorStore
    from asky.research.vector_store_common import Vectors
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database
    from asky.storage.documents import StoredDocument

_NAMED_FOLDERS = 2  # above the file; those further up say little about it
_NAME_CHARS = 120
_YEAR_DIGITS = 4
NO_TEXT = "the record has no text"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts that identify a state of a file; `content_sha256` is `None` if its bytes were not hashed.

    `reader` is the version of the reader of its format.
    """

    size: int
    mtime_ns: int
    content_sha256: str | None
    reader: int | None = None

    def metadata(self) -> dict[str, object]:
        """Return what is stored of these facts with the metadata of the source."""
        return {} if self.reader is None else {"reader": self.reader}


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """The outcome of a record: "indexed", "unchanged" or "empty", and how many chunks were added to the store."""

    verdict: FileVerdict
    chunks_added: int


class Ingester:
    """Stores documents."""

    def __init__(self, database: Database, corpus: CorpusStore, store: VectorStore, *, chunking: ChunkSettings) -> None:
        self._database = database
        self._corpus = corpus
        self._store = store
        self._chunking = chunking

    def cut(self, document: Document, name: str = "") -> tuple[list[Chunk], list[str]]:
        """Return the document's chunks and the context of each: its title and the headings above it.

        `name` is the name of its file below the granted folder; its words are part of the context.
        """
        chunks = chunk_document(document, self._store.tokenizer(), self._settings())
        return chunks, contexts_of(document, chunks, name_words(name, document.title))

    def facts_of(self, document_id: int) -> tuple[str | None, dict[str, str]]:
        """Return the title and the metadata of a stored document, for another file with the same bytes."""
        return self._store.tables.documents.facts(document_id)

    def _settings(self) -> ChunkSettings:
        """Return the settings, reduced to fit the window of a model that reads less than a chunk with its context."""
        embedder = self._store.embedder()
        max_tokens = embedder.max_tokens - MAX_CONTEXT_TOKENS if embedder else self._chunking.max_tokens
        if max_tokens >= self._chunking.max_tokens:
            return self._chunking
        return ChunkSettings(max_tokens, min(self._chunking.overlap_tokens, max_tokens // 4))

    def keep(
        self,
        source: Source,
        document: Document,
        cut: tuple[Sequence[Chunk], Sequence[str]],
        collection_id: int,
        file: FileFacts | None = None,
    ) -> StoredDocument:
        """Store a document as the content of `source`. Chunks that its former document had keep their vectors."""
        with self._database.write():
            stored = self._store.tables.documents.put_document(document, *cut)
            before = self._corpus.current_document(source.id)
            if stored.is_new and before is not None and before != stored.id:
                self._carry_vectors(before, stored)
            self._corpus.put_source(
                source,
                collection_id,
                document_id=stored.id,
                size=file.size if file else None,
                mtime_ns=file.mtime_ns if file else None,
                content_sha256=file.content_sha256 if file else None,
                metadata={**document.metadata, **(file.metadata() if file else {})},
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


def name_words(name: str, title: str | None) -> str:
    """Return the words of the name of a file and its folders that the title lacks: of `a/ip-list.md` "a ip list".

    Parts of names such as `retryDelay` and `first_page` are words of their own; numbers that only order files are none.
    """
    parts = [part for part in re.split(r"[/\\]", name) if part]
    if not parts:
        return ""
    stem = re.sub(r"\.[A-Za-z0-9]{1,10}$", "", parts[-1])
    known = set(words(title or ""))
    found: list[str] = []
    for part in [*parts[-1 - _NAMED_FOLDERS : -1], stem]:
        split = re.split(r"[\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", part))
        found += [word for word in split if word and not (word.isdigit() and len(word) < _YEAR_DIGITS)]
    return " ".join(dict.fromkeys(word for word in found if word.casefold() not in known))[:_NAME_CHARS]


def contexts_of(document: Document, chunks: Sequence[Chunk], name: str = "") -> list[str]:
    """Return the context of each chunk: `name`, the title and the headings above its first character, joined, or "".

    `chunks` are in the order of their starts, as sections are: a single pass covers both.
    """
    contexts = []
    sections = iter(document.sections)
    following = next(sections, None)
    open_: list[Section] = []
    for chunk in chunks:
        start = chunk.span.start
        while following is not None and following.start <= start:
            if following.end > start:
                open_.append(following)
            following = next(sections, None)
        open_ = [section for section in open_ if section.end > start]
        path = dict.fromkeys([each for each in (name, document.title) if each])
        path.update(dict.fromkeys(section.heading for section in open_))
        contexts.append(SEPARATOR.join(path))
    return contexts
