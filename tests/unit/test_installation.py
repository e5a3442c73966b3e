"""The commands that hints name, in the environments that people install into."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from asky.installation import install_command, install_hint
from tests.support.asky_command import ROOT


def test_pip_of_this_interpreter_installs_the_packages_of_an_extra_one_by_one() -> None:
    assert install_command(extra="ocr") == f"{sys.executable} -m pip install 'rapidocr>=3.3'"
    assert install_command("pymupdf") == f"{sys.executable} -m pip install pymupdf"
    assert install_hint("installs it", extra="nothing").endswith("-m pip install 'asky[nothing]'` installs it")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment without pip, in a folder with a space in its name."""
    folder = tmp_path_factory.mktemp("with space") / "asky"
    venv.create(folder, with_pip=False)
    return folder


def command_in(environment: Path) -> str:
    code = "from asky.installation import install_command; print(install_command('ddgs>=9'))"
    python = environment / "bin" / "python"
    done = subprocess.run([python, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("", "'{python}' -m ensurepip && '{python}' -m pip install 'ddgs>=9'"),
        ("pipx_metadata.json", "pipx inject asky 'ddgs>=9'"),
        ("uv-receipt.toml", "uv pip install --python '{python}' 'ddgs>=9'"),
    ],
)
def test_each_kind_of_environment_has_its_command(environment: Path, marker: str, expected: str) -> None:
    if marker:
        (environment / marker).touch()
    try:
        assert command_in(environment) == expected.format(python=environment / "bin" / "python")
    finally:
        if marker:
            (environment / marker).unlink()


def test_an_environment_of_uv_without_pip_is_told_from_its_settings(environment: Path) -> None:
    settings = environment / "pyvenv.cfg"
    before = settings.read_text("utf-8")
    settings.write_text(before + "uv = 0.9.5\n", "utf-8")
    try:
        assert command_in(environment).startswith("uv pip install --python ")
    finally:
        settings.write_text(before, "utf-8")
