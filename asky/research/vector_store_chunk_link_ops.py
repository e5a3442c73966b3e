"""The store's work on chunks: embedding what is missing, and hybrid search."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from asky.research.lexical_query import pair_expression, word_expression
from asky.research.locations import location_of
from asky.research.ranking import diversify, fuse
from asky.research.vector_index import IndexUnavailable
from asky.research.vector_store_common import (
    best,
    check_vectors,
    ids_from_bytes,
    ids_to_bytes,
    join_packs,
    vectors_to_bytes,
)
from asky.storage.scope import Scope
from asky.storage.vectors import Pack
from asky.text.terms import content_terms
from asky.values import Hit

if TYPE_CHECKING:
    from asky.research.chunker import Tokenizer
    from asky.research.embeddings import Embedder, Progress
    from asky.research.vector_store import VectorStore
    from asky.research.vector_store_common import Ids, Scores, Vectors
    from asky.storage.chunks import StoredChunk
    from asky.storage.vectors import Coverage
    from asky.values import Link

_EMBED_BATCH = 512  # chunks a commit: about 15 s of work on two cores, which is what a kill can cost
_SMALLEST_SHARE = 0.2  # of the store that a scope must be for Chroma to be asked without a filter
_EMBEDDED_LINKS = 100  # those with most words of the query: a page of 1,000 links would take 10 s to embed
_LINK_CHARACTERS = 200
MAX_CONTEXT_TOKENS = 32  # of a title and headings in front of a chunk; the rest of the window is the chunk's


def embedding_text(context: str, text: str, tokenizer: Tokenizer) -> str:
    """What is embedded for a chunk: its title and headings, cut at 32 tokens, then its text.

    Source: with the title nDCG@10 .791, without it .787 (four sets that have titles, both legs).
    """
    if not context or text.startswith(context):
        return text
    tokens = tokenizer.offsets(context)
    if len(tokens) > MAX_CONTEXT_TOKENS:
        context = context[: tokens[MAX_CONTEXT_TOKENS - 1][1]]
    return f"{context}\n{text}"


# embedding


def store_chunk_embeddings(store: VectorStore, scope: Scope, progress: Progress | None) -> int:
    """See `VectorStore.store_chunk_embeddings`."""
    embedder = store.embedder()
    if embedder is None:
        return 0
    space_id = store.space(embedder)
    coverage = store.tables.vectors.coverage(space_id, scope)
    total, done = coverage.chunks - coverage.embedded, 0
    missing = _missing_chunks(store, space_id, scope)
    report = progress or _unheard
    report(0, total)
    while batch := list(islice(missing, _EMBED_BATCH)):
        embed_chunks(store, embedder, batch, progress=_from(done, total, report))
        done += len(batch)
    return done


def _from(before: int, total: int, report: Progress) -> Progress:
    """Progress within a batch, told as progress of the whole."""
    return lambda done, _: report(before + done, total)


def _unheard(done: int, total: int) -> None:
    """A progress that nobody follows."""


def embed_chunks(
    store: VectorStore, embedder: Embedder, chunk_ids: Sequence[int], *, progress: Progress | None = None
) -> None:
    """Embed these chunks and keep their vectors, in one transaction; chunks that are gone are passed over."""
    inputs = list(store.tables.documents.chunk_inputs(chunk_ids))
    texts = [embedding_text(context, text, embedder.tokenizer) for _, context, text in inputs]
    vectors = embedder.embed(texts, progress=progress)
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
        have = _embedded_of(store, space_id, [document_id])
        yield from (each for each in store.tables.documents.chunk_ids(document_id) if each not in have)


def _embedded_of(store: VectorStore, space_id: int, document_ids: Sequence[int]) -> set[int]:
    packs = store.tables.vectors.ids_of(space_id, document_ids)
    return {each for ids in packs for each in ids_from_bytes(ids).tolist()}


def clear_cache_embeddings(store: VectorStore, scope: Scope) -> int:
    """See `VectorStore.clear_cache_embeddings`."""
    embedder = store.embedder()
    return store.tables.vectors.remove(store.space(embedder), scope) if embedder else 0


# search


def search_content_chunks(store: VectorStore, query: str, scope: Scope, limit: int) -> list[Hit]:
    """See `VectorStore.search_content_chunks`."""
    lexical, count = store.tables.lexical, max(store.settings.candidates, limit)
    if store.tables.chunks.is_everything(scope):
        scope = Scope()
    expression = word_expression(query)
    words = lexical.search(expression, scope, limit=count)
    leg = _dense_leg(store, query, scope, list(words), count)
    ids = np.array(sorted({*words, *leg.ids}), dtype=np.int64)
    if not len(ids):
        return []
    words |= lexical.scores(expression, [each for each in leg.ids if each not in words])
    pairs = lexical.scores(pair_expression(query), ids.tolist())
    vectors = leg.rows(ids)
    scored = _Scored(ids, leg.cosines(len(ids), vectors), _filled(ids, words), _filled(ids, pairs))
    scores = fuse(scored.cosines, scored.words, scored.pairs, dense_weight=store.settings.dense_weight)
    owners = store.tables.chunks.documents_of(ids.tolist())
    documents = np.array([owners.get(each, -1) for each in ids.tolist()], dtype=np.int64)
    order = diversify(scores, documents, vectors)[:limit]
    return _hits(store, scope, scored, order, scores)


@dataclass(frozen=True, slots=True)
class _Scored:
    """Candidates and the scores of both legs: ids int64[n]; cosines (NaN without a vector), words, pairs float32[n]."""

    ids: Ids
    cosines: Scores
    words: Scores
    pairs: Scores


def _filled(ids: Ids, scores: Mapping[int, float]) -> Scores:
    return np.array([scores.get(each, 0.0) for each in ids.tolist()], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class _DenseLeg:
    """What the dense leg proposes, and how it finds the vectors of any chunk; both empty where it did not run."""

    ids: tuple[int, ...] = ()
    query: Vectors | None = None
    find: Callable[[Ids], tuple[Ids, Vectors]] | None = None

    def rows(self, ids: Ids) -> Vectors | None:
        """float32[n, dim]: the vectors of `ids`, zeros for a chunk without one; `None` if the leg did not run."""
        if self.query is None or self.find is None:
            return None
        rows = np.zeros((len(ids), len(self.query)), dtype=np.float32)
        found, vectors = self.find(ids)
        rows[np.searchsorted(ids, found)] = vectors
        return rows

    def cosines(self, count: int, rows: Vectors | None) -> Scores:
        """float32[count] for the `rows` of so many chunks, NaN for a chunk without a vector."""
        if rows is None or self.query is None:
            return np.full(count, np.nan, dtype=np.float32)
        return np.where(rows.any(axis=1), rows @ self.query, np.float32("nan")).astype(np.float32)


def _dense_leg(store: VectorStore, query: str, scope: Scope, lexical_ids: Sequence[int], count: int) -> _DenseLeg:
    """The best `count` chunks in scope by cosine."""
    embedder = store.embedder()
    if embedder is None:
        return _DenseLeg()
    space_id = store.space(embedder)
    coverage = store.tables.vectors.coverage(space_id, scope)
    if not coverage.chunks:
        return _DenseLeg()
    if coverage.embedded < coverage.chunks:
        _say_how_much_is_embedded(store, space_id, coverage)
        if not store.tables.vectors.read_only:
            _embed_best(store, embedder, lexical_ids)
    vector = store.remembered(embedder).embed_query(query)
    if uses_index(store, coverage) and (near := _ask_index(store, embedder, vector, scope, count)) is not None:
        return _DenseLeg(tuple(near), vector, lambda ids: _rows_in_packs(store, embedder, ids))
    ids, vectors = store.matrix(embedder, scope)
    near = ids[best(vectors @ vector, count)].tolist()
    return _DenseLeg(tuple(near), vector, lambda wanted: _rows_in_matrix(ids, vectors, wanted))


def _rows_in_matrix(ids: Ids, vectors: Vectors, wanted: Ids) -> tuple[Ids, Vectors]:
    rows = np.flatnonzero(np.isin(ids, wanted))
    return ids[rows], vectors[rows]


def _rows_in_packs(store: VectorStore, embedder: Embedder, wanted: Ids) -> tuple[Ids, Vectors]:
    documents = set(store.tables.chunks.documents_of(wanted.tolist()).values())
    packs = store.tables.vectors.packs_of(store.space(embedder), sorted(documents))
    return _rows_in_matrix(*join_packs(packs, embedder.dim), wanted)


def _say_how_much_is_embedded(store: VectorStore, space_id: int, coverage: Coverage) -> None:
    missing = coverage.chunks - coverage.embedded
    if not coverage.embedded and store.tables.vectors.other_spaces(space_id):
        message = f"the embedding model has changed: {coverage.chunks:,} passages are not embedded with the new one"
    elif missing > store.settings.embed_at_once:
        message = f"{missing:,} of {coverage.chunks:,} passages are not embedded yet; ranking those by words first"
    else:
        return
    store.say_once("coverage", message, "`asky corpus sync --all` embeds them")


def _embed_best(store: VectorStore, embedder: Embedder, lexical_ids: Sequence[int]) -> None:
    """Give the best lexical candidates their vectors now, so that a question need not wait for the whole corpus."""
    space_id = store.space(embedder)
    wanted = list(lexical_ids[: store.settings.embed_at_once])
    documents = set(store.tables.chunks.documents_of(wanted).values())
    have = _embedded_of(store, space_id, sorted(documents))
    if missing := [each for each in wanted if each not in have]:
        embed_chunks(store, embedder, missing)


def uses_index(store: VectorStore, coverage: Coverage) -> bool:
    """Whether a scope with this many vectors is searched with Chroma."""
    engine = store.settings.engine
    return engine == "chroma" or (engine == "auto" and coverage.embedded > store.settings.exact_max_chunks)


def _ask_index(store: VectorStore, embedder: Embedder, vector: Vectors, scope: Scope, count: int) -> list[int] | None:
    """The nearest chunks in scope by Chroma, or `None` if it cannot tell: the exact scan then answers.

    Chroma is asked without a filter, which would cost it 30 to 250 ms, and what lies out of scope is dropped. A scope
    that is a small part of the store is better scanned.
    """
    index = store.index(embedder)
    if index is None:
        return None
    try:
        index.follow()
        share = store.tables.chunks.count(scope) / max(len(index), 1)
        if share < _SMALLEST_SHARE:
            return None
        near = index.query(vector, int(count / min(share, 1.0)))
    except IndexUnavailable as error:
        store.say_once("index", f"{error.message}; searching SQLite directly", error.hint)
        return None
    documents = store.tables.chunks.documents_of([each for each, _ in near])
    inside = store.tables.chunks.sources_of(sorted(set(documents.values())), scope)
    return [each for each, _ in near if documents.get(each) in inside][:count]


def _hits(store: VectorStore, scope: Scope, scored: _Scored, order: Ids, scores: Scores) -> list[Hit]:
    """The chosen chunks with their texts, sources and places; chunks deleted meanwhile are left out."""
    chunks = store.tables.chunks.fetch(scored.ids[order].tolist())
    documents = sorted({each.document_id for each in chunks.values()})
    sources = store.tables.chunks.sources_of(documents, scope)
    structures = {each: store.tables.documents.structure(each) for each in documents}
    hits: list[Hit] = []
    for position in order.tolist():
        chunk = chunks.get(int(scored.ids[position]))
        if chunk is None or chunk.document_id not in sources:
            continue
        cosine = float(scored.cosines[position])
        hits.append(
            Hit(
                rank=len(hits) + 1,
                score=float(scores[position]),
                semantic=None if np.isnan(cosine) else cosine,
                lexical=float(scored.words[position]),
                source=sources[chunk.document_id],
                document_id=chunk.document_id,
                chunk_id=chunk.id,
                span=chunk.span,
                text=chunk.text,
                location=location_of(*structures[chunk.document_id], _first_character(chunk)),
            )
        )
    return hits


def _first_character(chunk: StoredChunk) -> int:
    """Where the chunk's text begins behind the white space it may start with."""
    return chunk.span.start + len(chunk.text) - len(chunk.text.lstrip())


