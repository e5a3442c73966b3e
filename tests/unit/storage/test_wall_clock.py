"""A wall clock that is set forwards and backwards changes neither the order of runs nor who owns one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.errors import UsageError
from asky.storage.database import Database
from asky.storage.runs import RunStore
from asky.storage.sessions import SessionStore

NOON, YESTERDAY, TOMORROW = (f"2026-03-0{day}T12:00:00.000000Z" for day in (2, 1, 3))


class Clock:
    now = NOON

    def __call__(self) -> str:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path: Path, clock: Clock) -> Iterator[Database]:
    with_clock = Database(tmp_path / "asky.db", clock=clock)
    yield with_clock
    with_clock.close()


@pytest.fixture
def runs(database: Database) -> RunStore:
    return RunStore(database)


def start(runs: RunStore, question: str, session_id: str | None = None) -> str:
    return runs.start(question=question, mode="research", model="m", session_id=session_id).id


def test_runs_are_in_the_order_in_which_they_were_begun(runs: RunStore, database: Database, clock: Clock) -> None:
    session, begun = SessionStore(database).open("tides", mode="research").id, list[str]()
    for clock.now in (TOMORROW, YESTERDAY, NOON):
        begun.append(start(runs, clock.now, session))
        runs.release(begun[-1])
    assert runs.find(None).id == begun[-1]
    assert [each.id for each in runs.recent()] == begun[::-1]
    assert [each.id for each in runs.recent(limit=1, session_id=session)] == begun[-1:]
    assert runs.interrupted() == SessionStore(database).run_ids(session) == begun


@pytest.mark.parametrize("later", [YESTERDAY, TOMORROW])
def test_a_run_belongs_to_its_process_until_that_lets_go_of_it(
    runs: RunStore, database: Database, clock: Clock, tmp_path: Path, later: str
) -> None:
    run = start(runs, "Why are there tides?")
    clock.now = later
    other = RunStore(Database(tmp_path / "asky.db", clock=clock))
    assert (other.find(run).status, other.interrupted()) == ("running", [])
    with pytest.raises(UsageError, match="is still running"):
        other.take_up(run)
    runs.release(run)
    assert (other.find(run).status, other.interrupted()) == ("interrupted", [run])
    other.take_up(run)
    assert runs.find(run).status == "running"
    other.release(run)


def test_entries_stay_in_order_and_what_was_spent_today_counts_after_the_clock_was_set_back(
    runs: RunStore, clock: Clock
) -> None:
    run = start(runs, "Why are there tides?")
    for number, clock.now in enumerate((NOON, TOMORROW, YESTERDAY)):
        runs.record(run, "called", {"prompt_tokens": 10**number, "completion_tokens": 0, "cost_usd": None})
    assert [each.data["prompt_tokens"] for each in runs.ledger(run)] == [1, 10, 100]
    assert runs.spent_today().tokens == 111
