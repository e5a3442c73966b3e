"""Which runs are under way: real locks, held by real processes that are really killed."""

from __future__ import annotations

import fcntl
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import _GeneratorContextManager, contextmanager
from pathlib import Path

import pytest

from asky.errors import StorageError, UsageError
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.liveness import LiveRuns
from asky.storage.runs import RunStore
from asky.storage.session_removal import SessionRemoval
from tests.support.asky_command import clean_environment
from tests.support.stores import FilledStore

HOLDER = """
import sys
from pathlib import Path
from asky.storage.database import Database
from asky.storage.runs import RunStore

runs = RunStore(Database(Path(sys.argv[1])))
print(runs.start(question="?", mode="lean", model="m", session_id=None).id, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "asky.db"


@pytest.fixture
def runs(store: Path) -> Iterator[RunStore]:
    database = Database(store)
    yield RunStore(database)
    database.close()


@contextmanager
def another_process(store: Path, program: str = HOLDER) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that is busy with a run, and the run's id."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=clean_environment(store.parent),
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_a_run_is_running_as_long_as_its_process_lives_and_interrupted_after_it_was_killed(
    store: Path, runs: RunStore
) -> None:
    with another_process(store) as (process, run_id):
        assert runs.find(run_id).status == "running"
        process.kill()
        process.wait()
        assert runs.find(run_id).status == "interrupted"
        assert [run.status for run in runs.recent(limit=9)] == ["interrupted"]


def test_a_run_of_this_process_is_running_until_it_ends(store: Path, runs: RunStore) -> None:
    run = runs.start(question="?", mode="lean", model="m", session_id=None)
    assert run.status == runs.find(run.id).status == "running"
    runs.finish(run.id, "cancelled", None)
    runs.release(run.id)
    assert runs.find(run.id).status == "cancelled"
    assert list((store.parent / "running").iterdir()) == []


def test_what_a_killed_process_leaves_is_tidied_up_and_what_a_live_one_holds_is_not(
    store: Path, runs: RunStore
) -> None:
    with another_process(store) as (dead, killed), another_process(store) as (_, live):
        dead.kill()
        dead.wait()
        own = runs.start(question="?", mode="lean", model="m", session_id=None)
        assert {path.name for path in (store.parent / "running").iterdir()} == {live, own.id}
        assert [runs.find(id_).status for id_ in (killed, live, own.id)] == ["interrupted", "running", "running"]


def test_a_process_that_a_run_started_does_not_keep_it_alive(store: Path, runs: RunStore) -> None:
    child = "subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'], close_fds=False)"
    with another_process(store, HOLDER.replace("print(", f"import subprocess; {child}\nprint(")) as (process, run_id):
        process.kill()
        process.wait()
        assert runs.find(run_id).status == "interrupted"


def test_a_run_that_ends_while_it_is_looked_at_is_not_called_interrupted(store: Path, runs: RunStore) -> None:
    run = runs.start(question="?", mode="lean", model="m", session_id=None)
    other = Database(store)
    with other.read() as connection:
        row = connection.execute("SELECT * FROM run").fetchone()
    runs.finish(run.id, "finished", None)
    runs.release(run.id)
    seen = RunStore(other)._run(row)
    other.close()
    assert (seen.status, seen.finished_at is None) == ("finished", False)


def test_a_run_whose_end_could_not_be_written_is_interrupted_once_its_process_lets_go(runs: RunStore) -> None:
    run = runs.start(question="?", mode="lean", model="m", session_id=None)
    come_to_nothing(runs, lambda: runs.finish(run.id, "failed", None))
    assert runs.find(run.id).status == "running"
    for _ in range(2):
        runs.release(run.id)
        assert runs.find(run.id).status == "interrupted"
    runs.take_up(run.id)
    assert runs.find(run.id).status == "running"


def test_a_process_lets_go_of_a_run_also_where_its_file_cannot_be_removed(store: Path, runs: RunStore) -> None:
    run = runs.start(question="?", mode="lean", model="m", session_id=None)
    file = store.parent / "running" / run.id
    file.unlink()
    file.mkdir()  # which no unlink removes
    held = len(os.listdir("/proc/self/fd"))
    runs.release(run.id)
    assert len(os.listdir("/proc/self/fd")) == held - 1


def test_what_is_held_already_is_not_waited_for(store: Path) -> None:
    live = LiveRuns(store.parent / "running")
    live.hold("run")
    live.hold("run")
    assert live.is_live("run")


def test_a_run_counts_as_running_until_its_end_is_committed(store: Path, runs: RunStore) -> None:
    run = runs.start(question="?", mode="lean", model="m", session_id=None)
    other = Database(store)
    seen = RunStore(other)
    with runs.steps.together():
        runs.finish(run.id, "finished", None)
        during = [seen.find(run.id).status, *(each.status for each in seen.recent())]
        assert seen.interrupted() == []
    assert during == ["running", "running"]
    assert seen.find(run.id).status == "finished"
    other.close()


def test_a_run_that_ends_while_runs_are_listed_is_not_called_interrupted(store: Path, runs: RunStore) -> None:
    """The list is held where it looks for each run's process: at a pipe in place of its file."""
    oldest, ending, newest = (runs.start(question="?", mode="lean", model="m", session_id=None).id for _ in range(3))
    pipes = [store.parent / "running" / id_ for id_ in (newest, ending)]
    for pipe in pipes:
        pipe.unlink()
        os.mkfifo(pipe)
    other, seen = Database(store), []
    listing = threading.Thread(target=lambda: seen.extend(RunStore(other).recent()))
    listing.start()
    first = os.open(pipes[0], os.O_WRONLY)  # it has read its rows, and looks for the process of the first
    second = Database(store)
    RunStore(second).finish(ending, "finished", None)
    last = os.open(pipes[1], os.O_WRONLY)
    listing.join()
    for descriptor in (first, last):
        os.close(descriptor)
    for database in (other, second):
        database.close()
    assert [(run.id, run.status) for run in seen] == [
        (newest, "interrupted"),
        (ending, "finished"),
        (oldest, "running"),
    ]


