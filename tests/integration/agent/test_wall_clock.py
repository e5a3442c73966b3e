"""A wall clock that is set forwards and backwards by hours during a run of the agent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import cycle
from pathlib import Path

import anyio
import pytest

from asky.app.asky import Asky
from asky.app.requests import RunLimits
from tests.integration.agent.test_resuming import facts_of, killed, resumed
from tests.support.agent_lab import AgentLab

LIMIT_S = 3_000


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[AgentLab]:
    with AgentLab(tmp_path) as opened:
        yield opened


def with_a_clock_that_jumps(asky: Asky) -> Asky:
    """Have each reading of the store's clock be hours before or after the one before it."""
    hours = cycle((0, 9, -30, 2, 26, -5))

    def read() -> str:
        moment = datetime.now(timezone.utc) + timedelta(hours=next(hours))
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    asky.services.database.clock = read
    return asky


def test_budgets_deadlines_events_and_resumption_do_not_follow_it(lab: AgentLab) -> None:
    limits = RunLimits(None, None, None, LIMIT_S)
    whole = lab.research(model="far", limits=limits)
    expected, calls = facts_of(lab.asky.agent.report(whole.run).encode()), len(lab.endpoint.requests)
    run_id = killed(lab, "process", 2)
    asky = with_a_clock_that_jumps(lab.asky)
    assert asky.agent.status(run_id) == "interrupted"
    resumed(asky, run_id)
    assert facts_of(asky.agent.report(run_id).encode()) == expected
    assert len(lab.endpoint.requests) == 2 * calls
    again = lab.research(model="far", limits=limits)
    assert facts_of(asky.agent.report(again.run).encode()) == expected
    assert 0 < again.usage.seconds < LIMIT_S / 5
    assert asky.agent.find() == again.run
    for each in (run_id, again.run):
        events = anyio.run(asky.runs.events_since, each)
        assert [envelope.seq for envelope in events] == list(range(1, len(events) + 1))
