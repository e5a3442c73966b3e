"""What a question to a server is answered from if it names nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asky.app.inputs import documents_of
from asky.papers.catalog import CONTENT
from asky.papers.summaries import SUMMARIES
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.pages import CACHE_COLLECTION

if TYPE_CHECKING:
    from asky.app.inputs import KeptDocuments
    from asky.wiring import Services

_OF_OTHERS = ("session ", "folder ", "vault ")  # the beginnings of names that asky gives


def sources_object(services: Services) -> dict[str, Any]:
    """Return the user's collections, papers and notes and the search services as an `asky.own_sources/1` object.

    Collections that asky keeps for sessions, folders, pages, papers and notes are left out.
    """
    found = [documents_of(services, name) for name in services.corpus.collections() if _is_of_user(name)]
    return {
        "schema": "asky.own_sources/1",
        "default": DEFAULT_COLLECTION,
        "collections": [_collection(each) for each in found],
        "papers": len(services.papers.papers()),
        "notes": services.config.notes.vault is not None,
        "services": [each.name for each in services.web().providers],
    }


def _is_of_user(name: str) -> bool:
    return not name.startswith(_OF_OTHERS) and name not in (CACHE_COLLECTION, CONTENT, SUMMARIES)


def _collection(kept: KeptDocuments) -> dict[str, Any]:
    return {"name": kept.name, "documents": kept.documents, "missing": list(kept.missing), "words": kept.words()}
