"""Search over chunks, lexical and dense, and over the links of a page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from asky.research.excerpts.locations import location_of
from asky.research.index.dense_leg import DenseLeg, nearest
from asky.research.index.embed_chunks import embed_for_queries
from asky.research.index.lexical_query import is_text, pair_expression, word_expression
from asky.research.ranking import DIVERSE, Selection, fuse, raise_near_the_best, select
from asky.storage.scope import Scope
from asky.storage.vectors import Coverage
from asky.text.terms import content_terms
from asky.values import Hit

if TYPE_CHECKING:
    from asky.research.index.store_parts import StoreParts
    from asky.research.vector_store_common import Ids, Scores
    from asky.storage.chunks import StoredChunk
    from asky.values import Link

_EMBEDDED_LINKS = 100  # those that share most words with the query: embedding 1,000 links would take 10 s
_LINK_CHARACTERS = 200


# search


def search_content_chunks(
    store: StoreParts,
    queries: Sequence[str],
    scope: Scope,
    limit: int,
    first: Sequence[str],
    selection: Selection = DIVERSE,
) -> list[list[Hit]]:
    """See `VectorStore.search_several`."""
    count = max(store.settings.candidates, limit)
    if store.tables.chunks.is_everything(scope):
        scope = Scope()
    embedder = store.embedder() if selection.mode != "keyword" else None
    by_words = selection.mode != "semantic" or embedder is None
    lexical = store.tables.lexical
    found = {query: lexical.search(word_expression(query), scope, limit=count) if by_words else {} for query in queries}
    coverage = embed_for_queries(store, embedder, scope, found, first) if embedder else Coverage(0, 0)
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

    lexical = store.tables.lexical
    ids = np.array(sorted({*(found or ()), *leg.ids}), dtype=np.int64)
    if not len(ids):
        return []
    words, pairs = dict[int, float](), dict[int, float]()
    if found is not None:
        words = found | lexical.scores(word_expression(query), [each for each in leg.ids if each not in found])
        pairs = lexical.scores(pair_expression(query), ids.tolist())
    vectors = leg.rows(ids)
    scored = _Scored(ids, leg.cosines(len(ids), vectors), _filled(ids, words), _filled(ids, pairs))
    scores = fuse(scored.cosines, scored.words, scored.pairs, dense_weight=store.settings.dense_weight)
    owners = store.tables.chunks.documents_of(ids.tolist())
    documents = np.array([owners.get(each, -1) for each in ids.tolist()], dtype=np.int64)
    raised = scores
    if vectors is not None and selection.mmr_alpha is None and is_text(query):
        raised = raise_near_the_best(scores, vectors)
    order = select(raised, scored.cosines, documents, vectors, selection=selection, limit=limit)
    hits = _hits(store, scope, scored, order, scores, sorted(set(owners.values())))
    return hits if found is not None else [replace(each, lexical=None) for each in hits]


@dataclass(frozen=True, slots=True)
class _Scored:
    """Candidates and the scores of both legs: ids int64[n]; cosines (NaN without a vector), words, pairs float32[n]."""

    ids: Ids
    cosines: Scores
    words: Scores
    pairs: Scores


def _filled(ids: Ids, scores: Mapping[int, float]) -> Scores:
    import numpy as np

    return np.array([scores.get(each, 0.0) for each in ids.tolist()], dtype=np.float32)


def _hits(
    store: StoreParts, scope: Scope, scored: _Scored, order: Ids, scores: Scores, candidates: Sequence[int]
) -> list[Hit]:
    """Return the chosen chunks with their texts, sources and locations; chunks deleted in the meantime are left out.

    `candidates` are the documents of all candidates, among which those with the same text are looked for.
    """
    chunks = store.tables.chunks.fetch(scored.ids[order].tolist())
    documents = sorted({each.document_id for each in chunks.values()})
    sources = store.tables.chunks.holders_of(documents, candidates, scope)
    structures = {each: store.tables.documents.structure(each) for each in documents}
    hits: list[Hit] = []
    for position in order.tolist():
        chunk = chunks.get(int(scored.ids[position]))
        if chunk is None or chunk.document_id not in sources:
            continue
        cosine = float(scored.cosines[position])
        source, others = sources[chunk.document_id]
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
                location=location_of(*structures[chunk.document_id], _first_character(chunk)),
                also_in=others,
            )
        )
    return hits


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
