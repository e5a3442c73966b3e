"""Search over chunks, lexical and dense, and over the links of a page."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from asky.errors import AskyError
from asky.research.excerpts.locations import columns_at, location_of
from asky.research.index.dense_leg import DenseLeg, nearest
from asky.research.index.embed_chunks import always, embed_for_queries
from asky.research.index.following import Raised, follow
from asky.research.index.lexical_query import is_text, pair_expression, word_expression
from asky.research.index.reranking import RERANKED
from asky.research.ranking import DIVERSE, Selection, fuse, raise_near_the_best, select
from asky.research.vector_store_common import best
from asky.storage.scope import Scope
from asky.storage.vectors import Coverage
from asky.text.terms import content_terms
from asky.values import PRIVATE_KINDS, Hit, Location

if TYPE_CHECKING:
    from asky.research.index.reranking import Reranker
    from asky.research.index.store_parts import StoreParts
    from asky.research.vector_store_common import Ids, Scores, Vectors
    from asky.storage.chunks import StoredChunk
    from asky.values import Link, Page, Section, Source

_EMBEDDED_LINKS = 100  # those that share most words with the query: embedding 1,000 links would take 10 s
_LINK_CHARACTERS = 200
_MAX_OTHERS = 10  # documents that titles and links lead to, of which no chunk is a candidate otherwise
_CHUNKS_OF_OTHERS = 20  # of each: 4,000 tokens
_OTHERS_FACTOR = 0.1  # of fused scores, so that those of chunks that a cross-encoder has read, from 1 to 2, are higher


# search


def search_content_chunks(
    store: StoreParts,
    queries: Sequence[str],
    scope: Scope,
    limit: int,
    first: Sequence[str],
    selection: Selection = DIVERSE,
    may_embed: Callable[[], bool] = always,
) -> list[list[Hit]]:
    """See `VectorStore.search_several`."""
    count = max(store.settings.candidates, limit)
    if store.tables.chunks.is_everything(scope):
        scope = Scope()
    embedder = store.embedder() if selection.mode != "keyword" else None
    by_words = selection.mode != "semantic" or embedder is None
    lexical = store.tables.lexical
    found = {query: lexical.search(word_expression(query), scope, limit=count) if by_words else {} for query in queries}
    coverage = embed_for_queries(store, embedder, scope, found, first, may_embed) if embedder else Coverage(0, 0)
    results: list[list[Hit]] = []
    for query in queries:
        leg = nearest(store, embedder, query, scope, coverage, count) if embedder and coverage.chunks else DenseLeg()
        results.append(_ranked(store, query, scope, found[query] if by_words else None, leg, limit, selection))
    return results


def _ranked(
    store: StoreParts,
    query: str,
    scope: Scope,
    found: dict[int, float] | None,
    leg: DenseLeg,
    limit: int,
    selection: Selection,
) -> list[Hit]:
    """Rank the candidates of both legs by both scores; `found` has the lexical hits, `None` if words do not count."""
    import numpy as np  # here and below: see `asky.research.vector_store_common`

    ids = np.array(sorted({*(found or ()), *leg.ids}), dtype=np.int64)
    scored = _scored(store, query, ids, found, leg)
    follows = selection.mode != "semantic"
    tables = store.tables
    raised = follow(tables.titles, tables.chunks, query, scope, ids, scored.documents, scored.scores) if follows else {}
    if others := _chunks_of_others(store, raised, scored.documents):
        scored = _scored(store, query, np.union1d(ids, np.array(others, dtype=np.int64)), found, leg)
    scores, ways = _raised(scored, raised)
    ranked = scores
    if scored.vectors is not None and selection.mmr_alpha is None and is_text(query):
        ranked = raise_near_the_best(scores, scored.vectors)
    if store.reranker is not None and selection.mmr_alpha is None:
        ranked = _reranked(store, store.reranker, query, scored.ids, ranked)
    order = select(ranked, scored.cosines, scored.documents, scored.vectors, selection=selection, limit=limit)
    hits = _hits(store, scope, scored, order, scores, ways)
    return hits if found is not None else [replace(each, lexical=None) for each in hits]


@dataclass(frozen=True, slots=True)
class _Scored:
    """Candidates: ids and documents int64[n]; cosines, NaN without a vector, words and the fused scores float32[n].

    `vectors` are float32[n, dim], `None` if the dense leg did not run.
    """

    ids: Ids
    documents: Ids
    cosines: Scores
    words: Scores
    scores: Scores
    vectors: Vectors | None


def _scored(store: StoreParts, query: str, ids: Ids, found: dict[int, float] | None, leg: DenseLeg) -> _Scored:
    """Score chunks by both legs; `found` as in `_ranked`."""
    import numpy as np

    words, pairs = dict[int, float](), dict[int, float]()
    if found is not None:
        lexical = store.tables.lexical
        words = found | lexical.scores(word_expression(query), [each for each in ids.tolist() if each not in found])
        pairs = lexical.scores(pair_expression(query), ids.tolist())
    vectors = leg.rows(ids)
    cosines, of_words = leg.cosines(len(ids), vectors), _filled(ids, words)
    scores = fuse(cosines, of_words, _filled(ids, pairs), dense_weight=store.settings.dense_weight)
    owners = store.tables.chunks.documents_of(ids.tolist())
    documents = np.array([owners.get(each, -1) for each in ids.tolist()], dtype=np.int64)
    return _Scored(ids, documents, cosines, of_words, scores, vectors)


def _filled(ids: Ids, scores: Mapping[int, float]) -> Scores:
    import numpy as np

    return np.array([scores.get(each, 0.0) for each in ids.tolist()], dtype=np.float32)


def _chunks_of_others(store: StoreParts, raised: Mapping[int, Raised], documents: Ids) -> list[int]:
    """Return the first chunks of the documents to raise that no candidate is of, those that are raised most."""
    others = sorted(set(raised) - set(documents.tolist()), key=lambda each: (-raised[each].amount, each))
    return [
        chunk for each in others[:_MAX_OTHERS] for chunk in store.tables.documents.chunk_ids(each)[:_CHUNKS_OF_OTHERS]
    ]


def _raised(scored: _Scored, raised: Mapping[int, Raised]) -> tuple[Scores, dict[int, Raised]]:
    """Return the scores, those of the best chunk of each raised document higher, and why, by the chunk's position."""
    import numpy as np

    scores, ways = scored.scores.copy(), dict[int, Raised]()
    for document, way in raised.items():
        places = np.flatnonzero(scored.documents == document)
        if len(places):
            best = int(places[np.argmax(scored.scores[places])])
            scores[best] += way.amount
            ways[best] = way
    return scores, ways


