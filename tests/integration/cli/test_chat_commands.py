"""Slash commands, from a pipe into a process of their own: no terminal, no model."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.cli.chat_commands import COMMANDS
from tests.support.asky_command import run_asky
from tests.support.stores import FilledStore


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("/", 2, "a command is / and its name"),
        ("/undo now", 2, "/undo takes nothing after it"),
        ("/undo", 2, "nothing was asked in this chat yet"),
        ("/why\t1", 2, "nothing was asked in this chat yet"),
        ("/why one", 2, "/why needs the number of a citation"),
        ("/why -1", 2, "/why needs the number of a citation"),
        ("/modell", 2, "did you mean /model?"),
        ("/Model", 2, "did you mean /model?"),
        ("/se", 2, "did you mean /session?"),
        ("file:///etc/hostname", 2, "a question in a file is not taken from a pipe"),
        ("/plan /session talk2", 2, "/session is a command, and no question: nothing was asked"),
        ("/plan /sesion talk2", 2, "did you mean /session?"),
        ("/plan / x", 2, "a command is / and its name"),
        ("/xyzzy", 2, "/help lists what there is"),
        ("/mode deep", 2, "not a mode: deep"),
        ("/web on\n/mode lean\n/web on", 2, "the mode lean uses no web"),
        ("/session ../x", 2, "not a session name"),
        ("/session \x1b[31m", 2, "not a session name"),
        ("/model nosuch", 3, "nosuch"),
        ("/plan", 2, "/plan needs a question"),
        ("/edit", 2, "nothing was asked in this chat yet"),
        ("x" * 20_001, 2, "20,000 are the limit"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_cannot_be_done_is_said_in_a_line(line: str, code: int, message: str, tmp_path: Path) -> None:
    done = run_asky("chat", home=tmp_path, stdin=line + "\n")
    assert message in done.stderr
    assert done.stderr.count("asky: ") == 1
    assert done.returncode == code
    assert "\x1b" not in done.stderr + done.stdout


def test_a_line_of_megabytes_is_refused_whole_and_the_next_one_is_heard(tmp_path: Path) -> None:
    done = run_asky("chat", home=tmp_path, stdin="x" * (3 << 20) + " and the moon?\n/model\n")
    assert done.stderr.splitlines()[0] == "asky: a line has more than 1 MiB"
    assert done.stderr.count("asky: ") == 1
    assert (done.returncode, done.stdout) == (2, "* extractive\n")
    assert "no sessions yet" in run_asky("session", "list", home=tmp_path).stderr


def test_what_a_command_is_asked_to_show_goes_to_stdout_also_under_quiet(tmp_path: Path) -> None:
    done = run_asky("chat", "-q", home=tmp_path, stdin="/mode\n/mode lean\n/mode\n/web\n")
    assert done.stdout == "the mode is standard\nthe mode is lean\nthe web is off\n"
    assert done.stderr == ""


def test_findings_are_listed_with_what_they_rest_on(tmp_path: Path) -> None:
    passage = {"source_id": "S1", "title": "Tides", "url": "https://example.org/tides", "path": None}
    with FilledStore(tmp_path / "asky") as store:
        sea = store.sessions.open("sea", mode="research")
        store.findings.add("The moon pulls.", session_id=sea.id, run_id=None, tags=["moon"], passages=[passage])
    done = run_asky("chat", "-s", "sea", home=tmp_path, stdin="/findings\n")
    assert done.returncode == 0, done.stderr
    assert "The moon pulls." in done.stdout
    assert "rests on “Tides” at example.org, #moon" in done.stdout


def test_quit_and_what_people_type_for_it_leave(tmp_path: Path) -> None:
    for line in ("/quit", "quit", "exit"):
        done = run_asky("chat", home=tmp_path, stdin=f"{line}\n/nosuch\n")
        assert (done.returncode, done.stdout) == (0, "")


def test_help_lists_every_command_and_the_guide_does_too(tmp_path: Path) -> None:
    listed = run_asky("chat", home=tmp_path, stdin="/help\n").stdout
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "chat.md").read_text("utf-8")
    for command in COMMANDS.values():
        assert command.typed in listed
        assert command.typed in guide


def test_models_are_listed_with_the_one_that_answers(tmp_path: Path) -> None:
    environ = {"ASKY_MODELS__FAST__PROVIDER": "ollama", "ASKY_MODELS__FAST__ID": "m"}
    done = run_asky("chat", "-m", "fast", home=tmp_path, environ=environ, stdin="/model\n/model extractive\n/model\n")
    lines = done.stdout.splitlines()
    assert "* fast" in lines
    assert "* extractive" in lines
    assert done.returncode == 0, done.stderr
