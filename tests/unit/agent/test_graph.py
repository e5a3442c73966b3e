"""The graph: its order, what a checkpoint holds, and what it does without one."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from langsmith.utils import tracing_is_enabled

from asky.agent.graph import run_graph

CYCLE = ["collect", "process", "analyze", "evaluate"]


class ScriptedNodes:
    """Nodes that do nothing for so many cycles; the process may be cut off where one is entered."""

    def __init__(self, cycles: int, *, cut_at: tuple[str, int] | None = None) -> None:
        self.entered: list[str] = []
        self.traced: list[bool] = []
        self._cycles = cycles
        self._cut_at = cut_at

    def __getattr__(self, name: str) -> Callable[[int], Awaitable[dict[str, Any]]]:
        async def node(cycle: int) -> dict[str, Any]:
            cycle += name == "collect"
            self.entered.append(name)
            self.traced.append(bool(tracing_is_enabled()))
            if self._cut_at == (name, cycle):
                raise InterruptedError
            state = {"cycle": cycle, "facts": 100 * cycle, "current_phase": name, "should_stop": cycle >= self._cycles}
            return {**state, "final_report": {"facts": ["a"] * 1_000}} if name == "export" else state

        return node


def run(nodes: ScriptedNodes, file: Path | None, run_id: str = "run", max_cycles: int = 50) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        return dict(await run_graph(nodes, run_id, file, max_cycles=max_cycles))

    return anyio.run(main)


def test_the_nodes_are_entered_in_order_until_one_says_stop(tmp_path: Path) -> None:
    nodes = ScriptedNodes(2)
    state = run(nodes, tmp_path / "checkpoints.db")
    assert nodes.entered == ["clarify", "plan", *CYCLE, *CYCLE, "synthesize", "export"]
    assert state["final_report"] == {"facts": ["a"] * 1_000}


def test_a_run_goes_on_at_the_node_of_its_checkpoint_and_leaves_none(tmp_path: Path) -> None:
    file = tmp_path / "checkpoints.db"
    with pytest.raises(InterruptedError):
        run(ScriptedNodes(3, cut_at=("analyze", 2)), file)
    again = ScriptedNodes(3)
    assert run(again, file)["cycle"] == 3
    assert again.entered == ["analyze", "evaluate", *CYCLE, "synthesize", "export"]
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM checkpoints").fetchone() == (0,)


@pytest.mark.parametrize("damage", [b"", b"no database" * 1_000])
def test_without_a_usable_checkpoint_a_run_begins_at_its_first_node(tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "checkpoints.db"
    with pytest.raises(InterruptedError):
        run(ScriptedNodes(3, cut_at=("analyze", 2)), file)
    file.write_bytes(damage)
    file.with_name("checkpoints.db-wal").unlink(missing_ok=True)
    again = ScriptedNodes(1)
    run(again, file)
    assert again.entered[0] == "clarify"


def test_a_checkpoint_of_another_version_of_the_graph_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "checkpoints.db"
    with pytest.raises(InterruptedError):
        run(ScriptedNodes(3, cut_at=("analyze", 2)), file)
    again = ScriptedNodes(1)
    anyio.run(lambda: run_graph(again, "run", file, max_cycles=50, version=0))
    assert again.entered[0] == "clarify"


def test_a_place_where_no_checkpoint_can_be_written_keeps_nobody_from_researching(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("a file")
    assert run(ScriptedNodes(1), tmp_path / "agent" / "checkpoints.db")["cycle"] == 1


def test_a_cycle_adds_as_much_to_the_checkpoints_at_the_end_as_at_the_beginning(tmp_path: Path) -> None:
    file = tmp_path / "checkpoints.db"
    with pytest.raises(InterruptedError):
        run(ScriptedNodes(50, cut_at=("synthesize", 50)), file)
    with closing(sqlite3.connect(file)) as connection:
        sizes = [
            row[0] + row[1]
            for row in connection.execute(
                "SELECT length(c.checkpoint) + length(c.metadata), coalesce((SELECT sum(length(w.value)) FROM writes w"
                " WHERE w.checkpoint_id = c.checkpoint_id), 0) FROM checkpoints c ORDER BY c.checkpoint_id"
            )
        ]
    cycles = [sum(sizes[3 + 4 * number : 7 + 4 * number]) for number in range(50)]
    early, late = sum(cycles[2:12]), sum(cycles[35:45])
    assert late <= 1.02 * early  # versions of channels have random digits, more or less


def test_nothing_is_traced_whatever_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.setenv(name, "true")
    nodes = ScriptedNodes(1)
    run(nodes, None)
    assert nodes.traced == [False] * len(nodes.entered)
