"""The database file: opening, refusing, and what its errors say."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from asky.errors import StorageError, StoreBusy, StoreDamaged, StoreTooNew, UsageError
from asky.storage.database import BUSY_TRIES, Database
from asky.storage.migrations import MIGRATIONS


def test_a_new_store_is_private_and_in_wal_mode(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "asky.db"
    database = Database(path)
    with database.read() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 30_000
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # what was committed survives a power cut
        assert connection.execute("PRAGMA secure_delete").fetchone()[0] == 1  # and what was removed does not
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    database.close()


def test_opening_twice_migrates_once_and_keeps_what_is_there(tmp_path: Path) -> None:
    first = Database(tmp_path / "asky.db")
    with first.write() as connection:
        connection.execute("INSERT INTO collection(name, created_at) VALUES ('kept', 'now')")
    first.close()
    second = Database(tmp_path / "asky.db")
    with second.read() as connection:
        assert connection.execute("SELECT name FROM collection").fetchone()["name"] == "kept"
        assert connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    second.close()


def test_a_newer_schema_is_refused_untouched_with_both_versions_named(tmp_path: Path) -> None:
    path = tmp_path / "asky.db"
    Database(path).close()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version=99")
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=rf"schema 99.*up to {len(MIGRATIONS)}"):
        Database(path)
    assert path.read_bytes() == before


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "asky.db"
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE theirs (x)")
    raw.commit()
    raw.close()
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="another program"):
        Database(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "asky.db"
    path.write_bytes(b"not a database at all, but long enough to be read as one" * 200)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged):
        Database(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("place", ["a-folder", "a-file/asky.db"])
def test_a_place_that_cannot_hold_a_store_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "a-file").touch()
    with pytest.raises(StorageError, match=f"cannot write .*{place}"):
        Database(tmp_path / place)


def test_bytes_that_are_no_text_are_refused_by_name(tmp_path: Path) -> None:
    database = Database(tmp_path / "asky.db")
    with pytest.raises(UsageError, match=r"not UTF-8: 'q\\udcff'"), database.write() as connection:
        connection.execute("INSERT INTO collection(name, created_at) VALUES (?, 'now')", ("q\udcff",))
    with database.write() as connection:  # the transaction is over
        assert connection.execute("SELECT count(*) FROM collection").fetchone()[0] == 0
    database.close()


def test_a_failed_transaction_changes_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "asky.db")
    with pytest.raises(RuntimeError), database.write() as connection:  # noqa: PT012 - the transaction is what is tested
        connection.execute("INSERT INTO collection(name, created_at) VALUES ('x', 'now')")
        raise RuntimeError
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM collection").fetchone()[0] == 0
    database.close()


def test_a_transaction_inside_a_transaction_belongs_to_it(tmp_path: Path) -> None:
    database = Database(tmp_path / "asky.db")
    with pytest.raises(RuntimeError), database.write():  # noqa: PT012 - the transaction is what is tested
        with database.write() as inner:
            inner.execute("INSERT INTO collection(name, created_at) VALUES ('x', 'now')")
        raise RuntimeError
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM collection").fetchone()[0] == 0
    database.close()


def write_while_locked(path: Path, asked: list[str], *, released_at: int | None) -> None:
    """Write to a store that another process holds until the given try to begin. `asked` gets what SQLite is asked."""
    database = Database(path, busy_timeout_ms=20)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    def note(statement: str) -> None:
        asked.append(statement)
        if asked.count("BEGIN IMMEDIATE") == released_at and holder.in_transaction:
            holder.execute("ROLLBACK")

    try:
        with database.read() as connection:
            connection.set_trace_callback(note)
        with database.write() as connection:
            connection.execute("DELETE FROM collection")
    finally:
        holder.close()
        database.close()


def test_a_writer_that_was_passed_over_tries_again(tmp_path: Path) -> None:
    asked: list[str] = []
    write_while_locked(tmp_path / "asky.db", asked, released_at=BUSY_TRIES)
    assert asked[: BUSY_TRIES + 1] == ["BEGIN IMMEDIATE"] * BUSY_TRIES + ["DELETE FROM collection"]


def test_a_store_that_others_hold_all_the_time_is_busy_after_three_tries(tmp_path: Path) -> None:
    asked: list[str] = []
    with pytest.raises(StoreBusy, match=r"locked by another process for over 0\.06 s"):
        write_while_locked(tmp_path / "asky.db", asked, released_at=None)
    assert asked == ["BEGIN IMMEDIATE"] * 3


def test_the_ledger_refuses_to_be_rewritten(tmp_path: Path) -> None:
    database = Database(tmp_path / "asky.db")
    with database.write() as connection:
        connection.execute(
            "INSERT INTO run(id, mode, question, model, status, started_at)"
            " VALUES ('r', 'm', 'q', 'm', 'running', 'now')"
        )
        connection.execute("INSERT INTO ledger(run_id, at, kind, data) VALUES ('r', 'now', 'shown', '{}')")
    with pytest.raises(Exception, match="append-only"), database.write() as connection:
        connection.execute("UPDATE ledger SET kind = 'forged'")
    database.close()


def test_threads_that_have_ended_leave_no_connection_behind(tmp_path: Path) -> None:
    database = Database(tmp_path / "asky.db")

    def read() -> None:
        with database.read() as connection:
            connection.execute("SELECT 1")

    for _ in range(20):
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    open_files = sum(Path(f"/proc/self/fd/{each}").resolve() == database.path for each in os.listdir("/proc/self/fd"))
    database.close()
    assert open_files <= 4  # this thread's, the last one's, and what SQLite keeps to be used again


def test_a_connection_is_not_closed_under_a_thread_that_uses_it(tmp_path: Path) -> None:
    database = Database(tmp_path / "asky.db")
    used, go_on, read = threading.Event(), threading.Event(), list[int]()

    def use() -> None:
        with database.read() as connection:
            used.set()
            go_on.wait(60)
            read.append(connection.execute("SELECT 7").fetchone()[0])

    user, closer = threading.Thread(target=use), threading.Thread(target=database.close)
    user.start()
    used.wait(60)
    closer.start()
    closer.join(0.2)  # before, it was closed by then
    go_on.set()
    user.join()
    closer.join()
    assert read == [7]


def test_a_folder_in_the_place_of_the_store_is_to_be_moved_away(tmp_path: Path) -> None:
    (tmp_path / "asky.db").mkdir()
    with pytest.raises(StorageError, match="Is a directory") as caught:
        Database(tmp_path / "asky.db")
    assert "move it away" in str(caught.value.hint)