# links


def search_relevant_links(
    store: VectorStore, query: str, links: Sequence[Link], limit: int
) -> list[tuple[Link, float]]:
    """See `VectorStore.search_relevant_links`. Ties are broken in favour of the earlier link."""
    wanted = set(content_terms(query))
    texts = [_link_text(each) for each in links]
    by_words = [len(wanted & set(content_terms(text))) / max(len(wanted), 1) for text in texts]
    order = sorted(range(len(links)), key=lambda at: -by_words[at])[:_EMBEDDED_LINKS]
    embedder = store.embedder()
    if embedder is None or not order:
        return [(links[at], by_words[at]) for at in order[:limit]]
    remembered = store.remembered(embedder)
    near = remembered.embed([texts[at] for at in order]) @ remembered.embed_query(query)
    scores = {at: float(np.clip(score, 0.0, 1.0)) for at, score in zip(order, near, strict=True)}
    ranked = sorted(order, key=lambda at: (-scores[at], at))
    return [(links[at], scores[at]) for at in ranked[:limit]]


def _link_text(link: Link) -> str:
    """What is known of where a link leads: its words, and those of its address."""
    path = urlsplit(link.url).path
    return f"{link.text} {' '.join(re.findall('[A-Za-z]{3,}', path))}".strip()[:_LINK_CHARACTERS] or link.url
