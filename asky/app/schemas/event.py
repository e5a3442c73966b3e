"""Events and errors as JSON objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from asky.events import event_name
from asky.runs.status_line import status_line
from asky.text.printable import one_line

if TYPE_CHECKING:
    from asky.app.failures import ErrorReport
    from asky.events import Envelope


EVENT = "asky.event/1"


def event_object(envelope: Envelope, mask: Callable[[str], str] = str) -> dict[str, Any]:
    """Return an event as an `asky.event/1` object.

    `event` is the name of the event with words joined by `_`, beside the event's own fields; `seq` numbers the events
    of the `run` from 1, `at` is the time in UTC. `message` says it in plain words, see `status_line`. Secrets are
    masked; of local files, only unusable ones are named.
    """
    from asky.runs.feed import public_fields  # anyio: only for events

    head = {"schema": EVENT, "run": envelope.run, "seq": envelope.seq, "at": envelope.at}
    named = {"event": event_name(envelope.event), "message": status_line(envelope.event, mask)}
    return head | named | public_fields(envelope.event, mask)


def error_object(report: ErrorReport) -> dict[str, Any]:
    """Return an error as an `asky.error/1` object."""
    hint = one_line(report.hint) if report.hint else None
    value = {"schema": "asky.error/1", "code": report.code, "message": one_line(report.message), "hint": hint}
    return value if report.details is None else value | {"details": report.details}
