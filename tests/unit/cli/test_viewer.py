"""Who opens a file is named, and so is a failure; what the program prints reaches no terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.cli.terminal.viewer import show_file

PROGRAMS = ("open", "xdg-open")


def put(folder: Path, script: str) -> None:
    for name in PROGRAMS:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ('echo "$1" > "$0.opened"', "Paper has been opened using "),
        ("echo no method available >&2; exit 3", "ended with 3"),
    ],
)
def test_the_program_and_its_failure_are_named(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, script)
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = show_file(tmp_path / "a paper.pdf")
    assert said in shown
    assert str(tmp_path) in shown
    assert capfd.readouterr() == ("", "")
    opened = [each.read_text() for each in tmp_path.glob("*.opened")]
    assert opened == ([f"{tmp_path / 'a paper.pdf'}\n"] if "Paper" in said else [])


def test_without_a_program_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert show_file(tmp_path / "x.pdf").startswith("It was not opened: there is no program ")
