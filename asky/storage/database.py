"""One SQLite file: connections, transactions, and what went wrong in words.

Every thread gets its own connection. Writes are `BEGIN IMMEDIATE`, so that a writer waits for its turn instead of
failing when a read is upgraded. The busy timeout is set before the journal mode, because changing the mode needs a
lock too.
"""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from asky.errors import StorageError, StoreBusy, StoreDamaged, StoreFull, StoreTooNew, UsageError
from asky.storage.migrations import APPLICATION_ID, MIGRATIONS
from asky.storage.stored_json import SEE_DOCTOR

BUSY_TIMEOUT_MS = 30_000
BUSY_TRIES = 3
_WAL_RETRY_S = 0.01
_SHOWN_CHARS = 200
_SMALLEST_ROOM_BYTES = 64 * 1024
_INDEX_BYTES = 32 * 1024  # of the log, at least; made whenever the store is opened
_CHECK_PERMISSIONS = "check its permissions, or set ASKY_HOME"
_FREE_SPACE = "free some space and run it again"
PAGE_BYTES = 8192  # five 384-d float32 vectors a page; 4096 holds two and wastes a quarter


# One statement, so one moment of the file: another process may be making the store meanwhile.
_HEADER = """
    SELECT (SELECT user_version FROM pragma_user_version),
           (SELECT application_id FROM pragma_application_id),
           EXISTS (SELECT 1 FROM sqlite_master)
"""


def utc_now() -> str:
    """The time as the store writes it: ISO 8601, UTC, microseconds, `Z`."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Database:
    """The store's file. Safe to share between threads; each process opens its own.

    Opening creates the file (mode 0600) and its folder (0700) and applies missing migrations. A file that is there but
    cannot be written, or whose folder cannot, or for which the disk has no room, is opened for reading: `read_only` is
    then true, and writing raises `StorageError` or `StoreFull`. Raises `StoreTooNew` for a file of a newer asky, which
    stays untouched, `StoreDamaged` for a file that is not this store, and `StorageError` or `StoreFull` where the file
    can be neither made nor read.
    """

    def __init__(self, path: Path, *, clock: Callable[[], str] = utc_now) -> None:
        self.path = path
        self.clock = clock
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: list[tuple[threading.Thread, sqlite3.Connection]] = []
        self.read_only = not _is_writable(path)
        self._has_room = True
        self._uri = path.absolute().as_uri() + (_reading(path) if self.read_only else "")
        try:
            self._open()
        except StoreFull:
            if self.read_only or not path.stat().st_size:
                raise
            self.close()
            self.read_only, self._has_room = True, False
            try:
                self._uri += _reading(path)
            except StorageError as error:
                raise StoreFull(f"{error.message}, and the disk is full", hint=_FREE_SPACE) from None
            self._open()

    def _open(self) -> None:
        with self._explained():
            self._migrate(self._connect())

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection, for statements that do not write."""
        with self._explained():
            yield self._connect()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed on leaving, rolled back on any exception. Inside one, joins it.

        Raises `StoreBusy` after 90 s of waiting for other writers and `StoreFull` when the disk is full; in both cases
        nothing was changed.
        """
        with self._explained():
            connection = self._connect()
            if connection.in_transaction:
                yield connection
                return
            self._require_writable()
            _begin(connection)
            with _finishing(connection):
                yield connection

    def close(self) -> None:
        """Close the connections of all threads. The store can still be used; it will open new ones."""
        with self._lock:
            connections, self._connections = self._connections, []
            self._local = threading.local()
        for _, connection in connections:
            connection.close()

    def _keep(self, connection: sqlite3.Connection) -> None:
        """Note a connection of this thread, and close those of threads that have ended: each question has its own."""
        with self._lock:
            ended = [each for each in self._connections if not each[0].is_alive()]
            self._connections = [each for each in self._connections if each not in ended]
            self._connections.append((threading.current_thread(), connection))
        for _, each in ended:
            each.close()

    def _connect(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self._uri, uri=True, isolation_level=None, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            for pragma in (
                f"busy_timeout={BUSY_TIMEOUT_MS}",
                "foreign_keys=ON",
                "synchronous=FULL",
                "secure_delete=ON",  # what was removed is gone from the file too; some builds of SQLite do so anyhow
                "temp_store=MEMORY",
                "cache_size=-8192",  # a connection; most pages are read from the map below, so more only costs memory
                "mmap_size=268435456",
            ):
                connection.execute(f"PRAGMA {pragma}")
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
        _set_wal(connection)
        with self.write():
            found = _version(connection, self.path)  # another process may have been faster
            for number, migrate in enumerate(MIGRATIONS[found:], start=found + 1):
                migrate(connection)
                connection.execute(f"PRAGMA user_version={number}")
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")

    def _require_writable(self) -> None:
        if not self._has_room:
            raise _full(self.path)
        if self.read_only:
            raise StorageError(f"cannot write {self.path}: it is read-only", hint=_CHECK_PERMISSIONS)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise _explain(error, self.path) from error
        except UnicodeEncodeError as error:  # a name from the command line or the disk, in bytes that are no text
            shown = error.object[:_SHOWN_CHARS]
            raise UsageError(f"cannot be kept, because it is not UTF-8: {shown!a}", hint="rename it") from error
        except UnicodeDecodeError as error:  # what SQLite says quotes the store, where bytes are no text any more
            said = error.object[:_SHOWN_CHARS].decode("utf-8", "replace")
            raise StoreDamaged(f"the store {self.path} is damaged: {said}", hint=SEE_DOCTOR) from error


def _set_wal(connection: sqlite3.Connection) -> None:
    """Write-ahead logging, for good: the file remembers it.

    Two processes that make a new store at once both read its header and both want it alone. SQLite lets one wait and
    tells the other "locked" at once, whatever its busy timeout (seen in 40 of 200 such starts), so that one asks again.
    """
    give_up_at = time.monotonic() + BUSY_TIMEOUT_MS / 1000
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
    """Wait for the write lock. SQLite's wait is not fair: in a crowd one process can be passed over for 30 s."""
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
    """Commit on leaving; on any exception, also of the commit itself, roll back what is still open."""
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # some errors, a full disk among them, have rolled back already
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: Path) -> int:
    found, application, occupied = connection.execute(_HEADER).fetchone()
    if found > len(MIGRATIONS):
        raise StoreTooNew(
            f"the store {path} has schema {found}; this asky knows schemas up to {len(MIGRATIONS)}",
            hint="upgrade asky, or point ASKY_HOME to another folder",
        )
    if application not in (0, APPLICATION_ID) or (found == 0 and occupied):
        raise StoreDamaged(f"{path} is a database of another program", hint="move it away, or set ASKY_HOME")
    return int(found)


