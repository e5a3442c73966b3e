"""Writing to a note in processes that are killed, that compete, and that may not write."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from asky.notes.writer import NoteWriter
from tests.support.asky_command import ROOT
from tests.support.confined import bound_by_modes, read_only_disk, run_confined, small_disk
from tests.support.forks import fork, result_of
from tests.support.note_writing import Steps, append_often, undo_until, write_until

OLD = b"# Note\r\n\r\nold " * 5_000
NEW = OLD + b"## Research\r\n" * 250_000
POINTS = 50


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "vault" / "Note.md"
    path.parent.mkdir()
    path.write_bytes(OLD)
    return path


@pytest.mark.slow
def test_a_write_that_is_killed_at_any_step_leaves_the_old_note_or_the_new_one(note: Path, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    steps = Steps()
    NoteWriter(backups, step=steps).write(note, OLD, NEW)
    NoteWriter(backups).undo(note)
    assert steps.count >= POINTS
    found = []
    for last in range(1, steps.count + 1):
        code, _ = result_of(write_until, backups, note, OLD, NEW, last)
        assert code == -9
        found.append(note.read_bytes())
        assert found[-1] in (OLD, NEW)
        NoteWriter(backups).clean_up()
        assert [path.name for path in note.parent.iterdir()] == ["Note.md"]
        if found[-1] == NEW:
            NoteWriter(backups).undo(note)
            assert note.read_bytes() == OLD
    assert {OLD, NEW} == set(found)
    print(
        f"\nkilled at {len(found)} points: {found.count(OLD)} times the old note, {found.count(NEW)} times the new one"
    )
    assert result_of(write_until, backups, note, OLD, NEW, 0) == (0, "written")


@pytest.mark.slow
def test_an_undo_that_is_killed_at_any_step_can_be_done_again(note: Path, tmp_path: Path) -> None:
    backups = tmp_path / "backups"
    note.write_bytes(b"old")
    writer = NoteWriter(backups)
    writer.write(note, b"old", b"one")
    for last in range(1, 20):
        writer.write(note, b"one", b"two")
        code, _ = result_of(undo_until, backups, note, last)
        if note.read_bytes() == b"two":
            writer.undo(note)
        assert note.read_bytes() == b"one"
        if code == 0:
            break
    writer.undo(note)
    assert note.read_bytes() == b"old"


@pytest.mark.slow
def test_two_processes_that_write_to_one_note_lose_nothing(note: Path, tmp_path: Path) -> None:
    note.write_bytes(b"")
    processes = [fork(append_often, tmp_path / "backups", note, mark, 30) for mark in (b"a", b"b")]
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert sorted(note.read_bytes().split()) == [b"a"] * 30 + [b"b"] * 30


WRITE = """
import sys
from pathlib import Path
from asky.errors import StorageError
from asky.notes.writer import NoteWriter
note = Path(sys.argv[2])
note.exists() or note.write_bytes(b"old")
try:
    NoteWriter(Path(sys.argv[1])).write(note, b"old", b"new" * int(sys.argv[3]))
except StorageError as error:
    print(type(error).__name__, error.message, error.hint, sep="\\n")
    print(note.read_bytes() == b"old", len(list(note.parent.iterdir())))
"""


def outcome(prefix: list[str], tmp_path: Path, note: Path, size: int = 1) -> list[str]:
    command = [sys.executable, "-c", WRITE, tmp_path / "backups", note, size]
    run = run_confined(prefix, command, home=tmp_path / "home", environ={"PYTHONPATH": str(ROOT)})
    return run.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["mode", "disk", "full"])
def test_where_nothing_can_be_written_the_note_stays_and_the_result_is_kept(tmp_path: Path, how: str) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    note, size = vault / "Note.md", 1
    if how == "full":
        prefix, size = small_disk(vault), 2_000_000
    else:
        note.write_bytes(b"old")
        prefix = bound_by_modes() if how == "mode" else read_only_disk(vault)
        vault.chmod(0o500)
    kind, message, hint, rest = outcome(prefix, tmp_path, note, size)
    vault.chmod(0o700)
    assert kind == ("StoreFull" if how == "full" else "StorageError")
    assert str(note) in message
    assert Path(hint.removeprefix("the result is in ")).read_bytes() == b"new" * size
    assert rest == "True 1"
