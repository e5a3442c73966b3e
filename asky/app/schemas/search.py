"""Passages found for a query as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.evidence.unread import unread_fields

if TYPE_CHECKING:
    from asky.research.embeddings import EmbeddingUsage
    from asky.values import Hit, UnreadFile


def with_embedding(made: dict[str, Any], usage: EmbeddingUsage | None) -> dict[str, Any]:
    """Return the object of a command with what the command embedded, as `embedding`; `None` if it was nothing."""
    return made | {"embedding": None if usage is None else asdict(usage) | {"seconds": round(usage.seconds, 3)}}


def hits_object(query: str, hits: Sequence[Hit], unread: Sequence[UnreadFile] = ()) -> dict[str, Any]:
    """Return the passages for a query as an `asky.hits/1` object, with what could not be read of the documents."""
    listed = [hit_object(hit) for hit in hits]
    return {"schema": "asky.hits/1", "query": query, "hits": listed, **unread_fields(unread)}


def hit_object(hit: Hit) -> dict[str, Any]:
    """Return one passage of `asky.hits/1`."""
    return {
        "rank": hit.rank,
        "score": round(hit.score, 6),
        "semantic": None if hit.semantic is None else round(hit.semantic, 6),
        "lexical": None if hit.lexical is None else round(hit.lexical, 6),
        "linked_from": hit.linked_from,
        "source_id": hit.source.id,
        "external_id": hit.source.external_id,
        "external_ids": external_ids(hit),
        "title": hit.source.title,
        "url": hit.source.url,
        "path": hit.source.path,
        "page": hit.location.page,
        "page_label": hit.location.page_label,
        "section": hit.location.section,
        **({"columns": hit.location.columns} if hit.location.columns is not None else {}),
        "start": hit.span.start,
        "end": hit.span.end,
        "text": hit.text,
    }


def external_ids(hit: Hit) -> list[str | int]:
    """Return the ids of all records with the text of a passage, that of its source first."""
    return [each.external_id for each in (hit.source, *hit.also_in) if each.external_id is not None]
