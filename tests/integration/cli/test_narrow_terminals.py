"""Lists and reports on a terminal that is narrower than their lines: it wraps them, and nothing is left out."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pexpect
import pyte
import pytest

from tests.support.asky_command import clean_environment, run_asky
from tests.support.stores import MILL, TIDES, FilledStore

_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\]8;[^\x1b\x07]*(?:\x07|\x1b\\\\)")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    with FilledStore(tmp_path / "asky") as store:
        tides = tmp_path / "docs" / "潮汐の観測と月の引力についての長い覚え書き.md"
        document = store.add_text(tides, TIDES, title="Tides")
        store.add_text(tmp_path / "docs" / ("a long name " * 8 + ".txt"), MILL)
        quote = "The moon pulls on the water"
        store.answered("What pulls on the sea?", "The moon [1].", lambda r: [store.evidence(r, tides, document, quote)])
    return tmp_path


def sent(command: list[str], home: Path, environ: dict[str, str], columns: int) -> str:
    """What the command sends to a terminal of that width; a question is answered with no."""
    variables = clean_environment(home, {**environ, "TERM": "xterm", "COLUMNS": str(columns), "LINES": "400"})
    child = pexpect.spawn(
        sys.executable,
        ["-m", "asky", *command],
        env=variables,
        cwd=str(home),
        encoding="utf-8",
        timeout=300,
        dimensions=(400, columns),
    )
    text = ""
    while child.expect([r"\[y/N\]:", pexpect.EOF]) == 0:
        text += f"{child.before}{child.after}"
        child.sendline("n")
    text += child.before or ""
    child.close()
    return text


def shown(command: list[str], home: Path, environ: dict[str, str], columns: int) -> str:
    """The characters on the screen of a terminal of that width, without white space."""
    screen = pyte.Screen(columns, 400)
    pyte.Stream(screen).feed(sent(command, home, environ, columns))
    return "".join("".join(screen.display).split())


def printed(command: list[str], home: Path, environ: dict[str, str], columns: int) -> str:
    """The lines that a terminal of that width is sent, without colours and links."""
    lines = _STYLE.sub("", sent(command, home, environ, columns)).replace("\r\n", "\n").split("\n")
    return "\n".join(line.rpartition("\r")[2] for line in lines)


@pytest.mark.few(1)
@pytest.mark.parametrize("columns", [20, 40])
@pytest.mark.parametrize("command", [["doctor"], ["runs", "list"], ["corpus", "list"]], ids=" ".join)
def test_whatever_the_width_everything_is_shown(home: Path, command: list[str], columns: int) -> None:
    environ = {"ASKY_RESEARCH__EMBEDDING__MODEL": str(home / "no-model")}
    whole = run_asky(*command, home=home, environ=environ)
    assert "Traceback" not in whole.stderr
    lines = [line for line in whole.stdout.splitlines() if line[9:14].strip() not in ("disk", "sizes")]  # they change
    screen = shown(command, home, environ, columns)
    assert lines
    assert [line for line in lines if "".join(line.split()) not in screen] == []


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "command",
    [
        ["doctor"],
        ["models", "list"],
        ["--help"],
        ["config", "show"],
        ["config", "path"],
        ["models", "show", "openai:gpt-x"],
        ["models", "test", "openai:gpt-x"],
        ["runs", "show"],
        ["corpus", "status"],
        ["-s", "sea", "-r", "Who?"],
    ],
    ids=" ".join,
)
def test_only_an_address_or_a_path_is_longer_than_a_narrow_terminal(home: Path, command: list[str]) -> None:
    columns = 60
    rows = printed(command, home, {"ASKY_RESEARCH__EMBEDDING__MODEL": str(home / "no-model")}, columns).splitlines()
    assert rows
    assert [row for row in rows if len(row) > columns and len(row.split()) > 1] == []
