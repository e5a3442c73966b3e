"""The user's programs that run in this process: how they end with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_ENDING_S = 10.0  # a program that hangs in the kernel survives even SIGKILL, and is not waited for


class RunningPrograms:
    """Counts the programs that run or start. Thread-safe."""

    def __init__(self) -> None:
        self.is_closed = False
        self._count = 0
        self._changed = threading.Condition()

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Count a program during the body, which has to end it once `is_closed`."""
        with self._changed:
            self._count += 1
        try:
            yield
        finally:
            with self._changed:
                self._count -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Have all programs ended, those that are still starting too, and wait for that: the process may exit then."""
        self.is_closed = True
        with self._changed:
            self._changed.wait_for(lambda: not self._count, _ENDING_S)
