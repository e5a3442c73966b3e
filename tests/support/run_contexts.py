"""The context of a run that a test starts by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from asky.events import Listener, ignore
from asky.runs.access import Access
from asky.runs.context import RunContext
from asky.runs.feed import RunFeed
from asky.storage.database import Database
from asky.storage.events import EventStore
from asky.storage.runs import RunStore
from asky.values import Approve, decline


def run_context(
    database: Database,
    listen: Listener = ignore,
    *,
    run_id: str | None = None,
    notes: Callable[[], Sequence[str]] = tuple,
    access: Access | None = None,
    approve: Approve = decline,
) -> RunContext:
    """A run with an id of its own that `listen` hears, or the run `run_id` once more."""
    events = EventStore(database)
    after = events.last(run_id) if run_id is not None else 0
    feed = RunFeed(run_id or RunStore(database).new_id(), events, listen=listen, after=after)
    return RunContext(feed, access or Access(), more_notes=notes, approve=approve)
