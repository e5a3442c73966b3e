"""Sessions and their messages as JSON objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asky.app.schemas.damage import damaged_objects
from asky.app.schemas.memory import finding_fields
from asky.evidence.export.run_export import describe_run
from asky.values import Unreadable

if TYPE_CHECKING:
    from asky.app.records import SessionDetails, SessionSummary
    from asky.storage.findings import Finding
    from asky.storage.sessions import Session, StoredMessage


def sessions_object(listed: Sequence[SessionSummary | Unreadable]) -> dict[str, Any]:
    """Return sessions as an `asky.sessions/1` object."""
    found = [each for each in listed if not isinstance(each, Unreadable)]
    return {
        "schema": "asky.sessions/1",
        "sessions": [session_fields(each.session) | {"first_question": each.first_question} for each in found],
        "damaged": damaged_objects([each for each in listed if isinstance(each, Unreadable)]),
    }


def session_object(details: SessionDetails) -> dict[str, Any]:
    """Return a session with its messages and unfinished runs as an `asky.session/1` object."""
    name, unfinished = details.session.name, [each for each in details.runs[::-1] if each.status != "finished"]
    return {
        "schema": "asky.session/1",
        "collections": list(details.collections),
        "session": session_fields(details.session),
        "messages": [message_fields(each) for each in details.messages],
        "unfinished": [describe_run(each, session=name) for each in unfinished],
    }


def session_export_object(
    session: Session,
    messages: Sequence[StoredMessage],
    answers: Sequence[Mapping[str, Any]],
    findings: Sequence[Finding],
) -> dict[str, Any]:
    """Return a session with its answers and findings as an `asky.session/1` object."""
    return {
        "schema": "asky.session/1",
        "session": session_fields(session),
        "messages": [message_fields(each) for each in messages],
        "answers": list(answers),
        "findings": [finding_fields(each, session=session.name) for each in findings],
    }


def session_fields(session: Session) -> dict[str, Any]:
    """Return the fields of a session within other objects; `messages` is their number."""
    return {
        "id": session.id,
        "name": session.name,
        "mode": session.mode,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "messages": session.messages,
        "settings": dict(session.settings),
    }


def message_fields(message: StoredMessage) -> dict[str, Any]:
    """Return the fields of a message within other objects."""
    return {
        "role": message.role,
        "content": message.content,
        "data": dict(message.data),
        "run": message.run_id,
        "created_at": message.created_at,
        "withdrawn": message.is_withdrawn,
    }
