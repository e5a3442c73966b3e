"""Research into a note over MCP: it is written, with the user's consent, only where the user has allowed it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest
from mcp import Client, types

from asky.mcp.server import McpServer
from asky.mcp.tools import TOOLS
from tests.support.endpoint import Answer, Wire
from tests.support.hosts import ERAS, fault_of, value_of
from tests.support.note_lab import TIDAL, NoteLab

pytestmark = pytest.mark.anyio

NOTE = {"path": "Tidal power.md"}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[NoteLab]:
    with NoteLab(tmp_path, **{"mcp.write": True}) as opened:
        yield opened


@asynccontextmanager
async def hosting(lab: NoteLab, era: str, *, approves: bool | None = None, wait_s: float = 50.0) -> Any:
    """A client over the lab; it asks its user if `approves` says what the user answers."""

    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"send": bool(approves)})

    server = McpServer(lab.asky, {}, wait_s=wait_s).build()
    async with Client(server, mode=era, elicitation_callback=answer if approves is not None else None) as client:
        yield client


async def test_a_note_is_researched_and_written(lab: NoteLab, era: str) -> None:
    async with hosting(lab, era, approves=True) as client:
        result = value_of(await client.call_tool("research_note", NOTE))
    assert (result["schema"], result["success"], result["path"]) == ("asky.note/1", True, "Tidal power.md")
    assert result["topics_researched"] > 0
    assert lab.note().startswith(TIDAL + "\n## Research\n")
    assert lab.queries()


async def test_a_topic_without_findings_is_named(lab: NoteLab, era: str) -> None:
    lab.put("Two.md", "# Two\n\nThe **tidal barrage** and the **quagga zeppelin** stand side by side.\n")
    async with hosting(lab, era, approves=True) as client:
        result = value_of(await client.call_tool("research_note", {"path": "Two.md"}))
    assert "quagga zeppelin" in result["warnings"][-1].casefold()


@pytest.mark.parametrize("approves", [False, None])
async def test_without_consent_only_the_vault_is_searched(lab: NoteLab, era: str, approves: bool | None) -> None:
    async with hosting(lab, era, approves=approves) as client:
        assert value_of(await client.call_tool("research_note", NOTE))["success"]
    assert lab.queries() == []
    assert "http" not in lab.note()


async def test_a_dry_run_returns_what_would_change(lab: NoteLab, era: str) -> None:
    async with hosting(lab, era) as client:
        result = value_of(await client.call_tool("research_note", NOTE | {"dry_run": True}))
    assert "+## Research" in result["diff"]
    assert lab.note() == TIDAL


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (NOTE | {"depth": "middle"}, "Invalid depth: 'middle'. Must be 'shallow' or 'deep'."),
        ({"path": "nowhere.md"}, "nowhere.md"),
        ({"path": "../private.md"}, ""),
        ({"path": "/etc/passwd"}, ""),
        ({}, "'path' is a required property"),
    ],
)
async def test_a_failure_has_the_form_of_the_contract(lab: NoteLab, era: str, given: dict[str, Any], said: str) -> None:
    async with hosting(lab, era) as client:
        fault = fault_of(await client.call_tool("research_note", given))
    assert (fault["schema"], fault["success"]) == ("asky.note/1", False)
    assert said in fault["error"]
    assert lab.note() == TIDAL


@pytest.mark.few(1)
async def test_research_that_takes_too_long_is_stopped_and_the_note_is_as_it_was(tmp_path: Path, era: str) -> None:
    brief = [replace(each, run_s=0.5) for each in TOOLS if each.name == "research_note"]
    with NoteLab(tmp_path, **{"mcp.write": True, "notes.model": "far"}) as lab:
        lab.endpoint.play(Answer("[]", wire=Wire(silent_before_headers=True)))
        async with Client(McpServer(lab.asky, {}, tools=brief).build(), mode=era) as client:
            fault = fault_of(await client.call_tool("research_note", NOTE))
        assert fault["error"] == "timed out after 0.5s"
        assert lab.note() == TIDAL
        await anyio.to_thread.run_sync(lab.endpoint.wait_for_abandoned)


def test_research_may_take_five_minutes() -> None:
    assert [each.run_s for each in TOOLS if each.name == "research_note"] == [300]


async def test_research_is_offered_only_where_notes_may_be_written(tmp_path: Path) -> None:
    with NoteLab(tmp_path) as lab:
        async with hosting(lab, "legacy") as client:
            assert "mcp.write" in fault_of(await client.call_tool("research_note", NOTE))["hint"]
            names = {each.name for each in (await client.list_tools()).tools}
    assert {"find_notes", "read_note", "list_notes"} <= names
    assert "research_note" not in names
