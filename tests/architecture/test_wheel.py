"""What is shipped: the wheel holds the packaged defaults, and works without the checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.asky_command import ROOT, clean_environment


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, "."], cwd=ROOT, check=True, capture_output=True, timeout=300
    )
    return next(folder.glob("asky-*.whl"))


def test_the_wheel_holds_the_defaults_and_nothing_of_the_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"asky/config/research.toml", "asky/config/models.toml", "asky/py.typed"} <= names
    assert {"asky/report/report.css", "asky/report/report.js"} <= names
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


def test_the_unpacked_wheel_knows_its_configuration(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-m", "asky", "config", "show"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean_environment(tmp_path) | {"PYTHONPATH": str(tmp_path / "site")},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "research.embedding.model" in done.stdout
