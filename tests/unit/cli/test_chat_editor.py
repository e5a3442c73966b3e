"""A text in an editor: real programs that change it, fail, or leave what is no text."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from asky.cli.chat.editor import edit_text
from asky.errors import UsageError


def editor(folder: Path, script: str) -> dict[str, str]:
    """An environment whose editor does what `script` says with the file `$1`."""
    program = folder / "my editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return {"EDITOR": shlex.quote(str(program))}


@pytest.mark.parametrize(
    ("script", "text", "edited"),
    [
        ('printf " and more" >> "$1"', "größe", "größe and more"),
        ('printf "one\\r\\ntwo\\n\\n" > "$1"', "", "one\ntwo\n"),
        (': > "$1"', "all of it", ""),
        ('rm "$1"', "all of it", ""),
        ("true", "as it\nwas", "as it\nwas"),
        ('printf "\\377\\376bad" > "$1"', "", "\ufffd\ufffdbad"),
        ('head -c 1048576 /dev/zero | tr "\\0" x > "$1"', "", "x" * 1_048_576),
    ],
)
def test_a_text_is_what_the_editor_leaves(script: str, text: str, edited: str, tmp_path: Path) -> None:
    assert edit_text(text, editor(tmp_path, script)) == edited


def test_the_file_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    told = edit_text("secret", editor(tmp_path, 'stat -c "%a %n" "$1" > "$1.told"; mv "$1.told" "$1"'))
    mode, _, name = told.partition(" ")
    assert mode == "600"
    assert name.endswith(".md")
    assert not Path(name).exists()


def test_an_editor_that_fails_or_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="failed with status 3"):
        edit_text("text", editor(tmp_path, 'echo changed > "$1"; exit 3'))
    for command in (str(tmp_path / "nosuch"), "a 'quote without its end"):
        with pytest.raises(UsageError, match="cannot start the editor"):
            edit_text("text", {"EDITOR": command})


def test_visual_comes_before_editor(tmp_path: Path) -> None:
    environ = {"VISUAL": editor(tmp_path, 'echo seen > "$1"')["EDITOR"], "EDITOR": "false"}
    assert edit_text("", environ) == "seen"
