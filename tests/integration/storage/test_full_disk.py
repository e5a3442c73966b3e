"""A store on a disk without room: what reads works, and what writes says why it cannot."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.confined import run_confined, small_disk
from tests.support.stores import fill_home

LACKING = pytest.mark.parametrize("lacking", ["room", "inodes"])

# Copies a store to a disk, takes what the disk has left, and runs command lines one after the other.
_COMMANDS = textwrap.dedent(
    """
    import contextlib, io, json, shutil, sys
    from pathlib import Path
    from asky.__main__ import run

    store, disk, lacking = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    for path in store.iterdir():
        (shutil.copytree if path.is_dir() else shutil.copy)(path, disk / path.name)
    with contextlib.suppress(OSError):
        if lacking == "room":
            with (disk / "filler").open("wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
        for number in range(100):
            (disk / str(number)).touch()
    done = []
    for arguments in json.loads(sys.argv[4]):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
        done.append([code, out.getvalue(), err.getvalue()])
    print(json.dumps(done))
    """
)

Done = list[tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill_home(tmp_path)
    return tmp_path


def _run(home: Path, lacking: str, *commands: Sequence[str]) -> Done:
    """What the commands of one process said on a full disk."""
    data, store = home / "asky" / "data", home / "store"
    shutil.copytree(data, store)
    command = [sys.executable, "-c", _COMMANDS, store, data, lacking, json.dumps(commands)]
    no_model = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(home / "no-model")}  # the real one takes a quarter of a minute
    done: Done = json.loads(run_confined(small_disk(data), command, home=home, environ=no_model).stdout)
    return done


@pytest.mark.few(1)
@LACKING
def test_what_reads_works_on_a_full_disk(home: Path, lacking: str) -> None:
    commands = {
        "The moon pulls": ["search", "moon"],
        "The sea rises and falls twice a day.": ["why", "1"],
        "1 citation": ["runs", "list"],
        "How often?": ["runs", "show"],
        '"schema": "asky.run/1"': ["runs", "export"],
        "lab": ["session", "list"],
        "Twice a day": ["session", "show", "lab"],
        "tides.md": ["corpus", "list"],
        "sources      1": ["corpus", "status"],
        "no findings yet": ["memory", "list"],
        "no page has been read yet": ["cache", "list"],
    }
    done = _run(home, lacking, *commands.values())
    for (expected, command), (code, out, err) in zip(commands.items(), done, strict=True):
        assert code == 0, (command, err)
        assert expected.replace(" ", "") in (out + err).replace(" ", ""), command


@pytest.mark.few(1)
@LACKING
def test_what_writes_says_that_the_disk_is_full(home: Path, lacking: str) -> None:
    commands = [
        ["ask", "How often?"],
        ["ask", "-L", "How often?"],
        ["corpus", "add", str(home / "docs")],
        ["memory", "add", "a note"],
        ["session", "rename", "lab", "laboratory"],
        ["agent", "start", "-d", str(home / "docs"), "How often?"],
        ["runs", "list"],
    ]
    *wrote, (_, listed, _) = _run(home, lacking, *commands)
    for code, out, err in wrote:
        assert (code, out.strip()) == (1, "")
        assert f"disk full while saving to {home / 'asky' / 'data' / 'asky.db'}; nothing was changed\n" in err
        assert "hint: free some space" in err
    assert "How often?" in listed


def test_a_check_up_of_a_full_disk_checks_the_store_and_names_the_disk(home: Path) -> None:
    ((code, out, _),) = _run(home, "room", ["doctor", "--json"])
    checks = {each["name"]: each for each in json.loads(out)["checks"]}
    assert code == 1
    assert checks["disk"]["state"] == "problem"
    assert checks["texts"]["state"] == "ok"


# Leaves a log as a killed process does, on a disk without room; without its index where that is to be lost.
_DIE_WITH_A_LOG = textwrap.dedent(
    """
    import contextlib, json, os, subprocess, sys
    from pathlib import Path
    from asky.errors import StoreFull
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database
    from asky.storage.documents import DocumentStore

    path, is_lost = Path(sys.argv[1]), sys.argv[2] == "True"
    if not (child := os.fork()):
        with Database(path).write() as connection:
            connection.execute("INSERT INTO collection(name, created_at) VALUES ('logged', 'now')")
        os._exit(0)
    os.waitpid(child, 0)
    if is_lost:
        Path(f"{path}-shm").unlink()
    with contextlib.suppress(OSError), path.with_name("filler").open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    try:
        database = Database(path)
        print(json.dumps(CorpusStore(database, DocumentStore(database)).collections()))
    except StoreFull as error:
        print(json.dumps([error.message, error.hint]))
    """
)


def _read_with_a_log(tmp_path: Path, *, is_lost: bool) -> list[str]:
    path = tmp_path / "disk" / "asky.db"
    path.parent.mkdir()
    command = [sys.executable, "-c", _DIE_WITH_A_LOG, path, is_lost]
    read: list[str] = json.loads(run_confined(small_disk(path.parent), command, home=tmp_path).stdout)
    return read


def test_what_is_only_in_the_log_of_a_killed_process_is_read_on_a_full_disk(tmp_path: Path) -> None:
    assert _read_with_a_log(tmp_path, is_lost=False) == ["logged"]


def test_a_log_that_cannot_be_read_on_a_full_disk_is_said_and_not_passed_over(tmp_path: Path) -> None:
    message, hint = _read_with_a_log(tmp_path, is_lost=True)
    assert "asky.db-wal holds changes that it lacks, and the disk is full" in message
    assert hint == "free some space and run the command again"
