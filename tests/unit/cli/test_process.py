"""The process around the command line: pipes, locales, closed descriptors, errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.asky_command import ASKY, clean_environment, run_asky, run_python


def test_a_usage_error_is_one_line_a_hint_and_exit_2(tmp_path: Path) -> None:
    done = run_asky("config", "nothing", home=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "asky: No such command 'nothing'.\nhint: see: asky config --help\n"


def test_a_sentence_that_starts_with_a_command_is_told_how_to_be_asked(tmp_path: Path) -> None:
    done = run_asky("config", "is", "the", "key", "to", "success", home=tmp_path)
    assert done.returncode == 2
    assert 'to ask it as a question: asky ask "config is the key to success"' in done.stderr


def test_a_group_without_a_command_names_its_commands(tmp_path: Path) -> None:
    done = run_asky("config", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("asky: asky config needs a command: ")
    assert done.stderr.endswith("\nhint: see: asky config --help\n")


def test_an_error_under_json_is_one_object_on_stderr(tmp_path: Path) -> None:
    done = run_asky("config", "show", "--json", home=tmp_path, environ={"ASKY_UI__COLOR": "x"})
    assert done.returncode == 2
    assert done.stdout == ""
    error = json.loads(done.stderr)
    assert (error["schema"], error["code"]) == ("asky.error/1", "config")
    assert done.stderr.count("\n") == 1


def test_a_usage_error_under_json_is_an_object_too(tmp_path: Path) -> None:
    done = run_asky("config", "show", "--jsn", "--json", home=tmp_path)
    assert done.returncode == 2
    assert json.loads(done.stderr)["code"] == "usage"


def test_json_after_two_dashes_is_no_option(tmp_path: Path) -> None:
    assert run_asky("config", "show", "--", "--json", home=tmp_path).stderr.startswith("asky: ")


CRASH = """
import sys
from asky.__main__ import exit_process, run
from asky.cli.main import asky
import click

@asky.command("crash")
@click.option("-v", "--verbose", is_flag=True)
def crash(verbose):
    {body}