def _reranked(store: StoreParts, reranker: Reranker, query: str, ids: Ids, ranked: Scores) -> Scores:
    """Return the scores with those of a cross-encoder for the best chunks, above all others; a failure is a warning."""
    import numpy as np

    top = best(ranked, RERANKED)
    chunks = store.tables.chunks.fetch(ids[top].tolist())
    known = np.array([at for at in top.tolist() if int(ids[at]) in chunks], dtype=np.int64)
    try:
        read = reranker.scores(query, [chunks[int(ids[at])].text for at in known])
    except AskyError as error:
        store.warn("reranker", f"{error.message}; search results are not reranked", error.hint)
        return ranked
    moved = np.asarray(ranked * _OTHERS_FACTOR, dtype=np.float32)
    moved[known] = 1 + read
    return moved


def _hits(
    store: StoreParts, scope: Scope, scored: _Scored, order: Ids, scores: Scores, ways: Mapping[int, Raised]
) -> list[Hit]:
    """Return the chosen chunks with their texts, sources and locations; chunks deleted in the meantime are left out.

    Documents with the same text are looked for among those of all candidates.
    """
    chunks = store.tables.chunks.fetch(scored.ids[order].tolist())
    origins = {at: way.linked_from for at, way in ways.items() if way.linked_from is not None}
    documents = sorted({each.document_id for each in chunks.values()})
    wanted = [*documents, *origins.values()]
    candidates = sorted({*scored.documents.tolist(), *wanted})
    sources = store.tables.chunks.holders_of(wanted, candidates, scope)
    structures = {each: store.tables.documents.structure(each) for each in documents}
    hits: list[Hit] = []
    for position in order.tolist():
        chunk = chunks.get(int(scored.ids[position]))
        if chunk is None or chunk.document_id not in sources:
            continue
        cosine = float(scored.cosines[position])
        source, others = sources[chunk.document_id]
        origin, _ = sources.get(origins.get(position, -1), (None, ()))
        hits.append(
            Hit(
                rank=len(hits) + 1,
                score=float(scores[position]),
                semantic=None if math.isnan(cosine) else cosine,
                lexical=float(scored.words[position]),
                source=source,
                document_id=chunk.document_id,
                chunk_id=chunk.id,
                span=chunk.span,
                text=chunk.text,
                location=_location(store, chunk, *structures[chunk.document_id]),
                linked_from=_shown_origin(origin, source),
                also_in=others,
            )
        )
    return hits


def _shown_origin(origin: Source | None, source: Source) -> str | None:
    """Return the title of the source that leads to `source`; a private one is not told with a public passage."""
    if origin is None or (origin.kind in PRIVATE_KINDS and source.kind not in PRIVATE_KINDS):
        return None
    return origin.title


def _location(store: StoreParts, chunk: StoredChunk, sections: Sequence[Section], pages: Sequence[Page]) -> Location:
    start = _first_character(chunk)
    location = location_of(sections, pages, start)
    if "|" not in chunk.text.strip().partition("\n")[0]:
        return location
    return replace(location, columns=columns_at(store.tables.documents, chunk.document_id, start))


def _first_character(chunk: StoredChunk) -> int:
    """Return the position of the chunk's first character that is not white space."""
    return chunk.span.start + len(chunk.text) - len(chunk.text.lstrip())


# links


def search_relevant_links(store: StoreParts, query: str, links: Sequence[Link], limit: int) -> list[tuple[Link, float]]:
    """See `VectorStore.search_relevant_links`. Ties are broken in favour of the earlier link."""
    wanted = set(content_terms(query))
    texts = [_link_text(each) for each in links]
    by_words = [len(wanted & set(content_terms(text))) / max(len(wanted), 1) for text in texts]
    order = sorted(range(len(links)), key=lambda at: -by_words[at])[:_EMBEDDED_LINKS]
    embedder = store.embedder()
    if embedder is None or not order:
        return [(links[at], by_words[at]) for at in order[:limit]]
    remembered = store.cached_embedder(embedder)
    near = remembered.embed([texts[at] for at in order]) @ remembered.embed_query(query)
    scores = {at: min(max(float(score), 0.0), 1.0) for at, score in zip(order, near, strict=True)}
    ranked = sorted(order, key=lambda at: (-scores[at], at))
    return [(links[at], scores[at]) for at in ranked[:limit]]


def _link_text(link: Link) -> str:
    """Return the words that describe a link: its text, and the words of its address."""
    path = urlsplit(link.url).path
    return f"{link.text} {' '.join(re.findall('[A-Za-z]{3,}', path))}".strip()[:_LINK_CHARACTERS] or link.url
