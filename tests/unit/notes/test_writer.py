from __future__ import annotations

import os
import stat
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from asky.errors import StorageError, StoreBusy, UsageError
from asky.notes.backups import MAX_VERSIONS, NoteBackups
from asky.notes.writer import NoteWriter


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "vault" / "Note.md"
    path.parent.mkdir()
    path.write_bytes(b"old\r\n")
    return path


@pytest.fixture
def writer(tmp_path: Path) -> NoteWriter:
    return NoteWriter(tmp_path / "backups")


def names(note: Path) -> list[str]:
    return sorted(path.name for path in note.parent.iterdir())


def test_new_bytes_replace_the_old_ones_and_mode_and_owner_stay(note: Path, writer: NoteWriter) -> None:
    note.chmod(0o604)
    before = note.stat()
    written = writer.write(note, b"old\r\n", b"new")
    assert (written.outcome, written.path, written.why) == ("written", note, None)
    assert note.read_bytes() == b"new"
    assert stat.S_IMODE(note.stat().st_mode) == 0o604
    assert (note.stat().st_uid, note.stat().st_gid) == (before.st_uid, before.st_gid)
    assert names(note) == ["Note.md"]


def test_backups_are_private_and_outside_of_the_vault(note: Path, writer: NoteWriter, tmp_path: Path) -> None:
    writer.write(note, b"old\r\n", b"new")
    files = [path for path in (tmp_path / "backups").rglob("*") if path.is_file()]
    assert b"old\r\n" in [path.read_bytes() for path in files]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_the_same_bytes_are_not_written(note: Path, writer: NoteWriter) -> None:
    before = note.stat()
    assert writer.write(note, b"old\r\n", b"old\r\n").outcome == "unchanged"
    assert (note.stat().st_ino, note.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    with pytest.raises(UsageError):
        writer.undo(note)


def test_a_note_that_was_changed_meanwhile_is_left_alone(note: Path, writer: NoteWriter) -> None:
    note.write_bytes(b"mine")
    first = writer.write(note, b"old\r\n", b"new", aside=b"the research")
    second = writer.write(note, b"old\r\n", b"new")
    assert note.read_bytes() == b"mine"
    assert (first.outcome, first.path.name, first.path.read_bytes()) == ("aside", "Note.research.md", b"the research")
    assert (second.path.name, second.path.read_bytes()) == ("Note.research 2.md", b"new")
    assert first.why == "it was changed meanwhile"
    assert names(note) == ["Note.md", "Note.research 2.md", "Note.research.md"]


@pytest.mark.parametrize("step", range(1, 11))
def test_a_change_between_any_two_steps_is_seen_or_comes_after(note: Path, tmp_path: Path, step: int) -> None:
    steps = iter(range(1, 100))

    def change() -> None:
        if next(steps) == step:
            note.write_bytes(b"mine")

    written = NoteWriter(tmp_path / "backups", step=change).write(note, b"old\r\n", b"new")
    assert written.outcome == ("aside" if step < 8 else "written")
    assert note.read_bytes() == (b"mine" if step < 10 else b"new")
    assert names(note)[0] == "Note.md"


def test_a_note_that_was_renamed_or_deleted_is_not_made_again(note: Path, writer: NoteWriter) -> None:
    note.rename(note.with_name("Other.md"))
    written = writer.write(note, b"old\r\n", b"new")
    assert written.why == "it was renamed or deleted"
    assert names(note) == ["Note.research.md", "Other.md"]


def test_a_link_is_neither_followed_nor_replaced(note: Path, writer: NoteWriter, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    note.rename(outside)
    note.symlink_to(outside)
    written = writer.write(note, b"old\r\n", b"new")
    assert written.why == "it has become a symbolic link"
    assert note.is_symlink()
    assert outside.read_bytes() == b"old\r\n"


def test_something_else_in_place_of_the_note_is_left_alone(note: Path, writer: NoteWriter) -> None:
    note.unlink()
    os.mkfifo(note)
    assert writer.write(note, b"old\r\n", b"new").why == "it has become something else than a file"


def test_a_read_only_note_stays_and_the_result_is_kept(note: Path, writer: NoteWriter) -> None:
    note.chmod(0o444)
    with pytest.raises(StorageError, match="read-only") as caught:
        writer.write(note, b"old\r\n", b"new")
    assert caught.value.hint is not None
    assert Path(caught.value.hint.removeprefix("the result is in ")).read_bytes() == b"new"
    assert note.read_bytes() == b"old\r\n"
    assert names(note) == ["Note.md"]


def test_a_folder_that_is_gone_loses_no_result(note: Path, writer: NoteWriter) -> None:
    note.unlink()
    note.parent.rmdir()
    with pytest.raises(StorageError) as caught:
        writer.write(note, b"old\r\n", b"new")
    assert caught.value.hint is not None
    assert Path(caught.value.hint.removeprefix("the result is in ")).read_bytes() == b"new"


def test_undo_goes_back_write_by_write(note: Path, writer: NoteWriter) -> None:
    versions = [b"old\r\n", b"\xef\xbb\xbfone", b"two\n", b"three"]
    for old, new in pairwise(versions):
        writer.write(note, old, new)
    for version in reversed(versions[:-1]):
        writer.undo(note)
        assert note.read_bytes() == version
    with pytest.raises(UsageError, match="taken all of it back"):
        writer.undo(note)


def test_undo_does_not_take_back_what_somebody_else_wrote(note: Path, writer: NoteWriter) -> None:
    writer.write(note, b"old\r\n", b"new")
    note.write_bytes(b"new and mine")
    with pytest.raises(UsageError, match="nothing was changed") as caught:
        writer.undo(note)
    assert note.read_bytes() == b"new and mine"
    assert caught.value.hint is not None
    assert Path(caught.value.hint.rpartition(" is in ")[2]).read_bytes() == b"old\r\n"
    note.write_bytes(b"new")
    writer.undo(note)
    assert note.read_bytes() == b"old\r\n"


def test_undo_of_a_deleted_note_says_so(note: Path, writer: NoteWriter) -> None:
    writer.write(note, b"old\r\n", b"new")
    note.unlink()
    with pytest.raises(UsageError, match="renamed or deleted"):
        writer.undo(note)


def test_backups_are_bounded(note: Path, writer: NoteWriter, tmp_path: Path) -> None:
    for number in range(MAX_VERSIONS + 5):
        writer.write(note, note.read_bytes(), b"%d" % number)
    assert len(NoteBackups(tmp_path / "backups", note).versions()) == MAX_VERSIONS
    for _ in range(MAX_VERSIONS):
        writer.undo(note)
    assert note.read_bytes() == b"4"


def test_names_of_any_length_and_letters_work(tmp_path: Path, writer: NoteWriter) -> None:
    for name in ("漢" * 82 + ".md", "a" * 252 + ".md", os.fsdecode(b"\xff.md"), ".md", "x.y.markdown"):
        note = tmp_path / name
        note.write_bytes(b"old")
        assert writer.write(note, b"old", b"new").outcome == "written"
        writer.undo(note)
        assert note.read_bytes() == b"old"


def test_a_lock_that_is_held_is_waited_for_and_then_told(note: Path, tmp_path: Path) -> None:
    backups = NoteBackups(tmp_path / "backups", note)
    with backups.locked(), pytest.raises(StoreBusy), NoteBackups(tmp_path / "backups", note).locked(timeout_s=0):
        pass


def test_threads_of_one_process_wait_for_each_other(note: Path, writer: NoteWriter) -> None:
    outcomes = []

    def write(new: bytes) -> None:
        outcomes.append(writer.write(note, b"old\r\n", new).outcome)

    threads = [threading.Thread(target=write, args=(b"%d" % number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["aside"] * 3 + ["written"]
