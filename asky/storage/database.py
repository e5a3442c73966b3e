"""The SQLite file: connections, transactions, and error messages.

Every thread gets its own connection. Writes are `BEGIN IMMEDIATE`, so that a writer waits for its turn instead of
failing when a read is upgraded. The busy timeout is set before the journal mode, because changing the mode needs a lock
too.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from asky.errors import StorageError, StoreBusy, StoreDamaged, StoreFull, StoreTooNew, UsageError
from asky.storage.migrations import APPLICATION_ID, MIGRATIONS
from asky.storage.stored_json import NO_ENTRIES, SEE_DOCTOR

BUSY_TIMEOUT_MS = 30_000
BUSY_TRIES = 3
_WAL_RETRY_S = 0.01
_CLOSING_S = 2.0
_SHOWN_CHARS = 200
_MIN_SPACE_BYTES = 64 * 1024
_INDEX_BYTES = 32 * 1024  # minimum size of the log's index; created whenever the store is opened
_CHECK_PERMISSIONS = "check its permissions, or set ASKY_HOME to another folder"
_FREE_SPACE = "free some space and run the command again"
PAGE_BYTES = 8192  # five 384-d float32 vectors per page; 4096 holds two and wastes a quarter


# A single statement, so a consistent view of the file: another process may be creating the store.
_HEADER = """
    SELECT (SELECT user_version FROM pragma_user_version),
           (SELECT application_id FROM pragma_application_id),
           EXISTS (SELECT 1 FROM sqlite_master)
"""


def utc_now() -> str:
    """Return the time in the format of the store: ISO 8601, UTC, microseconds, `Z`."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(frozen=True, slots=True, eq=False)
class _Connection:
    """The connection of one thread, which holds `in_use` while it uses it."""

    thread: threading.Thread
    opened: sqlite3.Connection
    in_use: threading.RLock


