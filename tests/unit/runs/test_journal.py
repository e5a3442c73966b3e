"""The record of a run keeps what has happened, whoever is interrupted meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.research.tools import ResearchRun
from asky.runs.journal.journal import RunJournal
from asky.runs.journal.steps import QUARANTINED
from asky.storage.runs import RunStore
from asky.storage.scope import Scope
from tests.support.search_store import SearchStore


class Recorded:
    """A run in a store, its record, and what the store has of it."""

    def __init__(self, store: SearchStore) -> None:
        self._runs = RunStore(store.database)
        self.path = store.database.path
        self._run = self._runs.start(question="q", mode="standard", model="m", session_id=None)
        research = ResearchRun(self._run.id, None, Scope(), 100, 1)
        self.journal = RunJournal(self._runs, research, on_stale=lambda _: None)

    def steps(self) -> list[tuple[str, Any]]:
        """The kinds of the steps, and what each has met."""
        return [(each.kind, each.data.get("met")) for each in self._runs.steps.of(self._run.id)]


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Recorded]:
    store = SearchStore(tmp_path)
    yield Recorded(store)
    store.close()


def test_a_step_is_recorded_whole_although_its_run_is_cancelled(recorded: Recorded) -> None:
    async def main() -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await recorded.journal.add(QUARANTINED, "", {})

    anyio.run(main)
    assert [kind for kind, _ in recorded.steps()] == [QUARANTINED]


def test_what_is_met_while_a_step_is_written_belongs_to_the_next(recorded: Recorded) -> None:
    journal = recorded.journal

    async def main() -> None:
        holder = sqlite3.connect(recorded.path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        journal.record_input("notes 1", ["first"])
        async with anyio.create_task_group() as group:
            group.start_soon(journal.add, QUARANTINED, "", {})
            await anyio.wait_all_tasks_blocked()  # the step has been made, and waits for the store
            journal.record_input("notes 1", ["second"])
            holder.close()
        await journal.add(QUARANTINED, "", {})
        await journal.add(QUARANTINED, "", {})

    anyio.run(main)
    assert [met for _, met in recorded.steps()] == [{"notes 1": ["first"]}, {"notes 1": ["second"]}, None]
