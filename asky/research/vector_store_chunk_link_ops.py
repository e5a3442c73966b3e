"""The store's work on chunks: embedding what is missing, and hybrid search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from asky.research.ranking import diversify, fuse
from asky.research.vector_store_common import best, check_vectors, ids_from_bytes, ids_to_bytes, vectors_to_bytes
from asky.storage.scope import Scope
from asky.storage.vectors import Pack
from asky.text.terms import STOP_WORDS, words
from asky.values import Hit, Location, Page, Section

if TYPE_CHECKING:
    from asky.research.embeddings import Embedder
    from asky.research.vector_store import VectorStore
    from asky.research.vector_store_common import Ids, Scores, Vectors
    from asky.storage.chunks import StoredChunk

_EMBED_BATCH = 512  # chunks a commit: about 15 s of work on two cores, which is what a kill can cost
_MAX_QUERY_WORDS = 32  # a longer question is cut here for the lexical leg: its cost is the sum of the posting lists


def embedding_text(context: str, text: str) -> str:
    """What is embedded for a chunk: its title and section, then its text."""
    return f"{context}\n{text}" if context else text


# embedding


def store_chunk_embeddings(store: VectorStore, scope: Scope, progress: Callable[[int, int], None] | None) -> int:
    """See `VectorStore.store_chunk_embeddings`."""
    embedder = store.embedder()
    if embedder is None:
        return 0
    space_id = store.space(embedder)
    coverage = store.tables.vectors.coverage(space_id, scope)
    total, done = coverage.chunks - coverage.embedded, 0
    missing = _missing_chunks(store, space_id, scope)
    while batch := list(islice(missing, _EMBED_BATCH)):
        embed_chunks(store, embedder, batch)
        done += len(batch)
        if progress:
            progress(done, total)
    return done


def embed_chunks(store: VectorStore, embedder: Embedder, chunk_ids: Sequence[int]) -> None:
    """Embed these chunks and keep their vectors, in one transaction; chunks that are gone are passed over."""
    inputs = list(store.tables.documents.chunk_inputs(chunk_ids))
    vectors = embedder.embed([embedding_text(context, text) for _, context, text in inputs])
    check_vectors(vectors, count=len(inputs), dim=embedder.dim)
    documents = store.tables.chunks.documents_of([id_ for id_, _, _ in inputs])
    rows: dict[int, list[int]] = defaultdict(list)
    for row, (id_, _, _) in enumerate(inputs):
        if id_ in documents:
            rows[documents[id_]].append(row)
    packs = [
        Pack(document, ids_to_bytes([inputs[row][0] for row in each]), vectors_to_bytes(vectors[each]))
        for document, each in rows.items()
    ]
    store.tables.vectors.put(store.space(embedder), packs)


def _missing_chunks(store: VectorStore, space_id: int, scope: Scope) -> Iterator[int]:
    for document_id in store.tables.vectors.incomplete_documents(space_id, scope):
        have = _embedded_of(store, space_id, document_id)
        yield from (each for each in store.tables.documents.chunk_ids(document_id) if each not in have)


def _embedded_of(store: VectorStore, space_id: int, document_id: int) -> set[int]:
    packs = store.tables.vectors.packs_of(space_id, document_id)
    return {each for pack in packs for each in ids_from_bytes(pack.chunk_ids).tolist()}


def clear_cache_embeddings(store: VectorStore, scope: Scope) -> int:
    """See `VectorStore.clear_cache_embeddings`."""
    embedder = store.embedder()
    return store.tables.vectors.remove(store.space(embedder), scope) if embedder else 0


# search


def search_content_chunks(store: VectorStore, query: str, scope: Scope, limit: int) -> list[Hit]:
    """See `VectorStore.search_content_chunks`."""
    candidates = max(store.settings.candidates, limit)
    lexical = {
        hit.chunk_id: hit.score
        for hit in store.tables.lexical.search(
            query_words(query), scope, limit=candidates, context_weight=store.settings.context_weight
        )
    }
    dense = _dense_leg(store, query, scope, list(lexical), candidates)
    ids = np.array(sorted(lexical.keys() | dense.keys()), dtype=np.int64)
    if not len(ids):
        return []
    cosines = np.array([dense.get(each, np.nan) for each in ids.tolist()], dtype=np.float32)
    bm25 = np.array([lexical.get(each, 0.0) for each in ids.tolist()], dtype=np.float32)
    weight = store.settings.dense_weight if dense else 0.0
    scores = fuse(cosines, bm25, dense_weight=weight)
    documents = store.tables.chunks.documents_of(ids.tolist())
    order = diversify(scores, np.array([documents.get(each, -1) for each in ids.tolist()]), limit)
    return _hits(store, scope, ids, order, scores, cosines, bm25)


def query_words(query: str) -> list[str]:
    """The words that the lexical leg looks for, each once, in order: no stop words, unless there is nothing else."""
    found = list(dict.fromkeys(words(query)))
    content = [word for word in found if word not in STOP_WORDS]
    return (content or found)[:_MAX_QUERY_WORDS]


def _dense_leg(
    store: VectorStore, query: str, scope: Scope, lexical_ids: Sequence[int], candidates: int
) -> dict[int, float]:
    """Chunk id to cosine: the best `candidates` in scope, and every lexical candidate that has a vector."""
    embedder = store.embedder()
    if embedder is None:
        return {}
    space_id = store.space(embedder)
    coverage = store.tables.vectors.coverage(space_id, scope)
    if coverage.embedded < coverage.chunks:
        _embed_best(store, embedder, lexical_ids)
    if not coverage.chunks:
        return {}
    vector = embedder.embed_query(query)
    check_vectors(vector[np.newaxis], count=1, dim=embedder.dim)
    if _use_index(store, coverage.embedded) and (found := _ask_index(store, embedder, vector, scope, candidates)):
        return found | _cosines_of(store, embedder, vector, [each for each in lexical_ids if each not in found])
    ids, vectors = store.matrix(embedder, scope)
    cosines = vectors @ vector
    wanted = np.union1d(best(cosines, candidates), np.flatnonzero(np.isin(ids, lexical_ids)))
    return {int(ids[each]): float(cosines[each]) for each in wanted.tolist()}


def _embed_best(store: VectorStore, embedder: Embedder, lexical_ids: Sequence[int]) -> None:
    """Give the best lexical candidates their vectors now, so that a question need not wait for the whole corpus."""
    space_id = store.space(embedder)
    wanted = list(lexical_ids[: store.settings.embed_at_once])
    documents = set(store.tables.chunks.documents_of(wanted).values())
    have = {each for document in documents for each in _embedded_of(store, space_id, document)}
    if missing := [each for each in wanted if each not in have]:
        embed_chunks(store, embedder, missing)


def _use_index(store: VectorStore, embedded: int) -> bool:
    engine = store.settings.engine
    return engine == "chroma" or (engine == "auto" and embedded > store.settings.exact_max_chunks)


def _ask_index(
    store: VectorStore, embedder: Embedder, vector: Vectors, scope: Scope, candidates: int
) -> dict[int, float]:
    """The nearest chunks in scope by Chroma, or nothing if it cannot tell: the exact scan then answers.

    Chroma is asked without a filter, which costs it 30 to 250 ms, and what lies out of scope is dropped. A scope that
    is a small part of the store is better scanned.
    """
    index = store.index(embedder)
    if index is None:
        return {}
    index.follow()
    share = store.tables.chunks.count(scope) / max(len(index), 1)
    if share < 0.2:
        return {}
    found = index.query(vector, int(candidates / min(share, 1.0)))
    documents = store.tables.chunks.documents_of([each for each, _ in found])
    inside = store.tables.chunks.sources_of(sorted(set(documents.values())), scope)
    return {each: cosine for each, cosine in found if documents.get(each) in inside}


def _cosines_of(store: VectorStore, embedder: Embedder, vector: Vectors, chunk_ids: Sequence[int]) -> dict[int, float]:
    """Chunk id to cosine, for the chunks that have a vector."""
    wanted, space_id = set(chunk_ids), store.space(embedder)
    found: dict[int, float] = {}
    for document in set(store.tables.chunks.documents_of(chunk_ids).values()):
        for pack in store.tables.vectors.packs_of(space_id, document):
            ids = ids_from_bytes(pack.chunk_ids)
            cosines = np.frombuffer(pack.vectors, dtype="<f4").reshape(len(ids), -1) @ vector
            found |= {id_: float(cosine) for id_, cosine in zip(ids.tolist(), cosines, strict=True) if id_ in wanted}
    return found


def _hits(
    store: VectorStore, scope: Scope, ids: Ids, order: Ids, scores: Scores, cosines: Scores, bm25: Scores
) -> list[Hit]:
    """The chosen chunks with their texts, sources and places; chunks deleted meanwhile are left out."""
    chunks = store.tables.chunks.fetch(ids[order].tolist())
    documents = sorted({each.document_id for each in chunks.values()})
    sources = store.tables.chunks.sources_of(documents, scope)
    structures = {each: store.tables.documents.structure(each) for each in documents}
    hits: list[Hit] = []
    for position in order.tolist():
        chunk = chunks.get(int(ids[position]))
        if chunk is None or chunk.document_id not in sources:
            continue
        semantic = None if np.isnan(cosines[position]) else float(cosines[position])
        hits.append(
            Hit(
                rank=len(hits) + 1,
                score=float(scores[position]),
                semantic=semantic,
                lexical=float(bm25[position]),
                source=sources[chunk.document_id],
                document_id=chunk.document_id,
                chunk_id=chunk.id,
                span=chunk.span,
                text=chunk.text,
                location=location_of(*structures[chunk.document_id], chunk),
            )
        )
    return hits


def location_of(sections: Sequence[Section], pages: Sequence[Page], chunk: StoredChunk) -> Location:
    """The section path and page at which a chunk's own text begins."""
    start = chunk.span.start + len(chunk.text) - len(chunk.text.lstrip())
    path = [each.heading for each in sections if each.start <= start < each.end]
    page = next((each for each in pages if each.start <= start < each.end), None)
    return Location(
        section=" › ".join(path) or None,
        page=page.index if page else None,
        page_label=page.label if page else None,
    )
