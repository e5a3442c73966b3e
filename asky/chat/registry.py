"""The tools of a run: what a model may call, and the one way in which a call is run.

What a call may touch (session, roots, run) is bound into `Tool.run` when the tool is made; a model's arguments never
choose it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from asky.chat.arguments import BadArguments, parse_arguments
from asky.concurrency import failure
from asky.config.tool_parameters import check_schema
from asky.errors import AskyError, StorageError
from asky.llm.port import ToolCall, ToolSpec
from asky.llm.tools import Tool, ToolResult
from asky.values import Failure


class ToolRegistry:
    """Tools by name, in a fixed order.

    Raises `ValueError` for two tools of one name and for parameters that are not an object schema or that use a keyword
    which is not enforced.
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
        """The specifications, in the order given."""
        return tuple(tool.spec for tool in self._tools.values())

    def wrapped(self, wrap: Callable[[Tool], Tool]) -> ToolRegistry:
        """The registry of what `wrap` makes of each tool."""
        return ToolRegistry([wrap(tool) for tool in self._tools.values()])

    def without(self, names: Collection[str]) -> ToolRegistry:
        """The registry of the other tools: one that is withheld can be neither seen nor called."""
        return ToolRegistry([tool for name, tool in self._tools.items() if name not in names])

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call of a model.

        An unknown tool, bad arguments and an `AskyError` of the tool come back as a result with a `failure`. Raised are
        `StorageError`, and other exceptions, which are faults of ours.
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
            raise  # no model can do anything about it, and "nothing found" would not be true
        except AskyError as error:
            return ToolResult(f"error: {error.code}: {error.message}", error.message, failure(error, call.name))


def refusal(call: ToolCall, code: str, message: str) -> ToolResult:
    """The result of a call that was not run, and why."""
    return ToolResult(f"error: {code}: {message}", message, Failure(call.name, code, message))
