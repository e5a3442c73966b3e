"""`asky notes research` as a user sees it: at a terminal that asks, and in a pipe where nobody is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.asky_command import run_asky
from tests.support.chatting import CTRL_C, ENTER, Chatting
from tests.support.endpoint import Request
from tests.support.note_lab import TIDAL, NoteLab, key_of, topics


def model(request: Request) -> str:
    """Choose two topics, or write about one of them."""
    if "Reply with a JSON array" in str(request.messages):
        return topics("tidal barrage", "spring tide")
    key = key_of(request, "500 GWh")
    return f"### Barrages\n\nThe Rance makes 500 GWh of electricity a year [{key}]."


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[NoteLab]:
    with NoteLab(tmp_path) as opened:
        opened.endpoint.play(model)
        yield opened


def at_terminal(lab: NoteLab, *arguments: str) -> Chatting:
    command = ("notes", "research", "Tidal power.md", "-m", "far")
    return Chatting(*arguments, home=lab.folder, environ=lab.environ(), command=command)


def test_the_queries_are_shown_and_confirmed_and_the_change_is_taken_back(lab: NoteLab) -> None:
    with at_terminal(lab) as terminal:
        terminal.see("- spring tide")
        terminal.see("Send these 2 queries to searxng")
        assert lab.search.requests == []
        terminal.type("y" + ENTER)
        terminal.see("takes it back")
        assert terminal.end() == 0
    assert lab.queries() == ["spring tide", "tidal barrage"]
    assert f"500 GWh of electricity a year ([The Rance]({lab.site.url('/rance')}))." in lab.note()
    why = run_asky("why", "1", home=lab.folder, environ=lab.environ())
    assert "makes 500 GWh" in why.stdout
    undone = run_asky("notes", "undo", "Tidal power", home=lab.folder, environ=lab.environ())
    assert (undone.returncode, lab.note()) == (0, TIDAL)
    again = run_asky("notes", "undo", "Tidal power", home=lab.folder, environ=lab.environ())
    assert (again.returncode, again.stdout) == (2, "")
    assert "has not written to" in again.stderr


@pytest.mark.extended
def test_no_and_ctrl_c_send_nothing(lab: NoteLab) -> None:
    with at_terminal(lab, "--dry-run") as terminal:
        terminal.see("[y/N]")
        terminal.type("n" + ENTER)
        terminal.see("the queries were not approved")
        terminal.end()  # the model then lacks the passage that it would cite
    with at_terminal(lab) as terminal:
        terminal.see("[y/N]")
        terminal.type(CTRL_C)
        assert terminal.end() == 130
    assert lab.search.requests == []
    assert lab.note() == TIDAL


@pytest.mark.extended
def test_in_a_pipe_nothing_is_sent_unless_it_was_allowed_and_json_is_all_there_is(lab: NoteLab) -> None:
    command = ("notes", "research", "Tidal power.md", "--json")
    alone = run_asky(*command, home=lab.folder, environ=lab.environ())
    assert alone.returncode == 0, alone.stderr
    found = json.loads(alone.stdout)
    assert (found["schema"], found["success"], found["path"]) == ("asky.note/1", True, "Tidal power.md")
    assert any("not approved" in each for each in found["warnings"])
    assert lab.search.requests == []
    allowed = run_asky(*command, home=lab.folder, environ={**lab.environ(), "ASKY_NOTES__APPROVE_QUERIES": "true"})
    assert allowed.returncode == 0, allowed.stderr
    assert lab.search.requests != []
    wrong = run_asky(*command, "--depth", "extreme", home=lab.folder, environ=lab.environ())
    assert wrong.returncode == 2
    failure = json.loads(wrong.stdout)
    assert (failure["success"], failure["error"]) == (
        False,
        "Invalid depth: 'extreme'. Must be 'shallow' or 'deep'.",
    )
