from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from asky.errors import AskyError, SourceRefused, StoreFull
from asky.llm.port import ToolSpec
from asky.llm.tools import Tool, ToolRegistry, ToolResult
from asky.values import Failure
from tests.support.models import tool_call

ECHO = ToolSpec(
    "echo",
    "Says it again.",
    {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
)


def echo(error: Exception | None = None) -> Tool:
    async def run(arguments: Mapping[str, Any]) -> ToolResult:
        if error:
            raise error
        return ToolResult(f"you said {arguments['text']}", "echoed")

    return Tool(ECHO, run)


def call(registry: ToolRegistry, name: str = "echo", arguments: object = None) -> ToolResult:
    return anyio.run(registry.call, tool_call(name, {"text": "hi"} if arguments is None else arguments))


def test_a_call_runs_the_tool_with_checked_arguments() -> None:
    assert call(ToolRegistry([echo()])) == ToolResult("you said hi", "echoed")


def test_an_unknown_tool_is_told_to_the_model_with_the_known_names() -> None:
    result = call(ToolRegistry([echo()]), "fetch")
    assert result.content == "error: unknown_tool: there is no tool 'fetch' (known: echo)"
    assert result.failure == Failure("fetch", "unknown_tool", "there is no tool 'fetch' (known: echo)")


@pytest.mark.parametrize("arguments", ["{", {"text": 3}, {"text": "a", "session": "other"}, {}])
def test_bad_arguments_are_told_to_the_model_and_the_tool_does_not_run(arguments: object) -> None:
    result = call(ToolRegistry([echo(AssertionError("ran"))]), arguments=arguments)
    assert result.content.startswith("error: bad_arguments: ")
    assert result.failure is not None
    assert result.failure.code == "bad_arguments"


def test_an_error_of_the_tool_is_told_to_the_model_and_kept_whole_for_people() -> None:
    result = call(ToolRegistry([echo(SourceRefused("outside the roots", hint="grant it with -d"))]))
    assert result.content == "error: source_refused: outside the roots"
    assert result.failure == Failure("echo", "source_refused", "outside the roots", "grant it with -d")


def test_the_trouble_of_a_store_is_not_told_to_the_model_but_raised() -> None:
    with pytest.raises(StoreFull):
        call(ToolRegistry([echo(StoreFull("no space for /home/me/asky.db"))]))


def test_a_fault_of_ours_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        call(ToolRegistry([echo(KeyError("x"))]))
    assert not issubclass(KeyError, AskyError)


def test_specifications_keep_their_order_and_a_withheld_tool_cannot_be_called() -> None:
    other = Tool(ToolSpec("other", "Another.", {"type": "object"}), echo().run)
    registry = ToolRegistry([other, echo()])
    assert [spec.name for spec in registry.specs()] == ["other", "echo"]
    fewer = registry.without({"echo"})
    assert [spec.name for spec in fewer.specs()] == ["other"]
    assert call(fewer).content.startswith("error: unknown_tool")


def test_two_tools_of_one_name_and_rules_that_are_not_enforced_are_refused() -> None:
    with pytest.raises(ValueError, match="two tools are named 'echo'"):
        ToolRegistry([echo(), echo()])
    with pytest.raises(ValueError, match="must be an object schema"):
        ToolRegistry([Tool(ToolSpec("x", "", {"type": "string"}), echo().run)])
    with pytest.raises(ValueError, match=r"x\.u: 'format' is not understood"):
        ToolRegistry(
            [
                Tool(
                    ToolSpec("x", "", {"type": "object", "properties": {"u": {"type": "string", "format": "uri"}}}),
                    echo().run,
                )
            ]
        )
