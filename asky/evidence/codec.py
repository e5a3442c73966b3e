"""Conversion of passages to JSON and back, without their texts, which are in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.values import Evidence, Location, Source, Span

if TYPE_CHECKING:
    from asky.storage.documents import DocumentStore

Encoded = Mapping[str, Any]


def encode_evidence(evidence: Evidence) -> dict[str, Any]:
    """Return `evidence` as JSON, without its text, which is stored as long as its run."""
    return {
        "key": evidence.key,
        "source": asdict(evidence.source),
        "document_id": evidence.document_id,
        "sha256": evidence.sha256,
        "span": [evidence.span.start, evidence.span.end],
        "location": asdict(evidence.location),
        "score": evidence.score,
        **({"sections": evidence.sections} if evidence.sections else {}),
    }


def decode_evidence(encoded: Sequence[Encoded], documents: DocumentStore) -> list[Evidence]:
    """Return the passages that `encode_evidence` encoded, in order, with their texts from the store."""
    found = []
    for each in encoded:
        span = Span(*each["span"])
        source, location = _source(each["source"]), Location(**each["location"])
        key, document_id, sha256 = each["key"], each["document_id"], each["sha256"]
        text = documents.text(document_id, span)
        inside = tuple((start, path) for start, path in each.get("sections", ()))
        found.append(Evidence(key, source, document_id, sha256, span, text, location, each["score"], sections=inside))
    return found


def _source(encoded: Encoded) -> Source:
    fields: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in encoded.items()}
    return Source(**fields)
