"""Which runs have a process that still lives.

Each such run has a file in a folder beside the store, which its process holds a lock on. However a process ends, the
system drops its locks, at once and without its help; and no later process can be taken for it, as it can by a number.
Source: flock(2).
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path


def live_runs(store: Path) -> LiveRuns:
    """The live runs of the store at that path."""
    return LiveRuns(store.parent / "running")


class LiveRuns:
    """The locks in one folder, which is made with the first of them.

    A lock that cannot be had, on a full disk or a file system without locks, is done without: its run still counts as
    live where its file could be made, and does not where it could not.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}

    def hold(self, run_id: str) -> None:
        """Count the run as live as long as this process lives, or until `let_go`. Tidies up after dead ones."""
        if run_id in self._held:  # a second lock on the file would wait for the first one for ever
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._sweep()
            self._held[run_id] = _locked(self._folder / run_id)

    def let_go(self, run_id: str) -> None:
        """The run has ended; nothing happens where this process does not hold it."""
        descriptor = self._held.pop(run_id, None)
        if descriptor is not None:
            with suppress(OSError):  # the lock is what counts
                (self._folder / run_id).unlink()
            os.close(descriptor)

    def is_live(self, run_id: str) -> bool:
        """Whether some process, this one or another, holds the run."""
        try:
            descriptor = os.open(self._folder / run_id, os.O_RDONLY)
        except FileNotFoundError:
            return False
        except OSError:  # nothing can be found out: as the store says
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two that look do not see each other
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

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
    """A descriptor with the lock on a new file. Raises `OSError` where there are no locks; the file stays then."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:  # or another process has just swept it away
                return descriptor
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)
