"""The record of a run keeps what has happened, whoever is interrupted meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.errors import AskyError, StoreDamaged, Unreachable
from asky.evidence.keys import KeyRing
from asky.llm.port import ToolSpec
from asky.llm.tools import Tool, ToolResult
from asky.research.run import ResearchRun
from asky.runs.journal.journal import RunJournal, journaled_tool
from asky.runs.journal.steps import QUARANTINED
from asky.storage.runs import RunStore
from asky.storage.scope import Scope
from asky.values import Evidence, Location, Span
from tests.support.search_store import SearchStore


class Recorded:
    """A run in a store, its record, and what the store has of it."""

    def __init__(self, store: SearchStore) -> None:
        self._runs = RunStore(store.database)
        self.store = store
        self.path = store.database.path
        self._run = self._runs.start(question="q", mode="standard", model="m", session_id=None)
        self.research = self._research()
        self.journal = RunJournal(self._runs, self.research, on_stale=lambda _: None)

    def _research(self) -> ResearchRun:
        return ResearchRun(self._run.id, None, Scope(), 100, 1)

    def restored(self) -> RunJournal:
        """The record as another process goes on with it."""
        steps = self._runs.steps.of(self._run.id)
        journal = RunJournal(self._runs, self._research(), steps, on_stale=lambda _: None)
        journal.restore(self.store.documents)
        return journal

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


def test_a_change_is_recorded_once_although_two_steps_are_written_at_once(recorded: Recorded) -> None:
    async def main() -> None:
        recorded.research.queries.append("tides")
        async with anyio.create_task_group() as group:
            group.start_soon(recorded.journal.add, QUARANTINED, "", {})
            group.start_soon(recorded.journal.add, QUARANTINED, "", {})

    anyio.run(main)
    assert recorded.restored().state.research.queries == ["tides"]


def test_a_key_from_before_an_interruption_is_given_to_no_other_passage(recorded: Recorded) -> None:
    store, research = recorded.store, recorded.research
    source = store.add("tides", "tides " * 2000)
    document_id = store.corpus.current_document(source.id)
    assert document_id is not None
    sha256, _ = store.documents.digest(document_id)
    first, second = passages_with_one_key(research.run_id, sha256)
    key = research.keys.key_for(sha256, first)
    text = store.documents.text(document_id, first)
    research.shown[key] = Evidence(key, source, document_id, sha256, first, text, Location())
    anyio.run(recorded.journal.add, QUARANTINED, "", {})
    keys = recorded.restored().state.research.keys
    assert keys.key_for(sha256, second).startswith(key)
    assert keys.key_for(sha256, second) != key
    assert keys.key_for(sha256, first) == key


def passages_with_one_key(run_id: str, sha256: str) -> tuple[Span, Span]:
    """Two passages of a document that get the same key if neither is known of."""
    spans: dict[str, Span] = {}
    for start in count():
        span = Span(start, start + 9)
        key = KeyRing(run_id).key_for(sha256, span)
        if key in spans:
            return spans[key], span
        spans[key] = span
    raise AssertionError("there are only so many keys")


class Tried:
    """A tool that fails once, and then finds something; `calls` is how often it ran."""

    def __init__(self, error: AskyError) -> None:
        self.calls = 0
        self._error = error
        self.tool = Tool(ToolSpec("look", "Looks.", {}), self._work)

    async def _work(self, _: Mapping[str, object]) -> ToolResult:
        self.calls += 1
        if self.calls == 1:
            raise self._error
        return ToolResult("found", "found")


def test_a_tool_that_the_store_failed_runs_anew_after_the_interruption(recorded: Recorded) -> None:
    tried = Tried(StoreDamaged("the index cannot be read"))
    with pytest.raises(StoreDamaged):
        anyio.run(journaled_tool(tried.tool, recorded.journal).run, {})
    again = journaled_tool(tried.tool, recorded.restored())
    assert anyio.run(again.run, {}).content == "found"


def test_any_other_failure_of_a_tool_is_what_it_was_after_the_interruption(recorded: Recorded) -> None:
    tried = Tried(Unreachable("no answer"))
    with pytest.raises(Unreachable):
        anyio.run(journaled_tool(tried.tool, recorded.journal).run, {})
    again = journaled_tool(tried.tool, recorded.restored())
    with pytest.raises(Unreachable, match="no answer"):
        anyio.run(again.run, {})
    assert tried.calls == 1
