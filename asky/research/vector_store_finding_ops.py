"""The store's work on findings: kept with a vector, found again by meaning, or by words without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from asky.research.vector_store_common import vectors_from_bytes, vectors_to_bytes
from asky.text.terms import content_terms

if TYPE_CHECKING:
    from asky.research.embeddings import Embedder
    from asky.research.vector_store import VectorStore
    from asky.storage.findings import Finding

RELEVANCE_FLOOR = 0.3  # MiniLM: pairs of unrelated sentences lie below .2, loose paraphrases above .4


def store_finding(store: VectorStore, text: str, details: Mapping[str, Any]) -> int:
    """See `VectorStore.store_finding`."""
    embedder = store.embedder()
    if embedder is None:
        return store.tables.findings.add(text, **details)
    vector = vectors_to_bytes(embedder.embed([text])[0])
    return store.tables.findings.add(text, space_id=store.space(embedder), vector=vector, **details)


def search_findings(store: VectorStore, query: str, session_id: str | None, limit: int) -> list[tuple[Finding, float]]:
    """See `VectorStore.search_findings`. Ties are broken in favour of the newer finding."""
    findings = store.tables.findings.recent(session_id=session_id)
    if not findings:
        return []
    embedder = store.embedder()
    scores = _by_meaning(store, embedder, query, findings) if embedder else _by_words(query, findings)
    ranked = sorted(zip(findings, scores, strict=True), key=lambda pair: -pair[1])
    return [(finding, score) for finding, score in ranked if score >= RELEVANCE_FLOOR][:limit]


def _by_meaning(store: VectorStore, embedder: Embedder, query: str, findings: Sequence[Finding]) -> list[float]:
    space_id = store.space(embedder)
    known = {each.id: each.vector for each in findings if each.vector is not None and each.space_id == space_id}
    missing = [each for each in findings if each.id not in known]
    if missing:  # kept while there was no model, or another one
        for finding, vector in zip(missing, embedder.embed([each.text for each in missing]), strict=True):
            known[finding.id] = vectors_to_bytes(vector)
            store.tables.findings.set_vector(finding.id, space_id, known[finding.id])
    matrix = vectors_from_bytes(b"".join(known[each.id] for each in findings), embedder.dim)
    return [float(each) for each in np.clip(matrix @ store.remembered(embedder).embed_query(query), 0.0, 1.0)]


def _by_words(query: str, findings: Sequence[Finding]) -> list[float]:
    """The share of the query's content terms that a finding holds."""
    wanted = set(content_terms(query))
    return [len(wanted & set(content_terms(each.text))) / max(len(wanted), 1) for each in findings]
