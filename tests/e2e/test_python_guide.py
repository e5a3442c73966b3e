"""The code of the guide for Python runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.asky_command import ROOT, clean_environment

GUIDE = ROOT / "docs" / "guides" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


@pytest.mark.few(1)
@pytest.mark.parametrize("code", BLOCKS, ids=["script", "without async"])
def test_the_code_of_the_guide_answers_from_a_folder(code: str, tmp_path: Path) -> None:
    environ = clean_environment(tmp_path, {"ASKY_RESEARCH__EMBEDDING__MODEL": str(tmp_path / "no model")})
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "tides" in done.stdout
    assert done.stderr == ""
    assert "[1]" in done.stdout
