"""Events in plain words: a line for whoever watches a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from asky.events import (
    ApprovalDecided,
    ApprovalRequested,
    ClarificationAnswered,
    ClarificationAsked,
    CycleEvaluated,
    Event,
    FileRead,
    ModelCalled,
    PageRead,
    QuerySent,
    ResearchPlanned,
    StageAdvanced,
    StageFinished,
    StageStarted,
    ToolCalled,
    ToolReturned,
    WebSearched,
)
from asky.text.printable import one_line

MAX_CHARS = 200
_USABLE = ("indexed", "unchanged")  # as `asky.runs.feed` has it: such files are not named
_STAGES: Mapping[str, str] = MappingProxyType(
    {
        "find": "looking for files",
        "read": "reading",
        "embed": "preparing passages for search by meaning",
        "sources": "choosing sources",
        "synthesis": "writing the answer",
        "verify": "checking each sentence against its sources",
        "judge": "reading each sentence with its passages",
        "topics": "choosing topics",
        "summarize": "summarizing papers",
    }
)


def status_line(event: Event, mask: Callable[[str], str] = str) -> str | None:
    """Return an event in a few words, on one line of at most 200 characters and with secrets masked.

    An event with a message of its own is in the words of that. `None` for pieces of the answer, and for what another
    event says as well.
    """
    line = getattr(event, "message", None) or _line(event)
    return one_line(mask(line))[:MAX_CHARS] if line else None


def _line(event: Event) -> str | None:
    if isinstance(event, StageStarted):
        return _stage(event.stage)
    if isinstance(event, StageAdvanced):
        return f"{_stage(event.stage)}: {event.done}" + (f" of {event.total}" if event.total else "")
    if isinstance(event, StageFinished):
        return f"{_stage(event.stage)}: {event.summary}" if event.summary else None
    if isinstance(event, FileRead):
        return None if event.verdict in _USABLE else f"cannot use {event.path}: {event.why or event.verdict}"
    if isinstance(event, QuerySent):
        return f"sending {event.query!r} to {', '.join(event.services)}"
    if isinstance(event, WebSearched):
        return f"searched for {'; '.join(event.queries)}: {event.found} found"
    if isinstance(event, PageRead):
        return f"{event.url}: {event.verdict}"
    if isinstance(event, ModelCalled):
        return f"calling {event.model}"
    if isinstance(event, ToolCalled):
        return f"{event.name} {event.summary}"
    if isinstance(event, ToolReturned) and event.failure is not None:
        return f"{event.name} failed: {event.failure.message}"
    if isinstance(event, ResearchPlanned):
        return f"to find out: {'; '.join(event.sub_questions)}"
    if isinstance(event, CycleEvaluated):
        return f"cycle {event.cycle}: {event.novelty:.0%} of what it found is new; {event.reason}"
    return _dialogue(event)


def _dialogue(event: Event) -> str | None:
    """Return a question to the user, or the answer to it."""
    if isinstance(event, ApprovalRequested):
        what = f"send {'; '.join(event.queries)} to {', '.join(event.services)}" if event.queries else event.path
        return f"waiting for your approval: {what}"
    if isinstance(event, ApprovalDecided):
        return "approved" if event.is_approved else "not approved"
    if isinstance(event, ClarificationAsked):
        return f"waiting for your answer: {event.question}"
    if isinstance(event, ClarificationAnswered):
        return f"answered: {event.text}" if event.text else "not answered"
    return None


def _stage(name: str) -> str:
    return _STAGES.get(name, name)
