"""What a run begins its conversation with, and how its record keeps that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.chat.packing import pack_message, pack_spec, unpack_message, unpack_spec
from asky.chat.registry import ToolRegistry
from asky.errors import UsageError
from asky.llm.tools import Tool, ToolResult

if TYPE_CHECKING:
    from asky.chat.unread import Unread
    from asky.llm.port import Message, ToolSpec


@dataclass(slots=True)
class Prepared:
    """`messages` end with the question. `is_short` says that the budget allows one call only.

    `unread` are the addresses in the question that are not among the sources.
    """

    messages: list[Message]
    tools: ToolRegistry
    is_short: bool = False
    unread: Sequence[Unread] = ()


def pack_prepared(prepared: Prepared, warnings: Sequence[str]) -> dict[str, Any]:
    """`prepared` as JSON, with what the user was warned of meanwhile."""
    return {
        "messages": [pack_message(each) for each in prepared.messages],
        "tools": [pack_spec(each) for each in prepared.tools.specs()],
        "is_short": prepared.is_short,
        "warnings": list(warnings),
        "unread": list(prepared.unread),
    }


def unpack_prepared(packed: Mapping[str, Any]) -> Prepared:
    """What `pack_prepared` packed; its tools do nothing yet."""
    tools = ToolRegistry([gone(unpack_spec(each)) for each in packed["tools"]])
    unread = [(url, said) for url, said in packed.get("unread", ())]  # not in what an earlier asky recorded
    return Prepared([unpack_message(each) for each in packed["messages"]], tools, packed["is_short"], unread)


def gone(spec: ToolSpec) -> Tool:
    """A tool that was there when the run began; a call of it fails."""

    async def refuse(_: Mapping[str, Any]) -> ToolResult:
        raise UsageError(f"{spec.name} is not set up any more")

    return Tool(spec, refuse)
