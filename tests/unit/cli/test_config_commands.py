from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pexpect  # type: ignore[import-untyped] # it has no types
import pytest

from tests.support.asky_command import clean_environment, run_asky


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    file = tmp_path / "asky" / "config" / "research.toml"
    file.parent.mkdir(parents=True)
    return file


def test_show_prints_each_value_with_its_origin(tmp_path: Path, user_file: Path) -> None:
    user_file.write_text("[ui]\ncolor = 'never'\n")
    done = run_asky("config", "show", home=tmp_path, environ={"ASKY_RESEARCH__MAX_TURNS": "3"})
    lines = {line.split(" = ")[0]: line for line in done.stdout.splitlines()}
    assert lines["ui.color"].split("  # ")[0].rstrip() == 'ui.color = "never"'
    assert lines["ui.color"].endswith(f"# user {user_file}:2")
    assert lines["research.max_turns"].endswith("# environment ASKY_RESEARCH__MAX_TURNS")
    assert lines["ui.progress"].endswith("# packaged research.toml")
    assert done.stderr == ""


def test_show_has_a_view_of_what_the_user_changed(tmp_path: Path, user_file: Path) -> None:
    nothing = run_asky("config", "show", "--changed", home=tmp_path)
    assert (nothing.stdout, nothing.stderr) == ("", "nothing is changed: every setting is as asky brings it\n")
    user_file.write_text("[ui]\ncolor = 'never'\n")
    environ = {"ASKY_RESEARCH__MAX_TURNS": "3"}
    done = run_asky("config", "show", "--changed", home=tmp_path, environ=environ)
    assert [line.split(" = ")[0] for line in done.stdout.splitlines()] == ["research.max_turns", "ui.color"]
    shown = json.loads(run_asky("config", "show", "--changed", "--json", home=tmp_path, environ=environ).stdout)
    assert [each["key"] for each in shown["values"]] == ["research.max_turns", "ui.color"]


def test_show_as_json_has_the_same_values(tmp_path: Path, user_file: Path) -> None:
    user_file.write_text("[ui]\ncolor = 'never'\n")
    shown = json.loads(run_asky("config", "show", "--json", home=tmp_path).stdout)
    assert shown["schema"] == "asky.config/1"
    values = {entry["key"]: entry for entry in shown["values"]}
    assert values["ui.color"]["value"] == "never"
    assert values["ui.color"]["origin"] == {"layer": "user", "source": str(user_file), "line": 2}


def test_show_masks_secrets(tmp_path: Path, user_file: Path) -> None:
    user_file.write_text('[research.source_adapters.w]\nprefix = "w://"\ntool = ["w", "--key", "canary-12345678"]\n')
    for arguments in (["config", "show"], ["config", "show", "--json"]):
        done = run_asky(*arguments, home=tmp_path, environ={"WIKI_KEY": "canary-12345678"})
        assert "***" in done.stdout
        assert "canary" not in done.stdout


def test_path_names_folders_files_and_the_project(tmp_path: Path, user_file: Path) -> None:
    user_file.touch()
    (tmp_path / ".asky.toml").touch()
    lines = dict(line.split(None, 1) for line in run_asky("config", "path", home=tmp_path).stdout.splitlines())
    assert lines["config"] == str(tmp_path / "asky" / "config")
    assert lines["data"] == f"{tmp_path / 'asky' / 'data'}  (does not exist)"
    assert lines["research.toml"] == str(user_file)
    assert lines["models.toml"].endswith("(does not exist)")
    assert lines["project"] == str(tmp_path / ".asky.toml")


