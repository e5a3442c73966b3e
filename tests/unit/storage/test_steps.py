"""Steps of runs: kept in order, whole or not at all, and gone with their run."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.errors import StoreDamaged, UsageError
from asky.storage.database import Database
from asky.storage.runs import RunStore
from asky.storage.sessions import NewMessage, SessionStore
from asky.storage.steps import Step, StepStore


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "asky.db")
    yield opened
    opened.close()


def begin(database: Database) -> str:
    return RunStore(database).start(question="q", mode="standard", model="m", session_id=None).id


def test_steps_come_back_as_they_were_added(database: Database) -> None:
    steps, run = StepStore(database), begin(database)
    data = {"text": "a \ud800 lone half, ünicode \U0001f30a", "number": 0.1 + 0.2, "nothing": None, "list": [1, [2]]}
    steps.add(run, "noted", "", data)
    steps.add(run, "noted", "key", {"long": "x" * 100_000})
    other = begin(database)
    steps.add(other, "noted", "", {})
    assert steps.of(run) == [Step(0, "noted", "", data), Step(1, "noted", "key", {"long": "x" * 100_000})]
    assert [each.ordinal for each in steps.of(other)] == [0]
    assert steps.of("none") == []
    with database.read() as connection:
        assert connection.execute("SELECT max(length(data)) FROM step").fetchone()[0] < 1000


def test_what_is_written_together_is_kept_together(database: Database) -> None:
    steps, runs, run = StepStore(database), RunStore(database), begin(database)

    def write() -> None:
        with steps.together():
            steps.add(run, "called", "", {})
            runs.record(run, "called", {"prompt_tokens": 5})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write()
    assert (steps.of(run), runs.ledger(run)) == ([], [])


@pytest.mark.parametrize("data", [b"", b"no zlib", zlib.compress(b"{"), zlib.compress(b"\xff{}"), zlib.compress(b"[]")])
def test_a_record_that_cannot_be_read_is_damage_and_no_crash(database: Database, data: bytes) -> None:
    steps, run = StepStore(database), begin(database)
    steps.add(run, "compared", "", {"warnings": []})
    with database.write() as connection:
        connection.execute("UPDATE step SET data = ?", (data,))
    with pytest.raises(StoreDamaged, match=f"the record of run {run} is damaged"):
        steps.of(run)


def test_a_step_takes_the_place_of_another(database: Database) -> None:
    steps, run = StepStore(database), begin(database)
    for number in range(3):
        steps.add(run, "noted", "k", {"n": number})
    steps.replace(run, [Step(1, "set aside", "", {})])
    assert [(each.kind, dict(each.data)) for each in steps.of(run)] == [
        ("noted", {"n": 0}),
        ("set aside", {}),
        ("noted", {"n": 2}),
    ]


def test_only_the_messages_of_that_run_are_forgotten(database: Database) -> None:
    sessions = SessionStore(database)
    session = sessions.open("s", mode="standard")
    mine, other = begin(database), begin(database)
    for run in (mine, other):
        sessions.append(session.id, [NewMessage("user", run)], run_id=run)
    StepStore(database).forget_messages(mine)
    assert [each.content for each in sessions.messages(session.id)] == [other]


def test_a_run_is_taken_up_by_one_process_and_only_where_it_has_not_finished(database: Database) -> None:
    runs, second = RunStore(database), RunStore(database)
    run = begin(database)
    (database.path.parent / "running" / run).unlink()  # as when its process has died
    runs.take_up(run)
    assert runs.find(run).status == "running"
    with pytest.raises(UsageError, match="still running"):
        second.take_up(run)
    runs.finish(run, "cancelled", {"answer": "a part"})
    runs.release(run)
    second.take_up(run)
    taken = runs.find(run)
    assert (taken.status, taken.answer, taken.finished_at) == ("running", None, None)
    second.finish(run, "finished", {})
    with pytest.raises(UsageError, match="has finished"):
        runs.take_up(run)