class Database:
    """The store's file. Thread-safe; each process opens its own.

    Opening creates the file (mode 0600) and its folder (0700) and applies missing migrations. If an existing file or
    its folder cannot be written, or the disk is full, the file is opened for reading: `read_only` is then true, and
    writing raises `StorageError` or `StoreFull`. Raises `StoreTooNew` for a file of a newer version of asky, which is
    left unchanged, `StoreDamaged` for a file that is not this store, and `StorageError` or `StoreFull` if the file can
    be neither created nor read. A write is tried `BUSY_TRIES` times, and waits up to `busy_timeout_ms` for others each
    time.

    `has_written` is true once this object has begun to write, be it only to a table of its own.

    `ledger_entries` are the templates of the ledger entries that are read, by kind; see `asky.storage.stored_json`.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], str] = utc_now,
        busy_timeout_ms: int = BUSY_TIMEOUT_MS,
        ledger_entries: Mapping[str, Any] = NO_ENTRIES,
    ) -> None:
        self.path = path
        self.ledger_entries = ledger_entries
        self.clock = clock
        self._busy_timeout_ms = busy_timeout_ms
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: list[_Connection] = []
        self.has_written = False
        self.read_only = not _is_writable(path)
        self._has_space = True
        self._uri = path.absolute().as_uri() + (_reading(path) if self.read_only else "")
        try:
            self._open()
        except StoreFull:
            if self.read_only or not path.stat().st_size:
                raise
            self.close()
            self.read_only, self._has_space = True, False
            try:
                self._uri += _reading(path)
            except StorageError as error:
                raise StoreFull(f"{error.message}, and the disk is full", hint=_FREE_SPACE) from None
            self._open()

    def _open(self) -> None:
        with self._explained():
            self._migrate(self._connect().opened)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield this thread's connection, for statements that do not write."""
        with self._explained():
            connection = self._connect()
            with connection.in_use:
                yield connection.opened

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: committed on exit, rolled back on any exception. Inside one, joins it.

        Raises `StoreBusy` after `BUSY_TRIES` waits for other writers, 90 s by default, and `StoreFull` if the disk is
        full; in both cases nothing was changed.
        """
        with self._explained():
            connection = self._connect()
            opened = connection.opened
            with connection.in_use:
                if opened.in_transaction:
                    yield opened
                    return
                self._require_writable()
                _begin(opened)
                self.has_written = True
                with _finishing(opened):
                    yield opened

    def close(self) -> None:
        """Close the connections of all threads. The store remains usable; it will open new ones.

        A thread that nobody waits for may still use its own: SQLite would crash if that was closed under it. After
        `_CLOSING_S` seconds it is left open, and the end of the process closes it.
        """
        with self._lock:
            connections, self._connections = self._connections, []
            self._local = threading.local()
        deadline = time.monotonic() + _CLOSING_S
        for connection in connections:
            if connection.in_use.acquire(timeout=max(0.0, deadline - time.monotonic())):
                connection.opened.close()
                connection.in_use.release()

    def _keep(self, connection: _Connection) -> None:
        """Register a connection of this thread, and close those of finished threads: each question has its own."""
        with self._lock:
            ended = [each for each in self._connections if not each.thread.is_alive()]
            self._connections = [each for each in self._connections if each not in ended]
            self._connections.append(connection)
        for each in ended:
            each.opened.close()

    def _connect(self) -> _Connection:
        connection: _Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            opened = sqlite3.connect(self._uri, uri=True, isolation_level=None, check_same_thread=False)
            opened.row_factory = sqlite3.Row
            for pragma in (
                f"busy_timeout={self._busy_timeout_ms}",
                "foreign_keys=ON",
                "synchronous=FULL",
                "secure_delete=ON",  # removed data is gone from the file too; some builds of SQLite do so anyway
                "temp_store=MEMORY",
                "cache_size=-8192",  # per connection; most pages are read from the map below, so more only costs memory
                "mmap_size=268435456",
            ):
                opened.execute(f"PRAGMA {pragma}")
            connection = _Connection(threading.current_thread(), opened, threading.RLock())
            self._keep(connection)
            self._local.connection = connection
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        found = _version(connection, self.path)
        if found == len(MIGRATIONS):
            return
        self._require_writable()
        if found == 0:
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
        _set_wal(connection, self._busy_timeout_ms)
        with self.write():
            found = _version(connection, self.path)  # another process may have been faster
            for number, migrate in enumerate(MIGRATIONS[found:], start=found + 1):
                migrate(connection)
                connection.execute(f"PRAGMA user_version={number}")
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")

    def _require_writable(self) -> None:
        if not self._has_space:
            raise _full(self.path)
        if self.read_only:
            raise StorageError(f"cannot write {self.path}: it is read-only", hint=_CHECK_PERMISSIONS)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise _explain(error, self.path, BUSY_TRIES * self._busy_timeout_ms / 1000) from error
        except UnicodeEncodeError as error:  # a name from the command line or the disk, in bytes that are no text
            shown = error.object[:_SHOWN_CHARS]
            raise UsageError(f"cannot be stored, because it is not UTF-8: {shown!a}", hint="rename it") from error
        except UnicodeDecodeError as error:  # SQLite's message quotes the store, whose bytes may be invalid text
            detail = error.object[:_SHOWN_CHARS].decode("utf-8", "replace")
            raise StoreDamaged(f"the store {self.path} is damaged: {detail}", hint=SEE_DOCTOR) from error


def _set_wal(connection: sqlite3.Connection, busy_timeout_ms: int) -> None:
    """Turn on write-ahead logging; the file remembers it.

    Two processes that create a new store at once both read its header and both need it exclusively. SQLite lets one
    wait and fails the other with "locked" at once, whatever its busy timeout (seen in 40 of 200 such starts), so that
    one retries.
    """
    give_up_at = time.monotonic() + busy_timeout_ms / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up_at:
                raise
            time.sleep(_WAL_RETRY_S)
        else:
            return


def _begin(connection: sqlite3.Connection) -> None:
    """Wait for the write lock. SQLite's wait is not fair: under contention one process can starve for 30 s."""
    for _ in range(BUSY_TRIES - 1):
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
        else:
            return
    connection.execute("BEGIN IMMEDIATE")


