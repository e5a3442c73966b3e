"""The README's transcript is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.asky_command import ROOT, clean_environment

pytestmark = pytest.mark.model

_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_PLACE = "/home/you/asky"


def transcript() -> list[tuple[str, str]]:
    """`(command, output)` for each `$` line of the README's console block."""
    block = _BLOCK.search((ROOT / "README.md").read_text("utf-8"))
    assert block is not None
    parts = re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def test_the_transcript_replays(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "asky"
    project.mkdir()
    (project / "examples").symlink_to(ROOT / "examples")
    environ = clean_environment(home) | {"COLUMNS": "100", "PYTHON": sys.executable}
    for command, expected in transcript():
        script = f'asky() {{ "$PYTHON" -W error -m asky "$@"; }}\n{command}'
        done = subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, env=environ, cwd=project, timeout=300, check=False
        )
        assert done.stdout.replace(str(ROOT.resolve()), _PLACE) == expected, (command, done.stderr)


def test_every_link_of_the_docs_leads_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page}: {link}"
