"""The README's transcripts are what happens, and what the first pages say can be typed in their order."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.asky_command import ROOT, clean_environment

pytestmark = pytest.mark.model

_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_PLACE = "/home/you/asky"
_RUN = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b")
_COMMANDS = re.compile(r"^    (asky .*)$", re.MULTILINE)
_ANSWERED, _NOT_ENOUGH = 0, 11


def transcript() -> list[tuple[str, str]]:
    """`(command, output)` for each `$` line of the README's console blocks, with the `>` lines that go on from it."""
    found = []
    for block in _BLOCK.findall((ROOT / "README.md").read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.split("\n")
            while lines[0].startswith("> "):
                command += "\n" + lines.pop(0).removeprefix("> ")
            found.append((command, "\n".join(lines)))
    return found


def shell(command: str, environ: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """The finished command of a shell in which `asky` is the one that is tested."""
    script = f'asky() {{ "$PYTHON" -W error -m asky "$@"; }}\n{command}'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=environ, cwd=cwd, timeout=300, check=False
    )


def test_the_transcripts_replay_in_order(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "asky"
    project.mkdir()
    (project / "examples").symlink_to(ROOT / "examples")
    environ = clean_environment(home) | {"COLUMNS": "100", "PYTHON": sys.executable}
    for command, expected in transcript():
        done = shell(command, environ, project)
        shown = done.stdout.replace(str(ROOT.resolve()), _PLACE)
        assert _RUN.sub("RUN", shown) == _RUN.sub("RUN", expected), (command, done.stderr)


def test_the_quick_start_can_be_typed_in_order(home: Path) -> None:
    for name in ("papers", "notes"):
        (home / name).mkdir()
    (home / "papers" / "trial.md").write_text("# A trial\n\nThe trial measured blood pressure in 120 people.\n")
    (home / "notes" / "group.md").write_text("# Groups\n\nThese papers use a control group: the trial of Aarau.\n")
    text = (ROOT / "docs" / "guides" / "quick-start.md").read_text("utf-8")
    commands = _COMMANDS.findall(text[text.index("## Ask your own") : text.index("## Exit codes")])
    assert [each.split()[1] for each in commands[:5]] == ["-r", "why", "runs", "runs", "runs"]
    environ = clean_environment(home) | {"PYTHON": sys.executable}
    for command in commands:
        done = shell(command, environ, home)
        codes = (_ANSWERED, _NOT_ENOUGH) if '"' in command else (_ANSWERED,)
        assert done.returncode in codes, (command, done.stderr)
        assert "0 citations" not in done.stdout


def test_the_last_line_of_the_demo_is_a_command_that_works(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "asky"
    (project / "docs").mkdir(parents=True)
    (project / "docs" / "a.md").write_text("# Checks\n\nasky checks that a citation is real by its key.\n")
    shutil.copy(ROOT / "Makefile", project)
    (project / "pyproject.toml").touch()
    programs = project / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "asky").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m asky "$@"\n')
    (programs / "asky").chmod(0o700)
    (project / ".venv" / ".installed").touch()
    environ = {name: value for name, value in clean_environment(home).items() if name != "ASKY_HOME"}
    made = shell("make demo", environ, project)
    assert made.returncode == 0, made.stderr
    command = made.stdout.rstrip().splitlines()[-1].partition(": ")[2]
    assert command.endswith(".venv/bin/asky why 1")
    opened = shell(command, environ, project)
    assert "is real by its key." in opened.stdout, opened.stderr


def test_every_link_of_the_docs_leads_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page}: {link}"
