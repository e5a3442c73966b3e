"""The reach of a run follows from its access rules."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from asky.net.reach import is_local_only
from asky.runs.access import Access
from asky.runs.context import LiveRun, RunContext
from asky.runs.feed import RunFeed
from asky.values import Answer


@pytest.mark.parametrize("offline", [True, False])
def test_a_run_reaches_no_further_than_its_access_says(*, offline: bool) -> None:
    seen: list[bool] = []

    async def function(on_answer: Callable[[Answer], None]) -> None:
        seen.append(is_local_only())

    async def main() -> None:
        await LiveRun(RunContext(RunFeed("r1", None), Access(offline=offline))).execute(function)

    anyio.run(main)
    assert seen == [offline]
    assert not is_local_only()
