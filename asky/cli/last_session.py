"""Which session a question continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.workbench import Workbench
    from asky.storage.sessions import Session


def find_last(bench: Workbench, wanted: Session | str | None, resume: bool) -> Session | None:
    """The session as it is now, or the one of that name, `None` where it is still to be made.

    With `resume` it is the one that was used last: the last in the store, which is the user's own, as nothing outside
    of it is read; one in which nothing was asked is passed over. Raises `UsageError` where there is none to continue,
    and where the session `wanted` was removed meanwhile, as its id is no name for a new one.
    """
    sessions = bench.services.sessions
    if not resume:
        if wanted is None or isinstance(wanted, str):
            return sessions.find(wanted) if wanted is not None else None
        found = sessions.find(wanted.id)
        if found is None:
            raise UsageError(
                f"the session {wanted.name} was removed meanwhile", hint="ask again: that begins a new one"
            )
        return found
    for id_ in sessions.names():
        last = sessions.find(id_)
        if last is not None and (last.messages or sessions.run_ids(id_)):  # or its first one is being answered
            return last
    raise UsageError("there is no session to continue", hint="leave -c out to begin one")
