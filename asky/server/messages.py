"""What clients are told of a run: messages made of `asky.event/1` objects, each with the number of its event."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from asky.app.failures import without_options
from asky.app.schemas.event import event_object
from asky.events import Envelope, Event, PhaseStarted, StageStarted, WebSearched
from asky.text.printable import json_text

_KEPT = 4096


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is after an event: the phase and the numbers of an agent, or the stage of a question.

    `doing` says in plain words what it does. `services` are those that have searched, for a run without phases. An
    agent `has_phases`: the stages within one are no phases.
    """

    phase: str = "starting"
    doing: str = "starting"
    sources_queried: int = 0
    entities_found: int = 0
    services: frozenset[str] = frozenset()
    has_phases: bool = False

    def after(self, event: Event) -> RunProgress:
        """Return how far the run is after one more event."""
        if isinstance(event, PhaseStarted):
            found = event.sources_queried, event.entities_found
            return RunProgress(event.phase, event.message, *found, has_phases=True)
        if isinstance(event, StageStarted):
            return replace(self, phase=self.phase if self.has_phases else event.stage, doing=event.stage)
        if isinstance(event, WebSearched):
            services = self.services | frozenset(event.services)
            return replace(self, services=services, sources_queried=max(self.sources_queried, len(services)))
        return self


@dataclass(frozen=True, slots=True)
class RunMessage:
    """A message as JSON; `is_last` says that none follows it."""

    seq: int
    text: str
    is_last: bool = False


class Messages:
    """Makes messages; the last ones are kept, as the clients of a run are told the same."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        self._mask = mask
        self._made: OrderedDict[tuple[str, int], RunMessage] = OrderedDict()

    def of_event(self, envelope: Envelope, progress: RunProgress) -> RunMessage:
        """Return the message about an event, after which the run is as far as `progress` says."""
        key = (envelope.run, envelope.seq)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = RunMessage(envelope.seq, json_text(self._progress(envelope, progress)))
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        return made

    def _progress(self, envelope: Envelope, progress: RunProgress) -> dict[str, Any]:
        event = event_object(envelope, self._mask)
        return {
            "type": "progress",
            "session_id": envelope.run,
            "seq": envelope.seq,
            "phase": progress.phase,
            "sources_queried": progress.sources_queried,
            "entities_found": progress.entities_found,
            "message": without_options(event["message"] or self._mask(progress.doing)),
            "event": event,
        }


def completed(run_id: str, seq: int, status: str, result: object) -> RunMessage:
    """Return the last message of a run that has ended, or was left by its process."""
    value = {"type": "complete", "session_id": run_id, "seq": seq, "status": status, "result": result}
    return RunMessage(seq, json_text(value), is_last=True)


def failed(run_id: str, seq: int, error: dict[str, Any]) -> RunMessage:
    """Return the last message of a run that failed, or of one that is not known."""
    value = {"type": "error", "session_id": run_id, "seq": seq, "status": "failed", "message": error["message"]}
    return RunMessage(seq, json_text(value | {"error": error}), is_last=True)
