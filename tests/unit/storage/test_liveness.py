"""Which runs are under way: real locks, held by real processes that are really killed."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asky.storage.database import Database
from asky.storage.liveness import LiveRuns
from asky.storage.runs import RunStore
from tests.support.asky_command import clean_environment

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
    runs.finish(run.id, "finished", {"answer": "yes"})
    seen = RunStore(other)._run(row)
    other.close()
    assert (seen.status, seen.answer) == ("finished", {"answer": "yes"})


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
    live.let_go("run")
    assert not LiveRuns(tmp_path).is_live("run")
