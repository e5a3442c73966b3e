"""Which run is meant, and what its session is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.cli.arguments import as_utf8

if TYPE_CHECKING:
    from asky.cli.workbench import Workbench
    from asky.storage.runs import Run


def find_run(bench: Workbench, run_id: str | None) -> Run:
    """The run with that id or beginning of one, or the last run. Raises `UsageError` without one."""
    return bench.services.runs.find(None if run_id is None else as_utf8(run_id))


def session_name(bench: Workbench, run: Run) -> str | None:
    """The name of the run's session; `None` where it has none, or it was removed."""
    return bench.services.sessions.name_of(run.session_id) if run.session_id is not None else None
