"""Detection of runs whose process is still alive.

Each such run has a file in a folder next to the store, locked by its process. However a process ends, the system drops
its locks, at once and without its help; and no later process can be mistaken for it, as with a process id. Source:
flock(2).
"""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path


def live_runs(store: Path) -> LiveRuns:
    """Return the live runs of the store at that path."""
    return LiveRuns(store.parent / "running")


class LiveRuns:
    """The locks in one folder, which is created with the first of them.

    If a lock cannot be taken, on a full disk or a file system without locks, the run still counts as live if its file
    could be created, and otherwise does not.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}
        self._again: Counter[str] = Counter()

    def hold(self, run_id: str) -> None:
        """Mark the run as live for the lifetime of this process, or until `release`. Removes files of dead ones.

        A run that is held already, because it is resumed while it ends, must be released as often as it was held.
        """
        if run_id in self._held:  # a second lock on the file would wait for the first one forever
            self._again[run_id] += 1
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._sweep()
            self._held[run_id] = _locked(self._folder / run_id)

    def release(self, run_id: str) -> None:
        """Mark the run as ended; does nothing if this process does not hold it."""
        if self._again[run_id]:
            self._again[run_id] -= 1
            return
        descriptor = self._held.pop(run_id, None)
        if descriptor is not None:
            with suppress(OSError):  # the lock is what counts
                (self._folder / run_id).unlink()
            os.close(descriptor)

    def is_live(self, run_id: str) -> bool:
        """Return whether some process, this one or another, holds the run."""
        try:
            descriptor = os.open(self._folder / run_id, os.O_RDONLY)
        except FileNotFoundError:
            return False
        except OSError:  # unknown: trust the store
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two checks do not see each other
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def any(self) -> bool:
        """Return whether some process holds a run."""
        try:
            runs = os.listdir(self._folder)  # noqa: PTH208 - names alone
        except OSError:
            return False
        return any(map(self.is_live, runs))

    def _sweep(self) -> None:
        for path in self._folder.iterdir():
            with suppress(OSError):
                descriptor = os.open(path, os.O_RDWR)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
                finally:
                    os.close(descriptor)


def _locked(path: Path) -> int:
    """Return a descriptor with the lock on a new file. Raises `OSError` if there are no locks; the file stays then."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:  # else another process has just deleted it
                return descriptor
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)
