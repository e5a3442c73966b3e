"""Which session a question continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.workbench import Workbench
    from asky.storage.sessions import Session


def find_last(bench: Workbench, name: str | None, resume: bool) -> Session | None:
    """The session called `name`, `None` where it is still to be made; with `resume` the one that was used last.

    Raises `UsageError` where there is none to continue. The last session is the last in the store, which is the user's
    own: nothing outside of it is read. One in which nothing was asked is passed over.
    """
    sessions = bench.services.sessions
    if not resume:
        return sessions.find(name) if name is not None else None
    for id_ in sessions.names():
        last = sessions.find(id_)
        if last is not None and (last.messages or sessions.run_ids(id_)):  # or its first one is being answered
            return last
    raise UsageError("there is no session to continue", hint="leave -c out to begin one")
