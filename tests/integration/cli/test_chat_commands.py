"""Slash commands, from a pipe into a process of their own: no terminal, no model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from asky.cli.chat.commands import COMMANDS
from tests.support.asky_command import run_asky
from tests.support.endpoint import Endpoint
from tests.support.here import run_here
from tests.support.stores import FilledStore


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("/", 2, "a command needs a name after the /"),
        ("/undo now", 2, "/undo takes no argument"),
        ("/undo", 2, "no question has been asked in this chat yet"),
        ("/why\t1", 2, "no question has been asked in this chat yet"),
        ("/why", 2, "/why needs the number of a citation"),
        ("/modell", 2, "did you mean /model?"),
        ("/Model", 2, "did you mean /model?"),
        ("/se", 2, "did you mean /session?"),
        ("file:///etc/hostname", 2, "a prompt file cannot be named in a pipe"),
        ("/plan /session talk2", 2, "/session is a command, not a question; nothing was asked"),
        ("/plan /sesion talk2", 2, "did you mean /session?"),
        ("/plan / x", 2, "a command needs a name after the /"),
        ("/xyzzy", 2, "/help lists the commands"),
        ("/mode deep", 2, "not a mode: deep"),
        ("/web on\n/mode lean\n/web on", 2, "lean mode does not use the web"),
        ("/session ../x", 2, "not a session name"),
        ("/session \x1b[31m", 2, "not a session name"),
        ("/model nosuch", 3, "nosuch"),
        ("/plan", 2, "/plan needs a question"),
        ("/edit", 2, "no question has been asked in this chat yet"),
        ("x" * 20_001, 2, "the limit is 20,000"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_cannot_be_done_is_said_in_a_line(line: str, code: int, message: str, tmp_path: Path) -> None:
    done = run_here("chat", home=tmp_path, stdin=line + "\n")
    assert message in done.stderr
    assert done.stderr.count("asky: ") == 1
    assert done.returncode == code
    assert "\x1b" not in done.stderr + done.stdout


def test_a_line_of_megabytes_is_refused_whole_and_the_next_one_is_heard(tmp_path: Path) -> None:
    done = run_asky("chat", home=tmp_path, stdin="x" * (3 << 20) + " and the moon?\n/model\n")
    assert done.stderr.splitlines()[0] == "asky: a line is longer than 1 MiB"
    assert done.stderr.count("asky: ") == 1
    assert (done.returncode, done.stdout) == (2, "* extractive\n")
    assert "no sessions yet" in run_asky("session", "list", home=tmp_path).stderr


def test_what_a_command_is_asked_to_show_goes_to_stdout_also_under_quiet(tmp_path: Path) -> None:
    done = run_here("chat", "-q", home=tmp_path, stdin="/mode\n/mode lean\n/mode\n/web\n")
    assert done.stdout == "the mode is standard\nthe mode is lean\nthe web is off\n"
    assert done.stderr == ""


@pytest.mark.model
def test_the_evidence_of_the_last_answer_that_has_some_is_shown(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tides.md").write_text("# Tides\n\nThe moon pulls on the water of the sea.\n")
    asked = "What pulls on the water of the sea?\nWho painted the ceiling of the Sistine Chapel?\n"
    done = run_here("chat", "-r", "-d", "docs", home=tmp_path, stdin=f"{asked}/why 1\n/check\n/sources\n")
    assert done.stderr.count("the last answer cites nothing; this is the one to “What pulls on the water") == 3
    assert ">>>\n# Tides\n\nThe moon pulls on the water of the sea.\n<<<" in done.stdout
    assert "quoted" in done.stdout
    assert "tides.md" in done.stdout or "Tides  [1]" in done.stdout


def test_what_was_typed_about_the_web_waits_for_a_question_that_uses_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tides.md").write_text("# Tides\n\nThe moon pulls on the water of the sea.\n")
    asked = "What pulls on the water?\n"
    done = run_here(
        *("chat", "--web", "--site", "nasa.gov", "-d", "docs"),
        home=tmp_path,
        environ={"ASKY_RESEARCH__EMBEDDING__MODEL": "none"},
        stdin=f"/web off\n{asked}/mode lean\n{asked}/mode standard\n/web on\n/plan {asked}",
    )
    assert "The moon pulls on the water of the sea. [1]" in done.stdout
    assert done.stdout.count("[1] Tides") == 2
    assert done.stderr.count("asky: ") == 1  # the web is demanded again, and nothing is set up for it
    assert "asky: no search service is set up" in done.stderr


def test_findings_of_all_sessions_wait_for_a_question_that_recalls_some(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tides.md").write_text("# Tides\n\nThe moon pulls on the water of the sea.\n")
    done = run_here(
        *("chat", "-r", "--all-sessions", "-d", "docs"),
        home=tmp_path,
        environ={"ASKY_RESEARCH__EMBEDDING__MODEL": "none"},
        stdin="/mode standard\nWhat pulls on the water?\n/mode research\nWhat pulls on the water?\n",
    )
    assert (done.returncode, done.stdout.count("[1] Tides")) == (0, 2), done.stderr


def test_findings_are_listed_with_what_they_rest_on(tmp_path: Path) -> None:
    passage = {"source_id": "S1", "title": "Tides", "url": "https://example.org/tides", "path": None}
    with FilledStore(tmp_path / "asky") as store:
        sea = store.sessions.open("sea", mode="research")
        store.findings.add("The moon pulls.", session_id=sea.id, run_id=None, tags=["moon"], passages=[passage])
    done = run_here("chat", "-s", "sea", home=tmp_path, stdin="/findings\n")
    assert done.returncode == 0, done.stderr
    assert "The moon pulls." in done.stdout
    assert "cites “Tides” at example.org, #moon" in done.stdout


def test_quit_and_what_people_type_for_it_leave(tmp_path: Path) -> None:
    for line in ("/quit", "quit", "exit"):
        done = run_here("chat", home=tmp_path, stdin=f"{line}\n/nosuch\n")
        assert (done.returncode, done.stdout) == (0, "")


def test_help_lists_every_command_and_the_guide_does_too(tmp_path: Path) -> None:
    listed = run_here("chat", home=tmp_path, stdin="/help\n").stdout
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "chat.md").read_text("utf-8")
    for command in COMMANDS.values():
        assert command.slash_name in listed
        assert command.slash_name in guide


def test_models_are_listed_with_the_one_that_answers(tmp_path: Path) -> None:
    environ = {"ASKY_MODELS__FAST__PROVIDER": "ollama", "ASKY_MODELS__FAST__ID": "m"}
    done = run_here("chat", "-m", "fast", home=tmp_path, environ=environ, stdin="/model\n/model extractive\n/model\n")
    lines = done.stdout.splitlines()
    assert "* fast" in lines
    assert "* extractive" in lines
    assert done.returncode == 0, done.stderr


def test_thanks_are_no_run_and_leave_the_last_answer_to_the_commands(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe moon raises the tides twice a day.\n")
    environ = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model")}
    lines = "What raises the tides?\nthanks!\nwhy 1\nok\nMerci\nsources\n"
    done = run_here("chat", "-d", "tides.md", home=tmp_path, environ=environ, stdin=lines)
    assert done.stdout.count("You are welcome.") == 2
    assert "checked: the stored text has this hash" in done.stdout
    assert "Tides  [1]\n" in done.stdout
    assert len(json.loads(run_here("runs", "list", "--json", home=tmp_path).stdout)["runs"]) == 1


def test_a_follow_up_asks_with_the_words_of_a_question_that_was_refused(tmp_path: Path) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe moon raises the tides twice a day.\n")
    environ = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model")}
    lines = "Who built the lighthouse?\nthanks\nAnd the harbour?\n"
    done = run_here("chat", "-d", "tides.md", home=tmp_path, environ=environ, stdin=lines)
    assert "“Who built the lighthouse? And the harbour?”" in done.stdout


def test_a_word_that_is_a_command_reaches_no_model(tmp_path: Path) -> None:
    with Endpoint("Shall I look further?", "Yes.", "Done.") as endpoint:
        environ = {"ASKY_PROVIDERS__LAB__BASE_URL": endpoint.base_url, "ASKY_MODEL": "lab:test-model"}
        lines = "What raises the tides?\nclear\nhelp\ncost\nweb off\nthanks\nok\nclear\nok\nquit\nnever\n"
        done = run_here("chat", "--no-web", home=tmp_path, environ=environ, stdin=lines)
        asked = [each.messages[-1]["content"] for each in endpoint.requests]
    assert asked == ["What raises the tides?", "ok"]  # the second "ok" answers nothing
    assert "there is no command clear; nothing was asked" in done.stderr
    assert done.stdout.count("You are welcome.") == 1
