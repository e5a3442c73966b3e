from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from asky.errors import StorageError
from asky.events import Event, ToolCalled, ToolReturned
from asky.llm.port import ToolCall, ToolSpec
from asky.llm.tools import Tool, ToolRegistry, ToolResult
from asky.research.writing.tool_loop import CallRunner, LoopSettings
from tests.support.models import tool_call

LOOKUP = ToolSpec(
    "lookup",
    "Looks it up.",
    {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False},
)
BAD = tool_call("lookup", "{")


def lookup(query: str, call_id: str = "c1") -> ToolCall:
    return tool_call("lookup", {"q": query}, call_id=call_id)


async def find(arguments: Mapping[str, Any]) -> ToolResult:
    return ToolResult(f"found {arguments['q']}", f"1 passage for {arguments['q']}")


class Calls:
    """A runner of calls, and everything that it said."""

    def __init__(self, run: Any = find, **limits: int) -> None:
        self.events: list[Event] = []
        self._runner = CallRunner(
            ToolRegistry([Tool(LOOKUP, run)]), LoopSettings(max_turns=20, **limits), self.events.append
        )

    def __call__(self, *calls: ToolCall) -> tuple[list[tuple[str | None, str]], str | None]:
        """The results of the calls of one reply, each with its id, and why no more should be made."""
        results, futility = anyio.run(self._runner.run, calls)
        return [(each.tool_call_id, each.content) for each in results], futility


def test_calls_of_one_reply_run_together_and_are_answered_in_their_order() -> None:
    started: list[str] = []

    async def wait_for_the_other(arguments: Mapping[str, Any]) -> ToolResult:
        started.append(arguments["q"])
        while len(started) < 2:
            await anyio.lowlevel.checkpoint()
        if arguments["q"] == "first":
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
        return ToolResult(arguments["q"], "")

    run = Calls(wait_for_the_other)
    assert run(lookup("first", "a"), lookup("second", "b")) == ([("a", "first"), ("b", "second")], None)
    assert [each.call_id for each in run.events if isinstance(each, ToolReturned)] == ["b", "a"]


def test_calls_with_one_id_are_both_run_and_answered() -> None:
    assert Calls()(lookup("x", "same"), lookup("y", "same"))[0] == [("same", "found x"), ("same", "found y")]


def test_calls_beyond_the_cap_of_one_reply_are_answered_but_not_run() -> None:
    results, futility = Calls(max_calls_per_turn=3)(*(lookup(f"q{i}", f"c{i}") for i in range(5)))
    contents = [content for _, content in results]
    assert contents[:3] == ["found q0", "found q1", "found q2"]
    assert contents[3:] == ["error: too_many_calls: at most 3 calls in one reply"] * 2
    assert futility is None


def test_calls_that_are_equal_but_for_their_spelling_count_as_one_and_the_last_is_not_run() -> None:
    run = Calls(max_identical_calls=2)
    assert run(lookup("mill"), lookup("tide", "t"))[1] is None
    results, futility = run(tool_call("lookup", '{ "q" : "mill" }'), lookup("sea", "s"))
    assert [content.partition(":")[0] for _, content in results] == ["error", "found sea"]
    assert futility == "the model made the same call 2 times"


def test_only_replies_of_nothing_but_bad_calls_are_futile_and_a_good_one_begins_the_count_anew() -> None:
    run = Calls(max_refused_turns=1, max_identical_calls=9)
    assert run(BAD)[1] is None
    assert run(BAD, lookup("a"))[1] is None
    assert run(BAD)[1] is None
    assert run(BAD)[1] == "the model made only bad tool calls in 2 replies"


def test_a_store_that_fails_under_a_tool_is_raised_and_not_told_to_the_model() -> None:
    async def fail(_arguments: Mapping[str, Any]) -> ToolResult:
        raise StorageError("the disk is full")

    run = Calls(fail)
    with pytest.raises(StorageError, match="the disk is full"):
        run(lookup("a"))
    assert run.events == [ToolCalled("c1", "lookup", "a")]
