"""The background process that embeds the rest of a store: found by its file, waited for, and ended by its id."""

from __future__ import annotations

import select
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from asky.research.index.background import BackgroundEmbedding, BackgroundState

_WAIT_S = 120.0


class Indexing:
    """The background process of the store in the folder `data`, as its file and the system show it."""

    def __init__(self, data: Path) -> None:
        self.store = data / "asky.db"

    @property
    def state(self) -> BackgroundState:
        return BackgroundEmbedding(self.store, tuple).state()

    def process(self) -> psutil.Process:
        """The process that embeds."""
        pid = self.state.pid
        assert pid is not None
        return psutil.Process(pid)

    def wait(self) -> None:
        """Wait for the end of the process, if there is one.

        Where this process may, it lets the other one run like any: on a busy machine it would hardly have a turn.
        """
        until(self._has_ended)

    def _has_ended(self) -> bool:
        found = self.state
        if found.pid is not None:
            with suppress(psutil.Error):
                psutil.Process(found.pid).nice(0)
            with suppress(OSError):
                Path(f"/proc/{found.pid}/autogroup").write_text("0")
        return not found.is_running

    def end(self) -> None:
        """End the process, if there is one, and wait for its end."""
        pid = self.state.pid
        if pid is not None:
            with suppress(psutil.NoSuchProcess):  # it has just ended
                kill(psutil.Process(pid))

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """Keep every other process from writing into the store."""
        connection = sqlite3.connect(self.store, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")
            connection.close()

    def embedded(self) -> tuple[int, int, int]:
        """How many passages there are, how many vectors, and how many of these are of different passages."""
        connection = sqlite3.connect(f"{self.store.as_uri()}?mode=ro", uri=True)
        (chunks,) = connection.execute("SELECT count(*) FROM chunk").fetchone()
        packs = [row[0] for row in connection.execute("SELECT chunk_ids FROM vector_pack")]
        connection.close()
        ids = [pack[at : at + 8] for pack in packs for at in range(0, len(pack), 8)]
        return chunks, len(ids), len(set(ids))


def kill(process: psutil.Process) -> None:
    """Kill a process and wait for its end."""
    process.send_signal(signal.SIGKILL)
    process.wait(_WAIT_S)


def until(happened: Callable[[], bool]) -> None:
    """Wait for a condition, and leave the processor meanwhile to a process that gives way to every other."""
    deadline = time.monotonic() + _WAIT_S
    while not happened():
        assert time.monotonic() < deadline
        select.select([], [], [], 0.01)


def indexing_environment(model: Path, **more: str) -> Mapping[str, str]:
    """The variables of an asky that embeds with `model`, four passages while a question waits."""
    named = {"MODEL": str(model), "LOCAL_FILES_ONLY": "true"}
    environ = {f"ASKY_RESEARCH__EMBEDDING__{name}": value for name, value in named.items()}
    return {**environ, "ASKY_RESEARCH__RETRIEVAL__EMBED_AT_ONCE": "4", **more}
