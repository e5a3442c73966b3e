"""Saved findings as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from asky.app.schemas.damage import damaged_objects

if TYPE_CHECKING:
    from asky.app.memory import SavedFinding
    from asky.app.records import Listing
    from asky.storage.findings import Finding


def findings_object(findings: Listing[SavedFinding]) -> dict[str, Any]:
    """Return findings as an `asky.findings/1` object."""
    described = [finding_fields(each, session=each.session) for each in findings.found]
    return {"schema": "asky.findings/1", "findings": described, "damaged": damaged_objects(findings.damaged)}


def scored_findings_object(query: str, found: Sequence[tuple[SavedFinding, float]]) -> dict[str, Any]:
    """Return the findings that match a query, each with its relevance, as an `asky.findings/1` object."""
    scored = [finding_fields(each, session=each.session) | {"score": round(score, 4)} for each, score in found]
    return {"schema": "asky.findings/1", "query": query, "findings": scored}


def finding_object(finding: SavedFinding) -> dict[str, Any]:
    """Return one finding as an `asky.finding/1` object."""
    return {"schema": "asky.finding/1", **finding_fields(finding, session=finding.session)}


def finding_fields(finding: Finding, *, session: str | None) -> dict[str, Any]:
    """Return the fields of a finding within other objects; `session` is the name of its session."""
    return {
        "id": finding.id,
        "text": finding.text,
        "tags": list(finding.tags),
        "trust": finding.trust,
        "session": session,
        "run": finding.run_id,
        "passages": [dict(passage) for passage in finding.passages],
        "created_at": finding.created_at,
    }
