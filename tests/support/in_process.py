"""Runs the command line inside the test's process: as quick as a function call, with its streams kept apart."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from asky.__main__ import run
from tests.support.asky_command import ROOT


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The one error object on stderr."""
        return json.loads(self.err)


class InProcess:
    """`asky ARGUMENTS` with its home in `home` and no other variables of asky, but with the prepared
    models of this test run."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self._capsys = capsys
        for name in [each for each in os.environ if each.startswith("ASKY_")]:
            monkeypatch.delenv(name)
        for name in ("COLUMNS", "LINES"):  # what runs the tests may have a terminal
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("ASKY_HOME", str(home))
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for what a command starts
        monkeypatch.chdir(home)

    def __call__(self, *arguments: str) -> Done:
        self._capsys.readouterr()
        code = run(arguments)
        out, err = self._capsys.readouterr()
        return Done(code, out, err)
