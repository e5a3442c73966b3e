"""What is shipped: the wheel holds the packaged defaults, and works without the checkout."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from asky.research.embedding import packaged
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
    model = "asky/models/all-MiniLM-L6-v2"
    assert {f"{model}/{name}" for name in (*packaged.FILES, "LICENSE", "README.md")} <= names
    assert wheel.stat().st_size < 60_000_000
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


HEAVY = {"chromadb", "onnx", "openai", "scipy", "sentence-transformers", "torch", "transformers"}


def test_an_installation_without_extras_needs_no_torch(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(next(name for name in archive.namelist() if name.endswith("METADATA"))).decode()
    needed = re.findall(r"^Requires-Dist: ([\w.-]+)(?!.*extra ==)", metadata, re.MULTILINE)
    assert not HEAVY & set(needed)
    assert {"fastapi", "langgraph", "mcp", "onnxruntime"} <= set(needed)


def test_without_its_model_it_searches_by_words_and_says_why(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    for file in (tmp_path / "site" / "asky" / "models").rglob("weights.bin"):
        file.unlink()
    (tmp_path / "tides.md").write_text("The moon raises two high tides a day.", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "asky", "search", "-d", "tides.md", "tides"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean_environment(tmp_path) | {"PYTHONPATH": str(tmp_path / "site")},
        timeout=300,
        check=False,
    )
    assert (done.returncode, "two high tides" in done.stdout) == (0, True), done.stderr
    assert "the embedding model is damaged" in done.stderr
    assert "weights.bin: No such file or directory; searching by keywords only" in done.stderr


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
