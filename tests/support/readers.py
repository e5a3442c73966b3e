"""Readers of files in child processes that all tests of a process share: a start takes longer than most reading."""

from __future__ import annotations

import atexit
import math
from functools import cache

from asky.errors import Interrupted
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


def shared_pids() -> set[int]:
    """The processes that stay for the next test."""
    if not _shared.cache_info().currsize:
        return set()
    return {child._process.pid for child in _shared()._children}
