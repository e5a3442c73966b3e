"""Conversations: list, show, rename, export and remove them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from asky.app.answers import ExportedDocument, export_cited, exported_text, rendered
from asky.app.records import SessionDetails, SessionSummary
from asky.app.schemas.session import session_export_object
from asky.errors import UsageError
from asky.storage.findings import Finding, FindingScope
from asky.storage.runs import Run
from asky.storage.sessions import NOTE_ROLE, Session, StoredMessage
from asky.text.printable import json_document
from asky.values import Unreadable

if TYPE_CHECKING:
    from asky.app.answers import Form
    from asky.storage.sessions import SessionStore
    from asky.wiring import Services

__all__ = [
    "Session",
    "SessionContents",
    "SessionDetails",
    "SessionService",
    "SessionSummary",
    "StoredMessage",
    "find_session",
]


@dataclass(frozen=True, slots=True)
class SessionContents:
    """The numbers of runs and findings of a session."""

    runs: int
    findings: int


class SessionService:
    """Reads, exports and changes sessions.

    `find` looks a session up by its name or id; methods with a `session` take its result.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def find(self, name: str) -> Session:
        """Return the session with that name or id. Raises `UsageError` if there is none."""
        return find_session(self._services.sessions, name)

    def names(self) -> Sequence[str]:
        """Return the names of all sessions, most recently used first."""
        return [*self._services.sessions.names().values()]

    def list(self) -> Sequence[SessionSummary | Unreadable]:
        """Return all sessions, most recently used first; unreadable ones keep their place as `Unreadable`."""
        found = self._services.sessions.listed()
        first_questions = self._services.sessions.first_questions()
        return [
            each if isinstance(each, Unreadable) else SessionSummary(each, first_questions.get(each.id))
            for each in found
        ]

    def show(self, name: str) -> SessionDetails:
        """Return a session with its messages and runs; see `find`."""
        services, found = self._services, self.find(name)
        messages = services.sessions.messages(found.id)
        listed = services.runs.listed(session_id=found.id)
        return SessionDetails(
            found,
            collections=services.corpus.names(found.collections),
            messages=messages,
            runs=[each for each in listed if not isinstance(each, Unreadable)],
            damaged=[each for each in listed if isinstance(each, Unreadable)],
        )

    def rename(self, name: str, new_name: str) -> None:
        """Rename a session. Raises `UsageError` if the new name is taken or invalid."""
        self._services.sessions.rename(self.find(name).id, new_name)

    def run_ids(self, session: Session) -> Sequence[str]:
        """Return the ids of the runs of a session."""
        return self._services.sessions.run_ids(session.id)

    def findings(self, session: Session) -> Sequence[Finding]:
        """Return the findings saved in a session, newest first."""
        return self._services.findings.recent(FindingScope("session", session.id))

    def contents(self, session: Session) -> SessionContents:
        """Return how much would be deleted with a session."""
        return SessionContents(runs=len(self.run_ids(session)), findings=len(self.findings(session)))

    def remove(self, session: Session) -> int:
        """Delete a session with its runs, findings and own texts, and return its number of runs.

        Raises `UsageError` while a question is being answered in it.
        """
        return self._services.session_removal.remove(session.id)

    # exports

    def export(self, session: Session, form: Form) -> ExportedDocument:
        """Return a session in a format, its turns in the order in which they were asked.

        `tex` has its answers, and `bibtex`, `csl` and `ris` list the sources that these cite, each once.
        """
        services = self._services
        runs = services.runs.recent(session_id=session.id)[::-1]
        if form in ("tex", "bibtex", "csl", "ris"):
            answers = [services.papers.noticed(each.answer) for each in runs if each.answer is not None]
            return export_cited(answers, form)
        messages = services.sessions.messages(session.id)
        if form == "json":
            return exported_text(self._json(session, runs, messages))
        withdrawn = {each.run_id for each in messages if each.is_withdrawn}
        runs = [_mark_withdrawn(each) if each.id in withdrawn else each for each in runs]
        notes = _notes(messages)
        if form == "html" or form == "pdf":
            return self._report(session, runs, notes, form)
        from asky.evidence.export.session_markdown import session_markdown  # reads citations: not for a list

        return exported_text(session_markdown(session.name, runs, notes))

    def _json(self, session: Session, runs: Sequence[Run], messages: Sequence[StoredMessage]) -> str:
        answers = [each.answer for each in runs if each.answer is not None]
        findings = self.findings(session)[::-1]
        return json_document(session_export_object(session, messages, answers, findings))

    def _report(
        self,
        session: Session,
        runs: Sequence[Run],
        notes: Mapping[str | None, tuple[str, ...]],
        form: Literal["html", "pdf"],
    ) -> ExportedDocument:
        from asky.report.gathering import report_run  # only for these formats, as is what renders them

        services = self._services
        answered = [each for each in runs if each.answer is not None]
        found = [report_run(each, runs=services.runs, documents=services.documents) for each in answered]
        reported = [replace(each, added=notes.get(run.id, ())) for run, each in zip(answered, found, strict=True)]
        return rendered(reported, form, title=f"Session {session.name}")


def find_session(sessions: SessionStore, name: str) -> Session:
    """Return the session with that name or id. Raises `UsageError` if there is none."""
    found = sessions.find(name.encode("utf-8", "replace").decode())
    if found is None:
        raise UsageError(f"there is no session {name!r}", hint="`asky session list` lists the sessions")
    return found


def _notes(messages: Sequence[StoredMessage]) -> Mapping[str | None, tuple[str, ...]]:
    """Return the notes typed while each run was in progress, by run id."""
    notes: dict[str | None, tuple[str, ...]] = {}
    for each in messages:
        if each.role == NOTE_ROLE:
            notes[each.run_id] = (*notes.get(each.run_id, ()), each.content)
    return notes


def _mark_withdrawn(run: Run) -> Run:
    """Return a run that was undone, with a question that says so."""
    question = f"{run.question} (taken back)"
    answer = {**run.answer, "question": question} if run.answer is not None else None
    return replace(run, question=question, answer=answer)
