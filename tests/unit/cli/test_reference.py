from __future__ import annotations

import shutil
from pathlib import Path

from tests.support.asky_command import ROOT
from tools.reference import TARGETS, outdated


def test_the_generated_files_say_what_the_code_says() -> None:
    assert list(outdated(ROOT)) == [], "run: python tools/reference.py"


def test_a_file_that_is_missing_or_differs_is_noticed(tmp_path: Path) -> None:
    for name in TARGETS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    assert list(outdated(tmp_path)) == []
    (tmp_path / "research.toml").write_text("# other\n")
    (tmp_path / "docs/reference/commands.md").unlink()
    assert list(outdated(tmp_path)) == ["research.toml", "docs/reference/commands.md"]
