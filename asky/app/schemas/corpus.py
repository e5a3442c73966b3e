"""Documents, collections and their sources as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.evidence.unread import of_rows, unread_fields

if TYPE_CHECKING:
    from asky.app.corpus import AddedDocuments, CollectionSummary, IndexingStatus, ListedSource
    from asky.research.corpus.report import AcquireReport


def added_object(added: AddedDocuments) -> dict[str, Any]:
    """Return what was added to one collection as an `asky.added/1` object."""
    return {
        "schema": "asky.added/1",
        "collection": added.collection,
        "embedded": added.embedded,
        "reports": [_report_object(each) for each in added.reports],
        **unread_fields([unread for report in added.reports for unread in report.unread]),
    }


def _report_object(report: AcquireReport) -> dict[str, Any]:
    return {
        "verdicts": report.verdicts,
        "problems": [asdict(each) for each in report.problems],
        "skipped": [{"first": first, "reason": reason, "count": count} for first, reason, count in report.skipped],
        "removed": report.removed,
        "passages_added": report.chunks_added,
        "seconds": round(report.seconds, 3),
    }


def synced_object(added: Sequence[AddedDocuments]) -> dict[str, Any]:
    """Return what was found in several collections as an `asky.synced/1` object."""
    return {"schema": "asky.synced/1", "collections": [added_object(each) for each in added]}


def collections_object(names: Sequence[str]) -> dict[str, Any]:
    """Return the names of the collections as an `asky.collections/1` object."""
    return {"schema": "asky.collections/1", "collections": list(names)}


def collection_object(summary: CollectionSummary, indexing: IndexingStatus | None) -> dict[str, Any]:
    """Return the contents of a collection, and how far the store is embedded, as an `asky.collection/1` object."""
    held = {name: value for name, value in asdict(summary).items() if name != "unread"}
    state = asdict(indexing) if indexing else None
    return {"schema": "asky.collection/1", **held, "indexing": state, **unread_fields(summary.unread)}


def sources_object(collection: str, sources: Sequence[ListedSource]) -> dict[str, Any]:
    """Return the sources of a collection as an `asky.sources/1` object."""
    listed = [asdict(each.source) | {"verdict": each.verdict, "why": each.why} for each in sources]
    unread = of_rows(
        (each.source.path or each.source.url or each.source.uri, each.verdict, each.why) for each in sources
    )
    return {"schema": "asky.sources/1", "collection": collection, "sources": listed, **unread_fields(unread)}
