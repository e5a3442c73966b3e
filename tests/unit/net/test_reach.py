"""What code may connect to is decided around a run, for all of its tasks and threads and for no others."""

from __future__ import annotations

import anyio
import pytest

from asky.concurrency import in_thread
from asky.errors import SourceRefused
from asky.net.reach import is_local_only, reach, require_reachable, require_searchable


def test_only_this_machine_can_be_reached_where_that_is_the_rule() -> None:
    require_reachable("example.org")
    with reach(local_only=True):
        for host in ("127.0.0.1", "::1", "localhost"):
            require_reachable(host)
        for host in ("example.org", "10.0.0.1", "127.0.0.1.example.org", ""):
            with pytest.raises(SourceRefused, match="is not this machine"):
                require_reachable(host)
        with pytest.raises(SourceRefused, match="searxng searches the web"):
            require_searchable("searxng")
    require_searchable("searxng")


def test_what_is_inside_cannot_reach_further() -> None:
    with reach(local_only=True), reach(local_only=False):
        assert is_local_only()
    assert not is_local_only()


def test_each_run_has_its_own_reach_in_all_tasks_and_threads() -> None:
    seen: dict[bool, list[bool]] = {True: [], False: []}

    async def note(local_only: bool) -> None:
        await anyio.lowlevel.checkpoint()
        seen[local_only] += [is_local_only(), await in_thread(is_local_only)]

    async def run(local_only: bool) -> None:
        with reach(local_only=local_only):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(note, local_only)
                tasks.start_soon(note, local_only)

    async def main() -> None:
        async with anyio.create_task_group() as runs:
            runs.start_soon(run, True)
            runs.start_soon(run, False)

    anyio.run(main)
    assert seen == {True: [True] * 4, False: [False] * 4}
