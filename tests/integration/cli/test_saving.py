"""Where an answer cannot be written is said before it is asked for, and a suffix means the same form everywhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from asky.cli.options import check_output
from asky.cli.saving import require_writable
from asky.errors import UsageError
from tests.support.confined import bound_by_modes, read_only_disk, run_confined
from tests.support.in_process import InProcess
from tests.support.stores import TIDES, FilledStore

_ASK = "import sys; from asky.__main__ import run; print(run(['ask', '-m', 'nobody', 'Why?', '-o', sys.argv[1]]))"


@pytest.fixture
def asky(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    return InProcess(home, monkeypatch, capsys)


@pytest.mark.parametrize("name", ["a.md", "A.MD", "a b.HTML", "a.json", "a.bib", "a.csl.json", "a.ris", "link.md"])
def test_a_file_that_can_be_written_is_none_to_speak_of(tmp_path: Path, name: str) -> None:
    (tmp_path / "link.md").symlink_to(tmp_path / "other.md")
    check_output(tmp_path / name)
    (tmp_path / name).write_text("there already")
    check_output(tmp_path / name)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        {name, "link.md", *(["other.md"] * ("link" in name))}
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("folder.md", "is a directory"),
        ("none/a.md", "there is no folder"),
        ("file/a.md", "there is no folder"),
        ("loop.md", "cannot write"),
        ("to-folder.md", "is a directory"),
        ("to-nowhere.md", "there is no folder"),
        (f"{'a' * 300}.md", "file name too long"),
        ("a", "not .md"),
        ("a.xyz", "not .md"),
        ("-", "not .md"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_there_is_anything_to_write(
    tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    (tmp_path / "to-folder.md").symlink_to(tmp_path / "folder.md")
    (tmp_path / "to-nowhere.md").symlink_to(tmp_path / "no" / "where")
    with pytest.raises(UsageError, match=message):
        check_output(tmp_path / name)


def test_a_device_is_written_to_wherever_it_is() -> None:
    require_writable(Path("/dev/null"))


def _by_modes(folder: Path) -> tuple[list[str], str]:
    folder.chmod(0o500)
    return bound_by_modes(), "permission denied"


def _by_disk(folder: Path) -> tuple[list[str], str]:
    return read_only_disk(folder), "read-only file system"


@pytest.mark.parametrize("guard", [_by_modes, _by_disk])
def test_a_folder_that_cannot_be_written_to_is_said_before_a_model_is_looked_for(
    tmp_path: Path, guard: Callable[[Path], tuple[list[str], str]]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    prefix, reason = guard(folder)
    done = run_confined(prefix, [sys.executable, "-c", _ASK, folder / "a.md"], home=tmp_path)
    assert done.stdout == "2\n"
    assert f"cannot write {folder / 'a.md'}: {reason}" in done.stderr
    assert "nobody" not in done.stderr


@pytest.mark.parametrize("command", [("runs", "export"), ("session", "export", "sea")])
@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("A.MD", ("---", "#")),
        ("a.json", "{"),
        ("a.csl.json", "["),
        ("a.bib", "@"),
        ("a.ris", "TY  - "),
        ("a.html", "<!doctype"),
    ],
)
def test_a_suffix_means_one_form_for_runs_and_sessions(
    asky: InProcess, tmp_path: Path, command: tuple[str, ...], name: str, begins: str | tuple[str, str]
) -> None:
    answered(asky, tmp_path)
    assert asky(*command, "-o", name).code == 0
    assert (asky.home / name).read_text("utf-8").startswith(begins)


@pytest.mark.parametrize("command", [("runs", "export"), ("session", "export", "sea")])
def test_a_suffix_that_says_no_form_is_refused_unless_the_form_is_said(
    asky: InProcess, tmp_path: Path, command: tuple[str, ...]
) -> None:
    answered(asky, tmp_path)
    done = asky(*command, "-o", "a.xyz")
    assert (done.code, "a.xyz: not .md, .html, .pdf, .json, .tex, .bib, .csl.json or .ris" in done.err) == (2, True)
    assert "--format" in done.err
    assert asky(*command, "-o", "a.xyz", "--format", "csl").code == 0
    assert len(json.loads((asky.home / "a.xyz").read_text("utf-8"))) == 1


def test_a_bundle_is_not_written_to_a_file_called_by_the_name_of_stdout(asky: InProcess, tmp_path: Path) -> None:
    answered(asky, tmp_path)
    done = asky("runs", "export", "--bundle", "-")
    assert (done.code, "--bundle writes to a file" in done.err) == (2, True)
    assert not (asky.home / "-").exists()


def answered(asky: InProcess, folder: Path) -> None:
    tides = folder / "tides.md"
    with FilledStore(asky.home) as store:
        document = store.add_text(tides, TIDES)
        store.answered(
            "What pulls?",
            "The moon [1].",
            lambda run: [store.evidence(run, tides, document, "The moon pulls on the water")],
            session="sea",
        )
