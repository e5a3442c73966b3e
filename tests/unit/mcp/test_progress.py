"""What a host shows while it waits."""

from __future__ import annotations

import pytest

from asky.app.schemas.event import event_object
from asky.events import (
    ApprovalDecided,
    ApprovalRequested,
    ClarificationAnswered,
    ClarificationAsked,
    CycleEvaluated,
    Envelope,
    Event,
    FileRead,
    ModelCalled,
    Noted,
    PageRead,
    PhaseStarted,
    QuerySent,
    StageAdvanced,
    StageFinished,
    StageStarted,
    TextStreamed,
    ToolCalled,
    ToolReturned,
    Warned,
    WebSearched,
)
from asky.mcp.progress import progress_line
from asky.values import Failure


def line_of(event: Event) -> str | None:
    return progress_line(event_object(Envelope("run", 1, "2026-01-01T00:00:00.000000Z", event)))


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (StageStarted("verify"), "checking each sentence against its sources"),
        (StageAdvanced("read", 2, 5), "reading: 2 of 5"),
        (StageAdvanced("table", 2), "table: 2"),
        (StageFinished("read", 1.0, "5 pages"), "reading: 5 pages"),
        (StageFinished("read", 1.0), None),
        (WebSearched(("moon", "tides"), ("twin (127.0.0.1)",), 4), "searched for moon; tides: 4 found"),
        (PageRead("https://example.org/", "fetched"), "https://example.org/: fetched"),
        (ModelCalled("far", "127.0.0.1", 1), "calling far"),
        (ToolCalled("1", "web_search", "moon"), "web_search moon"),
        (ToolReturned("1", "web_search", "moon"), None),
        (
            ToolReturned("1", "web_search", "", Failure("moon", "unreachable", "no answer")),
            "web_search failed: no answer",
        ),
        (FileRead("/home/me/a.md", "indexed"), None),
        (
            FileRead("/home/me/a.pdf", "encrypted", "it needs a password"),
            "cannot use /home/me/a.pdf: it needs a password",
        ),
        (QuerySent("tides", ("twin (127.0.0.1)",), is_private=False), "sending 'tides' to twin (127.0.0.1)"),
        (PhaseStarted("collect", 2, 3, 4, 5, "asking 3 sources"), "asking 3 sources"),
        (
            CycleEvaluated(2, 0.1, 0.2, 0.3, 0.4, 0.15, should_stop=False, reason="not saturated yet"),
            "cycle 2: 15% of what it found is new; not saturated yet",
        ),
        (
            ApprovalRequested(("tides",), ("twin (127.0.0.1)",), "", "a name"),
            "waiting for your approval: send tides to twin (127.0.0.1)",
        ),
        (ApprovalDecided(is_approved=False), "not approved"),
        (ClarificationAsked("Which moon?"), "waiting for your answer: Which moon?"),
        (ClarificationAnswered(None), "not answered"),
        (Warned("no\nmodel"), "warning: no model"),
        (Noted("now answering with far"), "now answering with far"),
        (Noted("a detail", is_detail=True), None),
        (TextStreamed("The moon"), None),
    ],
)
def test_an_event_is_a_line(event: Event, line: str | None) -> None:
    assert line_of(event) == line


def test_a_line_is_short() -> None:
    assert len(line_of(Noted("tide " * 100)) or "") == 200
