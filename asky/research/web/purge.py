"""Purging of pages, searches and remembered text vectors that are too old or too many."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from asky.errors import StorageError

if TYPE_CHECKING:
    from asky.research.cache import CacheSettings
    from asky.storage.pages import PageTable, SearchTable
    from asky.storage.text_vectors import TextVectorTable

_STALE_TTLS = 7  # a page that can be revalidated is kept this many times its time to live beyond it
_REMEMBERED_TEXTS = 20_000  # vectors of 1.5 kB: 30 MB
_PURGED_AT_ONCE = 50  # pages per transaction, so that nobody waits for long


class Purge:
    """Purges old or excess data in the background. Pages used by a session are kept as long as the session."""

    def __init__(
        self,
        pages: PageTable,
        searches: SearchTable,
        texts: TextVectorTable,
        settings: CacheSettings,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._pages = pages
        self._searches = searches
        self._texts = texts
        self._settings = settings
        self._now = now
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run_quietly, name="asky-purge", daemon=True)

    def start(self) -> None:
        """Start the purge in the background."""
        self._thread.start()

    def stop(self) -> None:
        """Wait for the transaction in progress; the rest is left to the next start."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def run(self) -> int:
        """Purge now; return the number of pages removed."""
        now = self._now()
        gone = self._pages.outdated(now, keep_s=_STALE_TTLS * self._settings.ttl_s, max_bytes=self._settings.max_bytes)
        done = 0
        for start in range(0, len(gone), _PURGED_AT_ONCE):
            if self._stopped.is_set():
                return done
            done += self._pages.remove(gone[start : start + _PURGED_AT_ONCE])
        if not self._stopped.is_set():
            self._searches.remove(now)
            self._texts.shrink(_REMEMBERED_TEXTS)
        return done

    def _run_quietly(self) -> None:
        try:
            self.run()
        except StorageError:  # a full or busy store is reported by the commands that need it
            return
