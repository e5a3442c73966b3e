"""Runs the command line in a process of its own, away from the configuration of whoever runs the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASKY = (sys.executable, "-m", "asky")
_KEPT = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")


def clean_environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment whose home and `ASKY_HOME` lie in `home`, with nothing else of this process's but its
    paths and its prepared models."""
    environ = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environ |= {"HOME": str(home), "ASKY_HOME": str(home / "asky"), "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}
    return environ | dict(extra or {})


def run_asky(
    *arguments: str, home: Path, environ: Mapping[str, str] | None = None, cwd: Path | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """The finished process `asky ARGUMENTS`, with its output as text. It is killed after five minutes."""
    return run_python(("-m", "asky", *arguments), home=home, environ=environ, cwd=cwd, stdin=stdin)


def run_python(
    arguments: Sequence[str],
    *,
    home: Path,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """The finished process `python ARGUMENTS` in the same environment."""
    return subprocess.run(
        [sys.executable, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        env=clean_environment(home, environ),
        cwd=cwd or home,
        timeout=300,
        check=False,
    )
