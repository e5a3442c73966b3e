from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from asky.llm.port import ModelUsage
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.migrations import APPLICATION_ID, MIGRATIONS
from asky.storage.runs import Outcome, RunStore, Spent, start_of_day
from asky.storage.session_removal import SessionRemoval
from asky.storage.sessions import SessionStore

MIDNIGHT = "2026-03-02T00:00:00.000000Z"


class Clock:
    now = "2026-03-02T12:00:00.000000Z"

    def __call__(self) -> str:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path: Path, clock: Clock) -> Iterator[Database]:
    database = Database(tmp_path / "asky.db", clock=clock)
    yield database
    database.close()


@pytest.fixture
def runs(database: Database) -> RunStore:
    return RunStore(database)


@pytest.fixture
def spend(runs: RunStore) -> Callable[..., str]:
    def spend(*calls: ModelUsage, ends: Outcome | None = "finished", session_id: str | None = None) -> str:
        run = runs.start(question="?", mode="lean", model="m", session_id=session_id)
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
    assert runs.spent_today(excluding=own) == Spent(110, 0.5)


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


def test_what_a_removed_session_spent_still_counts_for_its_day(
    runs: RunStore, spend: Callable[..., str], database: Database
) -> None:
    documents = DocumentStore(database)
    session = SessionStore(database).open("costly", mode="lean")
    spend(ModelUsage(100, 10, 0.5), session_id=session.id)
    removed = spend(ModelUsage(200, 20, None), session_id=session.id)
    SessionRemoval(database, CorpusStore(database, documents), documents).remove(session.id)
    assert runs.recent(limit=9) == []
    assert runs.spent_today() == Spent(330, 0.5)
    assert runs.spent_today(excluding=removed) == Spent(110, 0.5)


def test_what_a_run_used_is_known_with_and_without_a_price(runs: RunStore, spend: Callable[..., str]) -> None:
    priced, free, mixed = (
        spend(ModelUsage(100, 10, 0.5), ModelUsage(1, 1, 0.25)),
        spend(ModelUsage(5, 5, None)),
        spend(ModelUsage(1, 0, None), ModelUsage(2, 0, 0.5)),
    )
    idle = spend()
    assert runs.spent_by_run([priced, free, mixed, idle]) == {priced: (112, 0.75), free: (10, None), mixed: (3, 0.5)}


def test_a_store_of_the_first_schema_keeps_its_runs_and_what_they_spent(tmp_path: Path, clock: Clock) -> None:
    old = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    MIGRATIONS[0](old)
    old.execute("PRAGMA user_version=1")
    old.execute(f"PRAGMA application_id={APPLICATION_ID}")
    for run_id, status in (("r1", "finished"), ("r2", "running")):
        old.execute(
            "INSERT INTO run(id, mode, question, model, status, started_at) VALUES (?, 'lean', 'why?', 'm', ?, ?)",
            (run_id, status, MIDNIGHT),
        )
    calls = [
        ("r1", "2026-03-01T23:00:00.000000Z", {"prompt_tokens": 7, "completion_tokens": 3, "cost_usd": 1.0}),
        ("r1", MIDNIGHT, {"prompt_tokens": 100, "completion_tokens": 10, "cost_usd": 0.5}),
        ("r2", MIDNIGHT, {"prompt_tokens": 5, "completion_tokens": -9, "cost_usd": None}),
    ]
    for run_id, at, usage in calls:
        old.execute(
            "INSERT INTO ledger(run_id, at, kind, data) VALUES (?,?,'called',?)", (run_id, at, json.dumps(usage))
        )
    old.execute(
        "INSERT INTO ledger(run_id, at, kind, data) VALUES ('r1', ?, 'asked', '{\"prompt_tokens\": 5}')", (MIDNIGHT,)
    )
    old.close()

    database = Database(tmp_path / "old.db", clock=clock)
    runs = RunStore(database)
    assert runs.spent_today() == Spent(115, 0.5)
    assert runs.spent_by_run(["r1", "r2"]) == {"r1": (120, 1.5), "r2": (5, None)}
    assert [run.status for run in runs.recent(limit=9)] == ["interrupted", "finished"]
    runs.record("r1", "called", asdict(ModelUsage(1, 1, 0.25)))
    assert runs.spent_today() == Spent(117, 0.75)
    database.close()
