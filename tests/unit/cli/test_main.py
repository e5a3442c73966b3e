from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import click
import pexpect  # type: ignore[import-untyped] # it has no types
import pytest

from asky.cli.catalog import COMMANDS, EXIT_CODES
from asky.cli.main import asky, with_command
from asky.errors import AskyError
from tests.support.asky_command import clean_environment, run_asky
from tests.support.dialogue import Dialogue
from tests.support.here import run_here


@pytest.mark.parametrize(
    ("arguments", "dispatched"),
    [
        (["what is this?"], ["ask", "what is this?"]),
        (["-r", "-d", "docs", "question"], ["ask", "-r", "-d", "docs", "question"]),
        (["-"], ["ask", "-"]),
        (["file://prompt.txt"], ["ask", "file://prompt.txt"]),
        (["--", "-x"], ["ask", "--", "-x"]),
        (["-q", "search", "x"], ["ask", "-q", "search", "x"]),
        (["why is it so?"], ["ask", "why is it so?"]),
        (["Search"], ["ask", "Search"]),
        ([""], ["ask", ""]),
        (["search", "x"], ["search", "x"]),
        (["ask", "search"], ["ask", "search"]),
        (["why", "1"], ["why", "1"]),
        (["--help"], ["--help"]),
        (["-h"], ["-h"]),
        (["--version"], ["--version"]),
    ],
)
def test_what_is_not_a_command_is_a_question(arguments: list[str], dispatched: list[str]) -> None:
    assert with_command(arguments, piped=False) == dispatched
    assert with_command(arguments, piped=True) == dispatched


def test_without_arguments_only_a_pipe_is_a_question() -> None:
    assert with_command([], piped=True) == ["ask"]
    assert with_command([], piped=False) == []


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["sessions"], "asky session"),
        (["run", "list"], "asky runs list"),
        (["run", "shwo"], "asky runs shwo"),
        (["sesion", "rm", "harbour"], "asky session rm harbour"),
        (["serach", "foo"], "asky search foo"),
        (["serach", "foo", "-d", "docs"], "asky search foo -d docs"),
        (["corpsu", "-q"], "asky corpus -q"),
        (["confg", "show"], "asky config show"),
    ],
)
def test_a_word_that_almost_is_a_command_is_not_asked(arguments: list[str], meant: str, tmp_path: Path) -> None:
    done = run_here(*arguments, home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"asky: there is no command {arguments[0]}\n")
    assert f"did you mean `{meant}`? to ask it as a question: asky ask {' '.join(arguments)}\n" in done.stderr
    assert not (tmp_path / "asky" / "data").exists()


def test_with_json_a_mistyped_command_is_a_json_error(tmp_path: Path) -> None:
    done = run_here("serach", "tides", "--json", home=tmp_path)
    assert (done.returncode, json.loads(done.stderr)["code"]) == (2, "usage")


@pytest.mark.parametrize(
    ("question", "is_noted"),
    [
        (["photosynthesis"], False),
        (["paper", "planes"], True),
        (["serach", "tides", "and", "moon"], True),
        (["serach", "tides", "and", "moon", "-q"], False),
        (["searching for truth"], False),
        (["Serach"], False),
        (["ask", "sessions"], False),
    ],
)
def test_what_may_be_a_question_is_asked(question: list[str], is_noted: bool, tmp_path: Path) -> None:
    done = run_here(*question, "--dry-run", "-d", ".", home=tmp_path)
    assert "there is no command" not in done.stderr
    note = f'note: "{question[0]}" is taken as a question; for the command: asky '
    assert (note in done.stderr) is is_noted


@pytest.mark.parametrize(("reply", "said"), [("", "no sessions yet"), ("n", "there is nothing to answer from")])
def test_on_a_terminal_a_mistyped_command_is_asked_about(reply: str, said: str, tmp_path: Path) -> None:
    with Dialogue("sessions", home=tmp_path) as typed:
        typed.answer("Run `asky session`? [Y/n]:", reply)
        if reply == "n":  # nothing is set up to answer from
            typed.answer("[y/N]:", "n")
        typed.end()
    assert "there is no command sessions; n asks it as a question" in typed.screen
    assert said in typed.screen


def test_help_is_help(tmp_path: Path) -> None:
    assert run_here("help", home=tmp_path).stdout == run_here("--help", home=tmp_path).stdout


def test_every_command_that_is_there_is_called_by_its_name() -> None:
    context = click.Context(asky)
    present = [name for name in COMMANDS if importlib.util.find_spec(f"asky.cli.commands.{name}")]
    assert {"config", "completion"} <= set(present)
    for name in present:
        command = asky.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert command.get_short_help_str(100), f"asky {name} says nothing of itself"
    assert asky.get_command(context, "nothing") is None


def test_help_lists_every_command_and_every_exit_code(tmp_path: Path) -> None:
    done = run_asky("--help", home=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    lines = {line.split(None, 1)[0]: line for line in done.stdout.splitlines() if line.startswith("  ")}
    for name, text in COMMANDS.items():
        assert text in lines[name]
    for code in EXIT_CODES:
        assert str(code) in lines


def test_every_error_has_a_documented_exit_code() -> None:
    def tree(error: type[AskyError]) -> list[type[AskyError]]:
        return [error, *(below for child in error.__subclasses__() for below in tree(child))]

    for error in tree(AskyError):
        assert error.exit_code in EXIT_CODES, error


def test_in_a_terminal_asky_alone_prints_its_help(tmp_path: Path) -> None:
    environ = clean_environment(tmp_path, {"TERM": "xterm"})
    child = pexpect.spawn(sys.executable, ["-m", "asky"], env=environ, encoding="utf-8", timeout=300)
    child.expect_exact("Usage: asky")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_the_version_is_printed(tmp_path: Path) -> None:
    done = run_asky("--version", home=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("asky 0.1.0\n", "", 0)


def test_help_and_version_and_config_show_write_nothing(tmp_path: Path) -> None:
    for arguments in (["--help"], ["--version"], ["config", "show"], ["config", "path"], ["config", "validate"]):
        assert run_asky(*arguments, home=tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(shell: str, tmp_path: Path) -> None:
    done = run_asky("completion", shell, home=tmp_path)
    assert done.returncode == 0
    assert "_ASKY_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("words", "at", "expected"),
    [
        ("asky co", "1", ["plain,corpus", "plain,config", "plain,completion"]),
        ("asky config s", "2", ["plain,show", "plain,set"]),
        ("asky config show --j", "3", ["plain,--json"]),
        ("asky --vers", "1", ["plain,--version"]),
        ("asky completion z", "2", ["plain,zsh"]),
        ("asky config set research.cache.t", "3", ["plain,research.cache.ttl_hours"]),
        ("asky runs show 2", "3", []),
    ],
)
def test_the_shell_can_complete_commands_and_options(words: str, at: str, expected: list[str], tmp_path: Path) -> None:
    environ = {"_ASKY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": at}
    done = run_asky(home=tmp_path, environ=environ)
    assert sorted(done.stdout.split()) == sorted(expected)
    assert done.returncode == 0
