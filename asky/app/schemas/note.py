"""Notes of vaults and what writing them came to as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.app.schemas.corpus import _report_object
from asky.evidence.unread import unread_fields

if TYPE_CHECKING:
    from asky.errors import AskyError
    from asky.notes.catalog import IndexedNotes, LinkedNote, NoteEntry, NoteHit
    from asky.notes.embeds import ShownNote
    from asky.notes.service import NoteResult


def indexed_notes_object(indexed: IndexedNotes) -> dict[str, Any]:
    """Return what was read of the vault as an `asky.added/1` object."""
    return {
        "schema": "asky.added/1",
        "collection": indexed.collection,
        "embedded": indexed.embedded,
        "reports": [_report_object(indexed.report)],
        **unread_fields(indexed.report.unread),
    }


def notes_object(notes: Sequence[NoteEntry], indexed: IndexedNotes) -> dict[str, Any]:
    """Return a list of notes as an `asky.notes/1` object, with what could not be read of the vault."""
    listed = [asdict(each) for each in notes]
    return {"schema": "asky.notes/1", "notes": listed, **unread_fields(indexed.report.unread)}


def note_hits_object(query: str, mode: str, hits: Sequence[NoteHit], indexed: IndexedNotes) -> dict[str, Any]:
    """Return the notes that match a query as an `asky.note_hits/1` object, with what could not be read of the vault."""
    fields = ("path", "title", "heading", "snippet")
    found = [{**{name: getattr(each, name) for name in fields}, "score": round(each.score, 6)} for each in hits]
    unread = unread_fields(indexed.report.unread)
    return {"schema": "asky.note_hits/1", "query": query, "mode": mode, "hits": found, **unread}


def note_object(result: NoteResult) -> dict[str, Any]:
    """Return the result of research into a note as an `asky.note/1` object; `diff` if nothing was written."""
    return {
        "schema": "asky.note/1",
        "success": True,
        "path": result.path,
        "topics_researched": result.topics_researched,
        "preview": result.preview,
        "run": result.run,
        "written_to": result.written_to,
        "diff": result.diff if result.written_to is None else None,
        "warnings": list(result.warnings),
        **unread_fields(result.unread),
    }


def note_failure_object(path: str, error: AskyError) -> dict[str, Any]:
    """Return research into a note that failed as an `asky.note/1` object."""
    return {"schema": "asky.note/1", "success": False, "path": path, "error": error.message, "hint": error.hint}


def note_undone_object(path: str) -> dict[str, Any]:
    """Return a note whose last change was taken back as an `asky.note_undone/1` object."""
    return {"schema": "asky.note_undone/1", "path": path}


def note_text_object(note: ShownNote) -> dict[str, Any]:
    """Return a note with what it embeds as an `asky.note_text/1` object."""
    return {"schema": "asky.note_text/1", "path": note.path, "text": note.text, **unread_fields(note.unread)}


def note_links_object(
    path: str, links: Sequence[LinkedNote], backlinks: Sequence[NoteEntry], indexed: IndexedNotes
) -> dict[str, Any]:
    """Return the links of a note, and the notes that link to it, as an `asky.note_links/1` object.

    It has what could not be read of the vault: there may be more links in that.
    """
    return {
        "schema": "asky.note_links/1",
        "path": path,
        "links": [asdict(each) for each in links],
        "backlinks": [asdict(each) for each in backlinks],
        **unread_fields(indexed.report.unread),
    }
