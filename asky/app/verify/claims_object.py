"""The `asky.claims/1` object: a text that was verified, as asky prints it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.app.verify.values import ResolvedReference, VerifiedClaim, VerifiedText
from asky.evidence.answer import citation_json
from asky.evidence.excerpts import claim_excerpt as claim_excerpt
from asky.evidence.unread import unread_fields

SCHEMA = "asky.claims/1"


def claims_object(verified: VerifiedText) -> dict[str, Any]:
    """Return a verified text as an `asky.claims/1` object.

    `start` and `end` of a claim are offsets in `text`, those of a passage in the stored text of its source.
    `statement` is what was compared: for a cell of a table, with the heads of its row and column. `citations` are what
    the claim cites itself, each a number of `references`.
    """
    passages = {each.n: citation_json(each) for each in verified.passages}
    return {
        "schema": SCHEMA,
        "name": verified.name,
        "path": verified.path,
        "text": verified.text,
        "claims": [_claim(each, passages) for each in verified.claims],
        "counts": dict(verified.counts),
        "references": [_reference(each) for each in verified.references],
        "sources": [
            {"source_id": each.id, "kind": each.kind, "url": each.url, "path": each.path, "title": each.title}
            for each in verified.sources
        ],
        "left_out": list(verified.left_out),
        "warnings": list(verified.warnings),
        "seconds": round(verified.seconds, 3),
        **unread_fields(verified.unread),
    }


def _claim(verified: VerifiedClaim, passages: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    claim = verified.claim
    return {
        "text": claim.text,
        "start": claim.span.start,
        "end": claim.span.end,
        "statement": verified.statement,
        "citations": list(verified.references),
        "verdict": claim.verdict,
        "score": claim.score,
        "reason": verified.reason,
        "checks": dict(claim.checks),
        "passage": passages.get(verified.passage) if verified.passage is not None else None,
        "better_passage": passages.get(verified.better) if verified.better is not None else None,
    }


def _reference(resolved: ResolvedReference) -> dict[str, Any]:
    reference = resolved.reference
    pages = {} if reference.pages is None else {"pages": list(reference.pages)}
    return {
        "n": reference.n,
        "written": reference.written,
        "names": list(reference.names),
        **pages,
        "source_ids": list(resolved.source_ids),
    }