def test_set_writes_privately_and_keeps_comments(tmp_path: Path, user_file: Path) -> None:
    user_file.write_text("# mine\n[research]\nmax_turns = 3 # few\n")
    done = run_asky("config", "set", "research.max_turns", "5", home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"set research.max_turns in {user_file}\n"
    assert user_file.read_text() == "# mine\n[research]\nmax_turns = 5 # few\n"
    assert stat.S_IMODE(user_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(user_file.parent.stat().st_mode) == 0o700


def test_set_says_when_something_else_overrides_the_value(tmp_path: Path) -> None:
    environ = {"ASKY_RESEARCH__MAX_TURNS": "3"}
    done = run_asky("config", "set", "research.max_turns", "5", home=tmp_path, environ=environ)
    assert "overridden by environment ASKY_RESEARCH__MAX_TURNS" in done.stderr


def test_set_refuses_what_is_not_valid(tmp_path: Path) -> None:
    done = run_asky("config", "set", "research.max_turn", "5", home=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "asky: unknown key research.max_turn\nhint: did you mean research.max_turns?\n"
    assert not (tmp_path / "asky").exists()


def test_set_in_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "asky").write_text("a file")
    done = run_asky("config", "set", "research.max_turns", "5", home=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"asky: ASKY_HOME: {tmp_path / 'asky'} is not a folder\n")


def test_validate_lists_everything_that_is_wrong(tmp_path: Path, user_file: Path) -> None:
    assert run_asky("config", "validate", home=tmp_path).stderr == "the configuration is valid\n"
    user_file.write_text("[ui]\ncolour = 'never'\nprogress = 3\n")
    done = run_asky("config", "validate", home=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        f"asky: {user_file}:2: unknown key ui.colour\nhint: did you mean ui.color?\n"
        f"asky: {user_file}:3: ui.progress: expected true or false, got a whole number\n"
    )


def test_validate_reads_the_files_of_saved_prompts(tmp_path: Path, user_file: Path) -> None:
    (tmp_path / "there.txt").write_text("Sum up {{input}}.")
    user_file.write_text(f"[prompts]\nsum = 'file://{tmp_path}/there.txt'\n")
    assert run_asky("config", "validate", home=tmp_path).returncode == 0
    user_file.write_text(f"[prompts]\nsum = 'file://{tmp_path}/gone.txt'\nplain = 'Why?'\n")
    for arguments in (("config", "validate"), ("/sum", "the tides")):
        done = run_asky(*arguments, home=tmp_path)
        assert done.returncode == 2
        assert done.stderr == (
            f"asky: the saved prompt /sum: cannot read {tmp_path}/gone.txt: No such file or directory\n"
            "hint: prompts.sum names the file\n"
        )


def test_edit_needs_a_terminal(tmp_path: Path) -> None:
    done = run_asky("config", "edit", home=tmp_path)
    assert done.returncode == 2
    assert "config edit needs a terminal" in done.stderr
    assert not (tmp_path / "asky").exists()


def edit(home: Path, script: str) -> tuple[str, int]:
    """`asky config edit` in a terminal, with an editor that runs the shell `script` on the file `$1`."""
    editor = home / "an editor"
    editor.write_text(f"#!/bin/sh\n{script}\n")
    editor.chmod(0o755)
    environ = clean_environment(home, {"EDITOR": f"'{editor}'", "TERM": "dumb"})
    child = pexpect.spawn(
        sys.executable, ["-m", "asky", "config", "edit"], env=environ, cwd=str(home), encoding="utf-8", timeout=300
    )
    child.setwinsize(24, 400)
    child.expect(pexpect.EOF)
    child.close()
    return child.before or "", child.exitstatus if child.exitstatus is not None else -1


def test_an_edit_replaces_the_file_when_it_is_valid(tmp_path: Path, user_file: Path) -> None:
    said, code = edit(tmp_path, 'printf "[ui]\\nprogress = false\\n" >> "$1"')
    assert code == 0
    assert f"saved {user_file}" in said
    assert user_file.read_text().endswith("[ui]\nprogress = false\n")
    assert [file.name for file in user_file.parent.iterdir()] == ["research.toml"]


def test_an_edit_that_is_not_valid_is_kept_aside(tmp_path: Path, user_file: Path) -> None:
    user_file.write_text("# old\n")
    said, code = edit(tmp_path, 'echo "[ui" >> "$1"')
    assert code == 2
    assert "not valid TOML" in said
    assert user_file.read_text() == "# old\n"
    (copy,) = [file for file in user_file.parent.iterdir() if file != user_file]
    assert copy.read_text() == "# old\n[ui\n"
    assert str(copy) in said


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 3", 2)])
def test_an_edit_without_a_change_leaves_nothing_behind(
    script: str, code: int, tmp_path: Path, user_file: Path
) -> None:
    said, got = edit(tmp_path, script)
    assert got == code
    assert ("nothing was changed" if code == 0 else "failed with status 3") in said
    assert os.listdir(user_file.parent) == []


def test_an_editor_that_is_not_there_is_named(tmp_path: Path, user_file: Path) -> None:
    environ = clean_environment(tmp_path, {"VISUAL": "/no/such/editor --flag"})
    child = pexpect.spawn(sys.executable, ["-m", "asky", "config", "edit"], env=environ, encoding="utf-8", timeout=300)
    child.expect_exact("cannot start the editor '/no/such/editor --flag'")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2
    assert os.listdir(user_file.parent) == []