asky.get_command = lambda ctx, name: crash
exit_process(run(["config", *sys.argv[1:]]))
"""


@pytest.mark.parametrize("arguments", [[], ["-v"]])
@pytest.mark.parametrize("rest", ["", "nonsense = 1\n"])
def test_the_key_of_a_provider_is_masked_whatever_its_variable_is_called(
    tmp_path: Path, arguments: list[str], rest: str
) -> None:
    provider = '[providers.lab]\nbase_url = "http://localhost:1/v1"\napi_key_env = "LAB"\n'
    file = tmp_path / "asky" / "config" / "models.toml"
    file.parent.mkdir(parents=True)
    file.write_text(rest + provider)
    code = CRASH.format(body="import os; raise ValueError('odd ' + os.environ['LAB'])")
    done = run_python(("-c", code, *arguments), home=tmp_path, environ={"LAB": "correct-horse-battery"})
    assert "odd ***" in done.stderr
    assert "correct-horse-battery" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("body", "arguments", "environ", "traceback", "code"),
    [
        ("raise ValueError('odd')", [], {}, False, 1),
        ("raise ValueError('odd')", ["-v"], {}, True, 1),
        ("raise ValueError('odd')", [], {"ASKY_DEBUG": "1"}, True, 1),
        ("raise MemoryError", [], {}, False, 1),
        ("f = lambda: f(); f()", [], {}, False, 1),
        ("raise KeyboardInterrupt", [], {}, False, 130),
        ("sys.exit(7)", [], {}, False, 7),
        ("sys.exit()", [], {}, False, 0),
        ("click.get_current_context().exit(11)", [], {}, False, 11),
    ],
)
def test_whatever_happens_becomes_an_exit_code_and_at_most_two_lines(
    body: str, arguments: list[str], environ: dict[str, str], traceback: bool, code: int, tmp_path: Path
) -> None:
    done = run_python(("-c", CRASH.replace("{body}", body), *arguments), home=tmp_path, environ=environ)
    assert done.returncode == code
    assert ("Traceback" in done.stderr) == traceback
    assert traceback or len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize(
    "arguments", [["--help"], ["config", "show"], ["config", "show", "--json"], ["completion", "bash"]]
)
def test_a_reader_that_goes_away_is_no_error(arguments: list[str], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*ASKY, *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=clean_environment(tmp_path),
        check=False,
    )
    os.close(writing)
    assert (done.stderr, done.returncode) == (b"", 141)


def test_a_full_disk_under_stdout_is_an_error(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*ASKY, "config", "show"], stdout=full, stderr=subprocess.PIPE, env=clean_environment(tmp_path), check=False
        )
    assert done.returncode == 1
    assert b"No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_closed_descriptors_do_no_harm(closed: str, tmp_path: Path) -> None:
    done = run_in_shell(f"config show {closed}", tmp_path)
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"ui.color" in done.stdout


@pytest.mark.parametrize("arguments", ["--version", "config show --json", "'How deep is the bar?'", "corpus sync"])
def test_without_a_standard_output_nothing_is_done_and_one_line_says_so(arguments: str, tmp_path: Path) -> None:
    done = run_in_shell(f"{arguments} >&-", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"the standard output is closed" in done.stderr
    assert not (tmp_path / "asky").exists()
    assert run_in_shell(f"{arguments} <&- >&- 2>&-", tmp_path).returncode == 2


def run_in_shell(command: str, home: Path) -> subprocess.CompletedProcess[bytes]:
    """`asky COMMAND` as a shell runs it."""
    return subprocess.run(
        ["/bin/sh", "-c", f'"$0" -m asky {command}', sys.executable],
        capture_output=True,
        env=clean_environment(home),
        check=False,
    )


def test_a_file_never_takes_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    code = (
        "import os; from asky.cli.terminal.streams import harden_streams; harden_streams();"
        "n = os.open('/dev/null', os.O_RDONLY); print(n); os._exit(0 if n > 2 else 9)"
    )
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -c "$1" <&- >&- 2>&-', sys.executable, code],
        env=clean_environment(tmp_path),
        check=False,
    )
    assert done.returncode == 0


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_a_locale_without_unicode_costs_characters_and_nothing_else(locale: dict[str, str], tmp_path: Path) -> None:
    environ = {"ASKY_RESEARCH__EMBEDDING__MODEL": "modèle-日本", **locale}
    shown = run_asky("config", "show", "--json", home=tmp_path, environ=environ)
    values = {v["key"]: v["value"] for v in json.loads(shown.stdout)["values"]}
    assert values["research.embedding.model"].startswith("mod")
    broken = run_asky("config", "modèle-日本", home=tmp_path, environ=locale)
    assert broken.returncode == 2
    assert "Traceback" not in broken.stderr
    assert run_asky("--help", home=tmp_path, environ=locale).returncode == 0


def test_a_locale_without_unicode_gets_stand_ins_for_marks_and_signs(tmp_path: Path) -> None:
    code = "from asky.cli.terminal.streams import harden_streams; harden_streams();print('⚠ “it” – ‘is’ … • ─ é 海')"
    done = run_python(["-c", code], home=tmp_path, environ={"PYTHONIOENCODING": "latin-1"})
    assert done.stdout == "! \"it\" - 'is' ... - - \udce9 ?\n"


def test_arguments_that_are_not_unicode_are_shown_somehow(tmp_path: Path) -> None:
    done = subprocess.run(
        [*ASKY, "config", b"caf\xe9"], capture_output=True, env=clean_environment(tmp_path), check=False
    )
    assert done.returncode == 2
    assert b"No such command 'caf" in done.stderr


def test_a_deleted_folder_is_named_as_the_reason(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'cd "{gone}" && rmdir "{gone}" && "$0" -m asky config show'
    done = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable],
        capture_output=True,
        text=True,
        env=clean_environment(tmp_path),
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("asky: the current folder does not exist any more\n")


def test_help_fits_a_narrow_and_a_dumb_terminal(tmp_path: Path) -> None:
    done = run_asky("--help", home=tmp_path, environ={"COLUMNS": "20", "TERM": "dumb", "NO_COLOR": "1"})
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
