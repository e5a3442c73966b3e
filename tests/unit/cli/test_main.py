from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import click
import pexpect  # type: ignore[import-untyped] # it has no types
import pytest

from asky.cli.catalog import COMMANDS, EXIT_CODES
from asky.cli.main import asky, hint_at_command, with_command
from asky.errors import AskyError
from tests.support.asky_command import clean_environment, run_asky


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
    ("arguments", "close"),
    [
        (["serach", "foo"], "search"),
        (["corpsu"], "corpus"),
        (["confg", "show"], "config"),
        (["help"], "--help"),
        (["serach", "--json"], None),
        (["serach", "-q"], None),
        (["search"], None),
        (["searching for truth"], None),
        (["Serach"], None),
        (["photosynthesis"], None),
        (["-r"], None),
        ([], None),
    ],
)
def test_a_mistyped_command_is_asked_with_a_hint(arguments: list[str], close: str | None) -> None:
    note = hint_at_command(arguments)
    assert (note is None) == (close is None)
    if close is not None:
        assert note == f'note: "{arguments[0]}" is taken as a question; for the command: asky {close}'


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