@contextmanager
def _finishing(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit on exit; on any exception, also of the commit itself, roll back an open transaction."""
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors, such as a full disk, have rolled back already
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: Path) -> int:
    found, application, occupied = connection.execute(_HEADER).fetchone()
    if found > len(MIGRATIONS):
        raise StoreTooNew(
            f"the store {path} has schema {found}; this version of asky supports schemas up to {len(MIGRATIONS)}",
            hint="upgrade asky, or point ASKY_HOME to another folder",
        )
    if application not in (0, APPLICATION_ID) or (found == 0 and occupied):
        raise StoreDamaged(
            f"{path} is a database of another program", hint="move it away, or set ASKY_HOME to another folder"
        )
    return int(found)


def _is_writable(path: Path) -> bool:
    """Return whether the store can be written; create it if missing. Raises if it can be neither created nor read."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(path) from error
        if os.path.isfile(path) and os.access(path, os.R_OK):  # noqa: PTH113 - False where nothing can be found out
            return False
        reason = error.strerror or type(error).__name__
        away = "move it away: a file of that name is the store"
        hint = away if error.errno == errno.EISDIR else "set ASKY_HOME to a folder that you own"
        raise StorageError(f"cannot write {path}: {reason}", hint=hint) from error
    return os.access(Path(os.path.realpath(path)).parent, os.W_OK)  # SQLite keeps its log next to the file


def _reading(path: Path) -> str:
    """Return the URI parameters for reading a store that cannot be written.

    Reading a store in WAL mode needs the index of its log too, and SQLite would create it if missing. Without a log
    nobody is writing, and the file can be called immutable. Source: https://sqlite.org/wal.html, "Read-Only Databases".
    """
    real = os.path.realpath(path)
    log, index = Path(f"{real}-wal"), Path(f"{real}-shm")
    if log.exists() and index.exists() and index.stat().st_size >= _INDEX_BYTES:  # else it was begun on a full disk
        return "?mode=ro"
    if log.exists() and log.stat().st_size:
        raise StorageError(
            f"cannot read {path} without writing: {log.name} holds changes that it lacks",
            hint="make both and their folder writable, or copy them to a writable folder and set ASKY_HOME",
        )
    return "?immutable=1"


def _explain(error: sqlite3.DatabaseError, path: Path, waited_s: float) -> StorageError:
    """Return the error that explains an SQLite error to the user."""
    text = str(error)
    cannot_open = "unable to open" in text
    if "disk is full" in text or ((cannot_open or "disk I/O error" in text) and _is_full(path.parent)):
        return _full(path)
    if "disk I/O error" in text:
        name = getattr(error, "sqlite_errorname", None)  # from Python 3.11 on
        return StorageError(
            f"cannot read or write {path}: {text}" + (f" ({name})" if name else ""),
            hint="check quotas and file size limits; the disk may also be failing",
        )
    if "locked" in text or "busy" in text:
        return StoreBusy(f"the store {path} was locked by another process for over {waited_s:g} s")
    if "readonly" in text or cannot_open:
        return StorageError(f"cannot write {path}: {text}", hint=_CHECK_PERMISSIONS)
    if "malformed" in text or "not a database" in text or "corrupt" in text:
        return StoreDamaged(f"the store {path} is damaged: {text}", hint=SEE_DOCTOR)
    if "decode to UTF-8" in text:  # SQLite's message continues with the bytes
        column = re.search(r"column '(\w+)'", text)
        what = f"a text in it ({column[1]})" if column else "a text in it"
        return StoreDamaged(f"the store {path} is damaged: {what} is not UTF-8", hint=SEE_DOCTOR)
    if "FOREIGN KEY" in text:
        return StorageError("another command has removed data that this one needs", hint="run it again", retryable=True)
    if "no such " in text or "has no column" in text:  # the schema was read, and is damaged
        return StoreDamaged(f"the store {path} is damaged: {text}", hint=SEE_DOCTOR)
    return StorageError(f"the store {path} failed: {text}")


def _is_full(folder: Path) -> bool:
    """Return whether a file of the size of the log's index (32 KiB) cannot be created for lack of space or inodes."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < _MIN_SPACE_BYTES or (found.f_files > 0 and found.f_favail == 0)


def _full(path: Path) -> StoreFull:
    return StoreFull(f"disk full while saving to {path}; nothing was changed", hint=_FREE_SPACE)
