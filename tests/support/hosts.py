"""A host of the MCP server: the SDK's client in memory, in both eras of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client, types

from asky.app.asky import Asky
from asky.mcp.server import McpServer
from tests.support.lab import Lab

ERAS = ("legacy", "2026-07-28")
"""With the handshake of `initialize`, and without any state."""


@asynccontextmanager
async def hosted(
    lab: Lab,
    era: str,
    *,
    environ: Mapping[str, str] | None = None,
    wait_s: float = 50.0,
    limit_s: float = 60.0,
    answer_s: float = 300.0,
    **options: Any,
) -> AsyncIterator[tuple[Client, Asky]]:
    """A client connected to a server over the lab, and the use cases behind it; `options` are the client's."""
    with lab.open(**(environ or {})) as asky:
        server = McpServer(asky, lab.environ(), wait_s=wait_s, limit_s=limit_s, answer_s=answer_s).build()
        async with Client(server, mode=era, **options) as client:
            yield client, asky


def value_of(result: types.CallToolResult) -> dict[str, Any]:
    """The structured result of a call that did not fail."""
    assert not result.is_error, result.content
    value: dict[str, Any] = result.structured_content
    return value


def fault_of(result: types.CallToolResult) -> dict[str, Any]:
    """The `asky.error/1` object of a call that failed."""
    assert result.is_error, result.content
    value: dict[str, Any] = result.structured_content
    return value
