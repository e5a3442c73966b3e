"""Processes that read files, shared by all tests of a process: to start one takes longer than most reading."""

from __future__ import annotations

import atexit
import math
import threading
from functools import cache

from asky.errors import Interrupted
from asky.reading.process.child import Child
from asky.reading.process.pool import ReaderPool
from asky.values import Document


class SharedReaders(ReaderPool):
    """A pool for one test. Closing it ends what can be asked of it; its processes go on with the next test."""

    def __init__(self) -> None:
        super().__init__(workers=0)
        self._is_open = True

    def read(
        self,
        data: bytes,
        *,
        name: str,
        media_type: str,
        url: str | None = None,
        charset: str | None = None,
        keep_chars: int | None = None,
        wait_s: float = math.inf,
    ) -> Document:
        if not self._is_open:
            raise Interrupted
        return _shared().read(
            data,
            name=name,
            media_type=media_type,
            url=url,
            charset=charset,
            keep_chars=keep_chars,
            wait_s=wait_s,
        )

    def close(self) -> None:
        self._is_open = False
        super().close()


@cache
def _shared() -> ReaderPool:
    pool = ReaderPool(workers=2)
    atexit.register(pool.close)
    return pool


class KeptChild(Child):
    """A child that, once its pool is closed, waits for the next pool, unless it is at work or has failed."""

    def __init__(self, memory_bytes: int) -> None:
        super().__init__(memory_bytes)
        self.memory_bytes = memory_bytes

    def kill(self) -> None:
        if not self._is_idle():
            super().kill()

    def close(self) -> None:
        if not self._is_idle():
            super().close()
            return
        with _keeping:
            if self not in _kept:
                _kept.append(self)

    def _is_idle(self) -> bool:
        return self.usable and self.is_running()


_kept: list[KeptChild] = []
_keeping = threading.Lock()


def kept_child(memory_bytes: int) -> Child:
    """A child that an earlier pool has left, or a new one; what `ReaderPool` is given in place of `Child`."""
    with _keeping:
        for child in [each for each in _kept if each.memory_bytes == memory_bytes]:
            _kept.remove(child)
            if child.is_running():
                return child
            Child.close(child)
    return KeptChild(memory_bytes)


@atexit.register
def end_kept_children() -> None:
    """End those that wait."""
    while _kept:
        Child.close(_kept.pop())


def shared_pids() -> set[int]:
    """The processes that stay for the next test."""
    pids = {child._process.pid for child in _kept}
    return pids | {child._process.pid for child in _shared()._children} if _shared.cache_info().currsize else pids