def come_to_nothing(runs: RunStore, write: Callable[[], object]) -> None:
    """Do what `write` does in a transaction that fails."""

    def fail() -> None:
        with runs.steps.together():
            write()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


class Announced(Database):
    """A store that tells when somebody wants to write."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.wanted = threading.Event()

    def write(self) -> _GeneratorContextManager[sqlite3.Connection]:
        self.wanted.set()
        return super().write()


def test_a_session_is_not_removed_under_a_run_that_begins_meanwhile(tmp_path: Path) -> None:
    with FilledStore(tmp_path) as store:
        session = store.sessions.open("sea", mode="lean")
        other, raised = Announced(store.database.path), []
        other.wanted.clear()

        def remove() -> None:
            documents = DocumentStore(other)
            try:
                SessionRemoval(other, CorpusStore(other, documents), documents).remove(session.id)
            except UsageError as error:
                raised.append(error.message)

        removing = threading.Thread(target=remove)
        with store.database.write():
            removing.start()
            assert other.wanted.wait(20)  # what it looks at before its turn, it has seen
            run = store.runs.start(question="?", mode="lean", model="m", session_id=session.id)
        removing.join()
        assert raised == ["a question is being answered in sea"]
        assert store.runs.find(run.id).session_id == session.id
        store.runs.finish(run.id, "finished", None)
        assert store.session_removal.remove(session.id) == 1
        other.close()


def test_a_run_does_not_begin_in_a_session_that_is_removed_meanwhile(tmp_path: Path) -> None:
    with FilledStore(tmp_path) as store:
        session = store.sessions.open("sea", mode="lean")
        other, raised = Announced(store.database.path), []
        other.wanted.clear()

        def start() -> None:
            try:
                RunStore(other).start(question="?", mode="lean", model="m", session_id=session.id)
            except StorageError as error:
                raised.append(error.message)

        starting = threading.Thread(target=start)
        with store.database.write():
            starting.start()
            assert other.wanted.wait(20)
            with store.database.write() as connection:
                connection.execute("DELETE FROM session")
        starting.join()
        assert raised == ["another command has removed data that this one needs"]
        assert store.runs.recent() == []
        assert not any((store.data / "running").glob("*"))
        other.close()


def test_a_run_that_was_removed_is_not_taken_up(store: Path, runs: RunStore) -> None:
    with pytest.raises(UsageError, match="run gone was removed meanwhile"):
        runs.take_up("gone")


def test_a_run_that_is_taken_up_before_its_process_lets_go_of_it_stays_held(store: Path, runs: RunStore) -> None:
    run_id = runs.start(question="?", mode="lean", model="m", session_id=None).id
    runs.finish(run_id, "cancelled", None)
    runs.take_up(run_id)
    database = Database(store)
    other = RunStore(database)
    runs.release(run_id)  # by what has ended
    assert other.find(run_id).status == "running"
    with pytest.raises(UsageError, match="still running"):
        other.take_up(run_id)
    runs.release(run_id)
    assert other.find(run_id).status == "interrupted"
    database.close()


def test_a_store_whose_folder_cannot_be_written_can_still_tell(store: Path, runs: RunStore) -> None:
    run = runs.start(question="?", mode="lean", model="m", session_id=None)
    folder = store.parent / "running"
    os.chmod(folder, 0o500)
    try:
        assert runs.find(run.id).status == "running"
    finally:
        os.chmod(folder, 0o700)


def test_a_lock_that_cannot_be_had_is_no_reason_not_to_run(store: Path, runs: RunStore) -> None:
    (store.parent / "running").write_text("not a folder")
    run = runs.start(question="?", mode="lean", model="m", session_id=None)
    runs.finish(run.id, "finished", None)
    assert runs.find(run.id).status == "finished"


def test_a_file_that_is_swept_away_as_it_is_locked_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with path.open("w") as sweeping:
        fcntl.flock(sweeping, fcntl.LOCK_EX)
        live, deadline = LiveRuns(tmp_path), time.monotonic() + 20
        holding = threading.Thread(target=live.hold, args=("run",))
        holding.start()
        waits = re.compile(rf"-> FLOCK .*:{path.stat().st_ino} ")
        while time.monotonic() < deadline and not waits.search(Path("/proc/locks").read_text()):
            os.sched_yield()
        path.unlink()
    holding.join()
    assert LiveRuns(tmp_path).is_live("run")
    live.release("run")
    assert not LiveRuns(tmp_path).is_live("run")
