"""Findings in the vector store: stored with a vector, found by similarity, or by keywords without a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.research.vector_store_common import best, check_vectors, vectors_from_bytes, vectors_to_bytes
from asky.text.terms import content_terms

if TYPE_CHECKING:
    from asky.research.embedding.embedder import Embedder
    from asky.research.index.store_parts import StoreParts
    from asky.storage.findings import Finding, FindingScope

RELEVANCE_FLOOR = 0.4
"""The minimum cosine of a finding that is about a query.

Source: measured with all-MiniLM-L6-v2. On the observations of three conversations of LoCoMo (677 findings, 317
questions), one that answers the question is among the first five for .751 of the questions (.757 without a floor, .738
at .55). Of 102 questions of SQuAD 2.0 with the sentence that contains the answer, .95 of the pairs pass (.98 at .3, .90
at .45). Of questions about other things, .005 find anything in those conversations (.08 at .3).
"""

WORDS_FLOOR = 0.34
"""The minimum share of a query's content terms in a finding about it: more than a third.

Source: measured on the same pairs: .685 of the questions find an answer (.716 without a floor), .92 of the pairs pass,
and .013 of the questions about other things find anything (.10 at .3).
"""

MAX_EMBEDDED = 2048
"""The maximum number of findings that one search embeds: 5 s with all-MiniLM-L6-v2 on two cores."""

_BATCH = 256


def store_finding(store: StoreParts, text: str, details: Mapping[str, Any]) -> int:
    """See `VectorStore.store_finding`."""
    findings = store.tables.findings
    known = findings.same(text, session_id=details["session_id"])
    if known is not None:
        return known
    embedder = store.embedder()
    if embedder is None:
        return findings.add(text, **details)
    (vector,) = _embed(embedder, [text])
    return findings.add(text, space_id=store.space(embedder), vector=vector, **details)


def search_findings(store: StoreParts, query: str, scope: FindingScope, limit: int) -> list[tuple[Finding, float]]:
    """See `VectorStore.search_findings`."""
    embedder = store.embedder()
    if embedder is None:
        scored = _by_words(query, store.tables.findings.texts(scope))
    else:
        fresh, waiting = _embed_missing(store, embedder, scope)
        scored = _by_meaning(store, embedder, query, scope, fresh, limit) + _by_words(query, waiting)
    ranked = sorted(scored, key=lambda pair: (-pair[1], -pair[0]))[:limit]
    found = store.tables.findings.get([id_ for id_, _ in ranked])  # except those deleted in the meantime
    return [(found[id_], score) for id_, score in ranked if id_ in found]


def _by_meaning(
    store: StoreParts, embedder: Embedder, query: str, scope: FindingScope, fresh: Mapping[int, bytes], limit: int
) -> list[tuple[int, float]]:
    ids, rows = store.tables.findings.vectors(scope, store.space(embedder), embedder.dim)
    ids, rows = [*fresh, *ids], b"".join([*fresh.values(), rows])
    if not ids:
        return []
    scores = vectors_from_bytes(rows, embedder.dim) @ store.cached_embedder(embedder).embed_query(query)
    return [
        (ids[at], min(float(scores[at]), 1.0)) for at in best(scores, limit).tolist() if scores[at] >= RELEVANCE_FLOOR
    ]


def _embed_missing(
    store: StoreParts, embedder: Embedder, scope: FindingScope
) -> tuple[dict[int, bytes], list[tuple[int, str]]]:
    """Embed findings stored without a model, or with another one; each batch is stored as soon as it is done.

    Returns the vectors that cannot be stored, because the store is read-only, and the findings beyond the limit for one
    search, which later searches embed.
    """
    table, space_id = store.tables.findings, store.space(embedder)
    missing = table.without_vector(scope, space_id, embedder.dim)
    now, waiting = missing[:MAX_EMBEDDED], missing[MAX_EMBEDDED:]
    unsaved: dict[int, bytes] = {}
    for start in range(0, len(now), _BATCH):
        batch = now[start : start + _BATCH]
        vectors = _embed(embedder, [text for _, text in batch])
        made = {id_: vector for (id_, _), vector in zip(batch, vectors, strict=True)}
        if table.read_only:
            unsaved |= made
        else:
            table.set_vectors(space_id, made)
    if waiting:
        store.warn("findings", f"findings not embedded yet and found by keywords only: {len(waiting):,}")
    return unsaved, waiting


def _embed(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    vectors = embedder.embed(texts)
    check_vectors(vectors, count=len(texts), dim=embedder.dim)
    return [vectors_to_bytes(vector) for vector in vectors]


def _by_words(query: str, findings: Iterable[tuple[int, str]]) -> list[tuple[int, float]]:
    """Return the share of the query's content terms in each finding, for findings with enough of them."""
    wanted = frozenset(content_terms(query))
    threshold = WORDS_FLOOR * max(len(wanted), 1)
    terms_of = _Wanted(wanted)
    counts = ((id_, len(frozenset().union(*map(terms_of.__getitem__, set(text.split()))))) for id_, text in findings)
    return [(id_, count / len(wanted)) for id_, count in counts if count >= threshold]


class _Wanted(dict[str, frozenset[str]]):
    """The wanted terms in each piece of text between spaces: few pieces are new, and stemming is the main cost."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted = wanted

    def __missing__(self, piece: str) -> frozenset[str]:
        found = self[piece] = self._wanted.intersection(content_terms(piece))
        return found
