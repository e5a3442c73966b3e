"""Retrieval sets as stores of the product: read, cut, indexed and embedded by the parts that `asky corpus add` uses.

Stores lie in the folder that `ASKY_QUALITY_CACHE` names and are used again by later runs, or in a folder that lasts for
one run. A store is made anew when its set, or how texts are cut and embedded, has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from asky.config.loader import load_config
from asky.evaluation.questions import CorpusText
from asky.research.chunker import ChunkSettings, chunk_document
from asky.research.corpus.cutting import contexts_of
from asky.research.index.embed_chunks import embedding_text
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope
from asky.values import Document, Hit
from asky.wiring import Services
from tests.quality.datasets import RetrievalSet, load_set, subset

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from asky.config.loader import Config
    from asky.research.chunker import Tokenizer
    from asky.research.embedding.embedder import Embedder, Progress

    Vectors = npt.NDArray[np.float32]

CACHE_VARIABLE = "ASKY_QUALITY_CACHE"
_DOCUMENTS = {"scifact": 2000, "squad2_articles": 95}
"""Sets that would take too long to embed whole: every document that a question needs, and others up to so many."""

_SAMPLE = 20  # documents whose chunks show whether a kept store is still what would be made now


@dataclass(frozen=True, slots=True)
class Corpus:
    """A set and a store that holds its documents, all embedded."""

    data: RetrievalSet
    services: Services
    collection: int

    @property
    def scope(self) -> Scope:
        return Scope((self.collection,))

    def search(self, query: str, *, limit: int) -> list[Hit]:
        return self.services.vectors.search_content_chunks(query, self.scope, limit=limit)

    @property
    def chunks(self) -> int:
        return self.services.vectors.tables.chunks.count(Scope())


class Corpora:
    """Opens each set's store once. `folder` holds the stores."""

    def __init__(self, data: Path, folder: Path) -> None:
        self.folder = folder
        self._data = data
        self._open: dict[str, Corpus] = {}
        self._empty: RememberingServices | None = None

    def open(self, name: str) -> Corpus:
        """The store of the set in the data folder's folder `name`, filled if it is not yet."""
        if name not in self._open:
            whole = load_set(self._data / name)
            data = subset(whole, _DOCUMENTS[name]) if name in _DOCUMENTS else whole
            empty = self._without_documents()
            where = f"{name}-{_version(data, empty)}"
            self._open[name] = _filled(data, services_in(self.folder, where, embedder=empty.embedder))
        return self._open[name]

    def close(self) -> None:
        for corpus in self._open.values():
            corpus.services.close()
        if self._empty is not None:
            self._empty.close()

    def _without_documents(self) -> RememberingServices:
        """Parts whose embedder all stores share: an open model takes some hundred megabytes."""
        if self._empty is None:
            self._empty = services_in(self.folder, "empty")
        return self._empty


def environ_in(folder: Path, name: str) -> dict[str, str]:
    """The variables that keep a store of its own below `folder`."""
    environ = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    return environ | {f"XDG_{each}_HOME": str(folder / "stores" / name) for each in ("CONFIG", "DATA", "STATE")}


def services_in(folder: Path, name: str, *, embedder: RememberingEmbedder | None = None) -> RememberingServices:
    """The product's parts over the store of that name, with `embedder` or one of their own."""
    environ = environ_in(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    flags = {
        "research.embedding.local_files_only": True,
        "research.retrieval.embed_in_background": False,  # what a first question finds is measured
    }
    return RememberingServices(load_config(environ=environ, cwd=folder, flags=flags), environ, embedder)


class RememberingServices(Services):
    """The product's parts with an embedder that embeds no text twice, for measuring a store whose vectors are gone."""

    def __init__(self, config: Config, environ: Mapping[str, str], embedder: RememberingEmbedder | None) -> None:
        super().__init__(config, environ)
        self._shared = embedder

    @cached_property
    def embedder(self) -> RememberingEmbedder:  # type: ignore[override]  # an Embedder, which is what its users ask for
        return self._shared or RememberingEmbedder(super().embedder)


class RememberingEmbedder:
    """An embedder in front of another one: what it has embedded once it knows."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, Vectors] = {}

    @property
    def dim(self) -> int:
        return self._inner.dim

    @property
    def max_tokens(self) -> int:
        return self._inner.max_tokens

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    @property
    def tokenizer(self) -> Tokenizer:
        return self._inner.tokenizer

    def embed(self, texts: Sequence[str], *, progress: Progress | None = None) -> Vectors:
        import numpy as np  # as everywhere: only where vectors are touched

        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= zip(new, self._inner.embed(new, progress=progress), strict=True)
        return np.stack([self._known[text] for text in texts]) if texts else self._inner.embed([])

    def embed_query(self, text: str) -> Vectors:
        return self._inner.embed_query(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed_queries(texts)


def cache_folder(otherwise: Path) -> Path:
    """Where stores are kept: the folder of the environment variable, or `otherwise`."""
    return Path(os.environ[CACHE_VARIABLE]).resolve() if os.environ.get(CACHE_VARIABLE) else otherwise


def add_documents(services: Services, documents: Iterable[CorpusText]) -> int:
    """Put documents into the default collection, indexed for words only; returns the collection."""
    collection = services.corpus.collection(DEFAULT_COLLECTION, create=True)
    anyio.run(services.acquirer.add_records, collection, DEFAULT_COLLECTION, _lines(documents), "set")
    return collection


def _filled(data: RetrievalSet, services: Services) -> Corpus:
    if len(services.corpus.sources(Scope())) < len(data.documents):
        add_documents(services, data.documents)
    corpus = Corpus(data, services, services.corpus.collection(DEFAULT_COLLECTION))
    anyio.run(services.acquirer.embed, corpus.scope)
    return corpus


def _lines(documents: Iterable[CorpusText]) -> Iterator[bytes]:
    for each in documents:
        record: Mapping[str, str] = {"id": each.id, "title": each.title, "text": each.text}
        yield json.dumps(record).encode()


def _version(data: RetrievalSet, services: Services) -> str:
    """Changes with the set, and with what is embedded for its first documents."""
    tokenizer = services.vectors.tokenizer()
    chosen = services.config.research.chunking
    size = ChunkSettings(chosen.max_tokens, chosen.overlap_tokens)
    parts = [data.sha256, *(each.id for each in data.documents)]
    for each in data.documents[:_SAMPLE]:
        document = Document(each.text, "text/plain", each.title or None)
        chunks = chunk_document(document, tokenizer, size)
        for chunk, context in zip(chunks, contexts_of(document, chunks), strict=True):
            text = each.text[chunk.span.start : chunk.span.end]
            parts.append(embedding_text(context, text, tokenizer))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
