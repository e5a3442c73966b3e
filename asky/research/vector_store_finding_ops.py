"""The store's work on findings: kept with a vector, found again by meaning, or by words without a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.research.vector_store_common import best, check_vectors, vectors_from_bytes, vectors_to_bytes
from asky.text.terms import content_terms

if TYPE_CHECKING:
    from asky.research.embedder import Embedder
    from asky.research.vector_store import VectorStore
    from asky.storage.findings import Finding, FindingScope

RELEVANCE_FLOOR = 0.4
"""The least cosine of a finding that is about a query.

Source: measured with all-MiniLM-L6-v2. On the observations of three conversations of LoCoMo (677 findings, 317
questions), one that answers the question is among the first five for .751 of the questions (.757 without a floor, .738
at .55). Of 102 questions of SQuAD 2.0 with the sentence that holds the answer, .95 of the pairs pass (.98 at .3, .90 at
.45). Of questions about other things, .005 find anything in those conversations (.08 at .3)."""

WORDS_FLOOR = 0.34
"""The least share of a query's content terms that a finding about it holds: more than a third of them.

Source: measured on the same pairs: .685 of the questions find an answer (.716 without a floor), .92 of the pairs pass,
and .013 of the questions about other things find anything (.10 at .3)."""

MOST_EMBEDDED = 2048
"""Findings that one search embeds, where that was not done before: 5 s with all-MiniLM-L6-v2 on two cores."""

_BATCH = 256


def store_finding(store: VectorStore, text: str, details: Mapping[str, Any]) -> int:
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


def search_findings(store: VectorStore, query: str, scope: FindingScope, limit: int) -> list[tuple[Finding, float]]:
    """See `VectorStore.search_findings`."""
    embedder = store.embedder()
    if embedder is None:
        scored = _by_words(query, store.tables.findings.texts(scope))
    else:
        fresh, waiting = _embed_missing(store, embedder, scope)
        scored = _by_meaning(store, embedder, query, scope, fresh, limit) + _by_words(query, waiting)
    ranked = sorted(scored, key=lambda pair: (-pair[1], -pair[0]))[:limit]
    found = store.tables.findings.get([id_ for id_, _ in ranked])  # but those that were forgotten meanwhile
    return [(found[id_], score) for id_, score in ranked if id_ in found]


def _by_meaning(
    store: VectorStore, embedder: Embedder, query: str, scope: FindingScope, fresh: Mapping[int, bytes], limit: int
) -> list[tuple[int, float]]:
    ids, rows = store.tables.findings.vectors(scope, store.space(embedder), embedder.dim)
    ids, rows = [*fresh, *ids], b"".join([*fresh.values(), rows])
    if not ids:
        return []
    scores = vectors_from_bytes(rows, embedder.dim) @ store.remembered(embedder).embed_query(query)
    return [
        (ids[at], min(float(scores[at]), 1.0)) for at in best(scores, limit).tolist() if scores[at] >= RELEVANCE_FLOOR
    ]


def _embed_missing(
    store: VectorStore, embedder: Embedder, scope: FindingScope
) -> tuple[dict[int, bytes], list[tuple[int, str]]]:
    """Embed what was kept without a model, or with another one; each batch is kept as soon as it is done.

    Returns the vectors that cannot be kept, because the store is only read, and the findings that are too many for one
    search: the next ones go on with them.
    """
    table, space_id = store.tables.findings, store.space(embedder)
    missing = table.without_vector(scope, space_id, embedder.dim)
    now, waiting = missing[:MOST_EMBEDDED], missing[MOST_EMBEDDED:]
    unkept: dict[int, bytes] = {}
    for start in range(0, len(now), _BATCH):
        batch = now[start : start + _BATCH]
        vectors = _embed(embedder, [text for _, text in batch])
        made = {id_: vector for (id_, _), vector in zip(batch, vectors, strict=True)}
        if table.read_only:
            unkept |= made
        else:
            table.set_vectors(space_id, made)
    if waiting:
        store.say_once("findings", f"findings not embedded yet, and found by words alone: {len(waiting):,}")
    return unkept, waiting


def _embed(embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
    vectors = embedder.embed(texts)
    check_vectors(vectors, count=len(texts), dim=embedder.dim)
    return [vectors_to_bytes(vector) for vector in vectors]


def _by_words(query: str, findings: Iterable[tuple[int, str]]) -> list[tuple[int, float]]:
    """The share of the query's content terms that each finding holds, of those that hold enough of them."""
    wanted = frozenset(content_terms(query))
    least = WORDS_FLOOR * max(len(wanted), 1)
    terms_of = _Wanted(wanted)
    counts = ((id_, len(frozenset().union(*map(terms_of.__getitem__, set(text.split()))))) for id_, text in findings)
    return [(id_, count / len(wanted)) for id_, count in counts if count >= least]


class _Wanted(dict[str, frozenset[str]]):
    """Which wanted terms each piece of text between spaces holds: few pieces are new, and to stem costs most."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self._wanted = wanted

    def __missing__(self, piece: str) -> frozenset[str]:
        found = self[piece] = self._wanted.intersection(content_terms(piece))
        return found
