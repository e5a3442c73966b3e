"""Events of a run as lines that a host shows while it waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.text.printable import one_line

_MAX_CHARS = 200


def progress_line(event: Mapping[str, Any]) -> str | None:
    """Return an `asky.event/1` object in a few words; `None` for pieces of the answer and for details."""
    line = _line(event)
    return one_line(line)[:_MAX_CHARS] if line else None


def _line(event: Mapping[str, Any]) -> str | None:
    kind = event["event"]
    if kind == "stage_started":
        return str(event["stage"])
    if kind == "stage_advanced":
        total = f" of {event['total']}" if event["total"] else ""
        return f"{event['stage']}: {event['done']}{total}"
    if kind == "stage_finished":
        return f"{event['stage']}: {event['summary']}" if event["summary"] else None
    if kind == "web_searched":
        return f"searched for {'; '.join(event['queries'])}: {event['found']} found"
    if kind == "page_read":
        return f"{event['url']}: {event['verdict']}"
    if kind == "model_called":
        return f"calling {event['model']}"
    if kind == "tool_called":
        return f"{event['name']} {event['summary']}"
    if kind == "phase_started":
        return str(event["message"])
    if kind == "cycle_evaluated":
        return f"cycle {event['cycle']}: {event['reason']}"
    if kind == "warned":
        return f"warning: {event['message']}"
    return str(event["message"]) if kind == "noted" and not event["is_detail"] else None
