"""Embedding in the background: one process per store embeds what a question has left out, and ends by itself.

The process is born with a lock on a file next to the store; the system drops it however the process ends. The file also
says which process that is and what has gone wrong. It has a fixed size and is written in place, so that a full disk can
be recorded in it. What is left to embed is never recorded: the store knows.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from asky.config.secrets import names_secret

_FILE = "indexing.json"
_FILE_BYTES = 8192
_MAX_PROBLEM_CHARS = 300
_LOCK_TRIES = 100  # of 1 µs each
_LOWEST_PRIORITY = 19


@dataclass(frozen=True, slots=True)
class BackgroundState:
    """Whether a process embeds in the background now, its id, and what ended the last one early, if anything did."""

    is_running: bool = False
    pid: int | None = None
    problem: str | None = None


class BackgroundEmbedding:
    """The background process of the store at the path `store`: starts it, and says how it is.

    `command` returns the arguments with which Python runs it; the descriptor of the locked file follows as the last
    one. Thread-safe.
    """

    def __init__(self, store: Path, command: Callable[[], Sequence[str]]) -> None:
        self._store = store.absolute()
        self._command = command

    def state(self) -> BackgroundState:
        """Return how the process is; costs a few system calls."""
        try:
            descriptor = os.open(_file_of(self._store), os.O_RDONLY)
        except OSError:
            return BackgroundState()
        try:
            said = _read(descriptor)
            is_locked = not _locked(descriptor, fcntl.LOCK_SH)  # shared: two readers do not see each other
        finally:
            os.close(descriptor)
        # A process that works for the store at its old place is about to end.
        is_running = is_locked and _identity(Path(str(said.get("store")))) == _identity(self._store)
        pid, problem = said.get("pid"), said.get("problem")
        return BackgroundState(
            is_running,
            pid if is_running and isinstance(pid, int) else None,
            problem if not is_running and isinstance(problem, str) else None,
        )

    def start(self) -> bool:
        """Start the process unless there is one; return whether there is one now. Nothing waits for it.

        It is born with the lock: of two that start it at once, one does.
        """
        try:
            descriptor = os.open(_file_of(self._store), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:  # the caller says what to do instead
            return False
        try:
            if not _taken(descriptor):
                return self.state().is_running
            _write(descriptor, self._store)  # all that the file will ever take
            process = _start([*self._command(), str(descriptor)], descriptor)
            # A program that goes on, such as a chat or a server, must notice its end: else it stays as a zombie.
            threading.Thread(target=process.wait, name="asky-indexing", daemon=True).start()
            with suppress(OSError):
                _write(descriptor, self._store, pid=process.pid)
        except (OSError, ValueError):  # a full disk, too many processes
            return False
        finally:
            os.close(descriptor)
        return True


def _start(arguments: Sequence[str], inherited: int) -> subprocess.Popen[bytes]:
    """Start Python without a terminal, in a session of its own; it is given no secrets."""
    kept = {name: value for name, value in os.environ.items() if not names_secret(name)}
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "HF_HUB_OFFLINE": "1"},
        cwd="/",  # no folder is kept from being moved or unmounted
        start_new_session=True,
        pass_fds=(inherited,),
    )


# in the process


class StoreGone(Exception):
    """The store was moved or deleted."""


class Job:
    """The work of the process that was born with the lock on `descriptor`."""

    def __init__(self, store: Path, descriptor: int) -> None:
        self._store = store
        self._descriptor = descriptor
        self._identity = _identity(store)
        os.set_inheritable(descriptor, False)

    def require_store(self) -> None:
        """Raise `StoreGone` unless the store is still the file that it was: 2 µs."""
        if self._identity is None or _identity(self._store) != self._identity:
            raise StoreGone

    def fail(self, problem: str) -> None:
        """Record what keeps the rest from being embedded."""
        with suppress(OSError):
            _write(self._descriptor, self._store, pid=os.getpid(), problem=problem[:_MAX_PROBLEM_CHARS])

    def pause(self) -> None:
        """Drop the lock: a question that finds something missing from now on starts a process of its own."""
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def resume(self) -> bool:
        """Take the lock again; return `False` if another process has it by now."""
        return _taken(self._descriptor)


def lower_priority() -> None:
    """Give way to every other process, also to those of other sessions.

    Linux may group the processes of a session and weigh the groups alone. Source: sched(7), "The autogroup feature".
    """
    with suppress(OSError):
        os.nice(_LOWEST_PRIORITY)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_LOWEST_PRIORITY), "ascii")


# the file


def _file_of(store: Path) -> Path:
    return store.with_name(_FILE)


def _write(descriptor: int, store: Path, *, pid: int | None = None, problem: str | None = None) -> None:
    """Replace the content of the file. Raises `OSError`, and `ValueError` if the path is too long to be said."""
    text = json.dumps({"pid": pid, "store": str(store), "problem": problem}).encode("ascii")
    if len(text) >= _FILE_BYTES:
        raise ValueError
    os.pwrite(descriptor, text.ljust(_FILE_BYTES - 1) + b"\n", 0)


def _read(descriptor: int) -> dict[str, object]:
    try:
        found = json.loads(os.pread(descriptor, _FILE_BYTES, 0))
    except (OSError, ValueError):  # read while it was written
        return {}
    return found if isinstance(found, dict) else {}


def _taken(descriptor: int) -> bool:
    """Take the lock of the open file; return whether that succeeded. Whoever asks for the state has it for 10 µs."""
    return any(_locked(descriptor, fcntl.LOCK_EX) for _ in range(_LOCK_TRIES))


def _locked(descriptor: int, kind: int) -> bool:
    """Try to lock the open file; return whether that succeeded. Closing the file unlocks it."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
