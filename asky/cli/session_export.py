"""A whole session as a document: for people as Markdown or a page, for programs as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from asky.cli.finding_views import finding_object
from asky.cli.terminal import json_document, one_line
from asky.storage.findings import FindingScope

if TYPE_CHECKING:
    from asky.cli.export_forms import Form
    from asky.cli.workbench import Workbench
    from asky.storage.runs import Run
    from asky.storage.sessions import Session, StoredMessage
    from asky.wiring import Services


def export_session(bench: Workbench, session: Session, form: Form) -> str:
    """The session as `md`, `json` or `html`, or its sources as `bibtex`, `csl` or `ris`, in the order of its turns.

    Where no answer cites any, that is said.
    """
    services = bench.services
    runs = services.runs.recent(session_id=session.id)[::-1]
    if form in ("bibtex", "csl", "ris"):
        from asky.evidence.bibliography import bibliography  # for these formats only

        answers = [each.answer for each in runs if each.answer is not None]
        if not any(each["citations"] for each in answers):
            bench.terminal.note(f"the session {one_line(session.name)} cites nothing")
        return bibliography(answers, form)
    messages = services.sessions.messages(session.id)
    if form == "json":
        return _json(services, session, runs, messages)
    withdrawn = {each.run_id for each in messages if each.is_withdrawn}
    runs = [_marked(each) if each.id in withdrawn else each for each in runs]
    added = _added(messages)
    if form == "html":
        from asky.report.gathering import report_run  # for this format only, as is the page
        from asky.report.page import render_report

        answered = [each for each in runs if each.answer is not None]
        found = [report_run(each, runs=services.runs, documents=services.documents) for each in answered]
        reported = [replace(each, added=added.get(run.id, ())) for run, each in zip(answered, found, strict=True)]
        return render_report(reported, title=f"Session {session.name}")
    return _markdown(session, runs, added)


def _added(messages: Sequence[StoredMessage]) -> Mapping[str | None, tuple[str, ...]]:
    """What the user typed to runs under way, by the run's id."""
    from asky.chat.notes import NOTE_ROLE  # with the port of models: not for a list

    added: dict[str | None, tuple[str, ...]] = {}
    for each in messages:
        if each.role == NOTE_ROLE:
            added[each.run_id] = (*added.get(each.run_id, ()), each.content)
    return added


def _marked(run: Run) -> Run:
    """A run that the user took back, with its question saying so."""
    question = f"{run.question} (taken back)"
    answer = {**run.answer, "question": question} if run.answer is not None else None
    return replace(run, question=question, answer=answer)


def session_object(session: Session) -> dict[str, Any]:
    """A session in JSON; `messages` is their number."""
    return {
        "id": session.id,
        "name": session.name,
        "mode": session.mode,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "messages": session.messages,
        "settings": dict(session.settings),
    }


def message_object(message: StoredMessage) -> dict[str, Any]:
    """A message in JSON."""
    return {
        "role": message.role,
        "content": message.content,
        "data": dict(message.data),
        "run": message.run_id,
        "created_at": message.created_at,
        "withdrawn": message.is_withdrawn,
    }


def _json(services: Services, session: Session, runs: Sequence[Run], messages: Sequence[StoredMessage]) -> str:
    findings = services.findings.recent(FindingScope("session", session.id))
    exported = {
        "schema": "asky.session/1",
        "session": session_object(session),
        "messages": [message_object(each) for each in messages],
        "answers": [each.answer for each in runs if each.answer is not None],
        "findings": [finding_object(each, session=session.name) for each in findings[::-1]],
    }
    return json_document(exported)


def _markdown(session: Session, runs: Sequence[Run], added: Mapping[str | None, tuple[str, ...]]) -> str:
    from asky.evidence.markdown import answer_markdown, as_written, question_markdown  # for this format only

    parts = [f"# Session {as_written(session.name)}\n"]
    for run in runs:
        notes = added.get(run.id, ())
        if run.answer is not None:
            parts.append(answer_markdown(run.answer, level=2, added=notes))
        else:
            question = question_markdown(run.question, level=2, added=notes)
            parts.append(f"{question}\nNo answer was written: the run is {run.status}.\n")
    return "\n".join(parts)
