"""The order of the nodes of a run, as a graph of LangGraph.

The channels hold the cycle and counts, and no list: a cycle adds as much to the checkpoints at the end as at the
beginning. What the nodes find is in the record of the run, which plays it back when a node is entered again. So a
checkpoint says no more than which node comes next, and nothing is lost with it.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypedDict

from langgraph.channels import UntrackedValue
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langsmith import tracing_context

from asky.agent.models import Phase
from asky.concurrency import in_thread
from asky.config.paths import ensure_private_dir
from asky.errors import AskyError

VERSION = 1
"""The version of the graph. A checkpoint of another one is not used: the run then begins with its record."""

_NODES_A_CYCLE = 4
_OTHER_NODES = 4


class GraphState(TypedDict, total=False):
    """What the nodes of the graph tell each other; everything else is in the record of the run."""

    cycle: int
    sources: int
    entities: int
    facts: int
    current_phase: Phase
    should_stop: bool
    final_report: Annotated[dict[str, Any], UntrackedValue]


class ResearchNodes(Protocol):
    """The nodes of one run, which take the number of the cycle; `collect` begins the next one.

    Each returns what has changed, with its own name as `current_phase`.
    """

    async def clarify(self, cycle: int) -> GraphState: ...
    async def plan(self, cycle: int) -> GraphState: ...
    async def collect(self, cycle: int) -> GraphState: ...
    async def process(self, cycle: int) -> GraphState: ...
    async def analyze(self, cycle: int) -> GraphState: ...
    async def evaluate(self, cycle: int) -> GraphState: ...
    async def synthesize(self, cycle: int) -> GraphState: ...
    async def export(self, cycle: int) -> GraphState: ...


def should_continue(state: GraphState) -> Literal["continue", "stop"]:
    """Return whether another cycle follows."""
    return "stop" if state.get("should_stop") else "continue"


def create_research_graph(nodes: ResearchNodes, checkpointer: AsyncSqliteSaver | None = None) -> Any:
    """Return the compiled graph over `nodes`, for `ainvoke`."""

    def call(name: Phase) -> Any:
        async def enter(state: GraphState) -> GraphState:
            changed: GraphState = await getattr(nodes, name)(state.get("cycle", 0))
            return changed

        return enter

    graph = StateGraph(GraphState)
    order: tuple[Phase, ...] = ("clarify", "plan", "collect", "process", "analyze", "evaluate")
    for name in (*order, "synthesize", "export"):
        graph.add_node(name, call(name))
    graph.add_edge(START, order[0])
    for before, after in pairwise(order):
        graph.add_edge(before, after)
    graph.add_conditional_edges("evaluate", should_continue, {"continue": "collect", "stop": "synthesize"})
    graph.add_edge("synthesize", "export")
    graph.add_edge("export", END)
    return graph.compile(checkpointer=checkpointer)


async def run_graph(
    nodes: ResearchNodes, run_id: str, checkpoints: Path | None, *, max_cycles: int, version: int = VERSION
) -> GraphState:
    """Carry the run to its end and return the final state, with `final_report`.

    It begins at the node that the file `checkpoints` names for this version of the graph, or without one at the first.
    A file that cannot be used is left alone. Nothing is sent to LangSmith, whatever the environment says.
    """
    config: dict[str, Any] = {
        "configurable": {"thread_id": f"{run_id} {version}"},
        "recursion_limit": _OTHER_NODES + _NODES_A_CYCLE * (max_cycles + 1) + 1,
    }
    with tracing_context(enabled=False):
        if checkpoints is not None and await in_thread(_is_usable, checkpoints):
            with suppress(sqlite3.Error):  # a damaged file, a full disk: the record of the run is enough
                return await _run_from_checkpoint(nodes, checkpoints, config)
        found: GraphState = await create_research_graph(nodes).ainvoke({"cycle": 0}, config)
        return found


async def _run_from_checkpoint(nodes: ResearchNodes, checkpoints: Path, config: dict[str, Any]) -> GraphState:
    async with AsyncSqliteSaver.from_conn_string(str(checkpoints)) as saver:
        graph = create_research_graph(nodes, saver)
        begins = await saver.aget_tuple(config) is None  # type: ignore[arg-type]  # a plain dict
        found: GraphState = await graph.ainvoke({"cycle": 0} if begins else None, config, durability="sync")
        await saver.adelete_thread(config["configurable"]["thread_id"])
        return found


def _is_usable(file: Path) -> bool:
    """Return whether there is a file for checkpoints, which only the user can read; it is made if need be."""
    try:
        ensure_private_dir(file.parent)
        file.touch(mode=0o600)
    except (OSError, AskyError):
        return False
    return True