def _is_writable(path: Path) -> bool:
    """Whether the store can be written; it is made where there is none. Raises if it can be neither made nor read."""
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
    return os.access(Path(os.path.realpath(path)).parent, os.W_OK)  # SQLite keeps its log beside the file


def _reading(path: Path) -> str:
    """The parameters of the URI under which a store that cannot be written can be read.

    Reading a store in WAL mode needs the index of its log too, and SQLite would make it where it is missing. Without a
    log nobody is writing, and the file can be called immutable. Source: https://sqlite.org/wal.html, "Read-Only
    Databases".
    """
    real = os.path.realpath(path)
    log, index = Path(f"{real}-wal"), Path(f"{real}-shm")
    if log.exists() and index.exists() and index.stat().st_size >= _INDEX_BYTES:  # or it was begun on a full disk
        return "?mode=ro"
    if log.exists() and log.stat().st_size:
        raise StorageError(
            f"cannot read {path} without writing: {log.name} holds changes that it lacks",
            hint="make both and their folder writable, or copy them to where they are, and set ASKY_HOME",
        )
    return "?immutable=1"


def _explain(error: sqlite3.DatabaseError, path: Path) -> StorageError:
    """The error of ours that says what an SQLite error means for the user."""
    text = str(error)
    cannot_open = "unable to open" in text
    if "disk is full" in text or ((cannot_open or "disk I/O error" in text) and _is_full(path.parent)):
        return _full(path)
    if "disk I/O error" in text:
        name = getattr(error, "sqlite_errorname", None)  # from Python 3.11 on
        return StorageError(
            f"cannot read or write {path}: {text}" + (f" ({name})" if name else ""),
            hint="a quota or a limit on the size of files may be reached, or the disk is failing",
        )
    if "locked" in text or "busy" in text:
        return StoreBusy(
            f"the store {path} was held by another process for over {BUSY_TRIES * BUSY_TIMEOUT_MS // 1000} s"
        )
    if "readonly" in text or cannot_open:
        return StorageError(f"cannot write {path}: {text}", hint=_CHECK_PERMISSIONS)
    if "malformed" in text or "not a database" in text or "corrupt" in text:
        return StoreDamaged(f"the store {path} is damaged: {text}", hint=SEE_DOCTOR)
    if "decode to UTF-8" in text:  # SQLite's message goes on with the bytes
        column = re.search(r"column '(\w+)'", text)
        what = f"a text in it ({column[1]})" if column else "a text in it"
        return StoreDamaged(f"the store {path} is damaged: {what} is not UTF-8", hint=SEE_DOCTOR)
    if "FOREIGN KEY" in text:
        return StorageError(
            "what this belongs to was removed meanwhile, by another command", hint="run it again", retryable=True
        )
    if "no such " in text or "has no column" in text:  # the schema was read, and is not what it was
        return StoreDamaged(f"the store {path} is damaged: {text}", hint=SEE_DOCTOR)
    return StorageError(f"the store {path} failed: {text}")


def _is_full(folder: Path) -> bool:
    """Whether a file of the size of the log's index (32 KiB) could not be made for want of room or of inodes."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < _SMALLEST_ROOM_BYTES or (found.f_files > 0 and found.f_favail == 0)


def _full(path: Path) -> StoreFull:
    return StoreFull(f"disk full while saving to {path}; nothing was changed", hint=_FREE_SPACE)
