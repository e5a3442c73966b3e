"""Tools: their specification for the model, their function, and how calls are run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asky.concurrency import failure
from asky.config.tool_parameters import check_schema
from asky.errors import AskyError, StorageError
from asky.llm.arguments import BadArguments, parse_arguments
from asky.llm.port import ToolCall, ToolSpec
from asky.values import Failure


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: `content` for the model, `summary` (one short line) for the user.

    `failure` is set if the call failed; `content` is then a line that starts with `error:`, perhaps with more after it.
    """

    content: str
    summary: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A specification and its function, which receives arguments that match `spec.parameters`.

    The scope of a call (session, sources, run) is bound into `run` when the tool is created; a model cannot choose it.
    """

    spec: ToolSpec
    run: Callable[[Mapping[str, Any]], Awaitable[ToolResult]]


class ToolRegistry:
    """Tools by name, in a fixed order.

    Raises `ValueError` for two tools with the same name, for parameters that are not an object schema, and for schema
    keywords that are not enforced.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.spec.name in self._tools:
                raise ValueError(f"two tools are named {tool.spec.name!r}")
            if tool.spec.parameters.get("type") != "object":
                raise ValueError(f"the parameters of {tool.spec.name!r} must be an object schema")
            check_schema(tool.spec.parameters, tool.spec.name)
            self._tools[tool.spec.name] = tool

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the specifications, in the order given."""
        return tuple(tool.spec for tool in self._tools.values())

    def wrapped(self, wrap: Callable[[Tool], Tool]) -> ToolRegistry:
        """Return a registry with the result of `wrap` for each tool."""
        return ToolRegistry([wrap(tool) for tool in self._tools.values()])

    def without(self, names: Collection[str]) -> ToolRegistry:
        """Return a registry without the tools of these names: a model can neither see nor call them."""
        return ToolRegistry([tool for name, tool in self._tools.items() if name not in names])

    def with_tool(self, tool: Tool) -> ToolRegistry:
        """Return a registry with one more tool, after the others."""
        return ToolRegistry([*self._tools.values(), tool])

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call of a model.

        Unknown tools, invalid arguments and an `AskyError` of the tool are returned as a result with a `failure`.
        Raises `StorageError`, and other exceptions of the tool, which are bugs.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return refusal(call, "unknown_tool", f"there is no tool {call.name[:60]!r} (known: {known})")
        try:
            arguments = parse_arguments(call.arguments, tool.spec.parameters)
        except BadArguments as error:
            return refusal(call, "bad_arguments", str(error))
        try:
            return await tool.run(arguments)
        except StorageError:
            raise  # a model cannot correct it, and would conclude that nothing was found
        except AskyError as error:
            return ToolResult(f"error: {error.code}: {error.message}", error.message, failure(error, call.name))


def refusal(call: ToolCall, code: str, message: str) -> ToolResult:
    """Return the result of a call that was not run, with the reason."""
    return ToolResult(f"error: {code}: {message}", message, Failure(call.name, code, message))
