from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from asky.llm.port import ModelUsage
from asky.storage.database import Database
from asky.storage.runs import RunStatus, RunStore, Spent, start_of_day

MIDNIGHT = "2026-03-02T00:00:00.000000Z"


class Clock:
    now = "2026-03-02T12:00:00.000000Z"

    def __call__(self) -> str:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def runs(tmp_path: Path, clock: Clock) -> Iterator[RunStore]:
    database = Database(tmp_path / "asky.db", clock=clock)
    yield RunStore(database)
    database.close()


@pytest.fixture
def spend(runs: RunStore) -> Callable[..., str]:
    def spend(*calls: ModelUsage, ends: RunStatus | None = "finished") -> str:
        run = runs.start(question="?", mode="lean", model="m", session_id=None)
        runs.record(run.id, "asked", {"model": "m", "prompt_tokens": 5})
        for call in calls:
            runs.record(run.id, "called", asdict(call))
        if ends is not None:
            runs.finish(run.id, ends, None)
        return run.id

    return spend


def test_nothing_spent_is_zero(runs: RunStore) -> None:
    assert runs.spent_since(MIDNIGHT) == Spent(0, 0.0)


def test_the_calls_of_every_run_count_whatever_became_of_it(runs: RunStore, spend: Callable[..., str]) -> None:
    spend(ModelUsage(100, 10, 0.5), ModelUsage(200, 20, 0.25))
    spend(ModelUsage(1, 1, 0.125), ends="failed")
    spend(ModelUsage(2, 2, 0.125), ends="cancelled")
    spend(ModelUsage(4, 4, None), ends=None)
    assert runs.spent_since(MIDNIGHT) == Spent(344, 1.0)


def test_the_asking_run_can_be_left_out(runs: RunStore, spend: Callable[..., str]) -> None:
    spend(ModelUsage(100, 10, 0.5))
    own = spend(ModelUsage(1_000, 100, 5.0), ends=None)
    assert runs.spent_today(apart_from=own) == Spent(110, 0.5)


def test_a_call_of_yesterday_does_not_count_and_one_of_today_in_a_run_of_yesterday_does(
    runs: RunStore, spend: Callable[..., str], clock: Clock
) -> None:
    clock.now = "2026-03-01T23:59:59.999999Z"
    late = spend(ModelUsage(100, 10, 0.5), ends=None)
    clock.now = MIDNIGHT
    runs.record(late, "called", asdict(ModelUsage(7, 3, 0.5)))
    assert runs.spent_today() == Spent(10, 0.5)


def test_counts_below_nothing_take_nothing_away(runs: RunStore, spend: Callable[..., str]) -> None:
    spend(ModelUsage(100, -50, -1.0), ModelUsage(-3, 5, 0.5))
    assert runs.spent_since(MIDNIGHT) == Spent(105, 0.5)


def test_the_day_begins_at_midnight_utc() -> None:
    assert start_of_day("2026-03-02T23:59:59.999999Z") == MIDNIGHT
    assert start_of_day(MIDNIGHT) == MIDNIGHT
