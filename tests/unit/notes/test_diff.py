from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.notes.diff import unified_diff
from asky.notes.section import replace_section

notes = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\r\n", b"\n", b"d", b"\xff\n"]), max_size=20).map(
    b"".join
)


def test_a_diff_shows_what_is_inserted_with_its_lines() -> None:
    old = b"".join(b"line %d\n" % number for number in range(1, 21))
    new = old.replace(b"line 10\n", b"line 10\nnew\n")
    assert unified_diff(old, new, "Note.md") == (
        "--- Note.md\n+++ Note.md\n@@ -8,6 +8,7 @@\n line 8\n line 9\n line 10\n+new\n line 11\n line 12\n line 13\n"
    )


def test_a_last_line_without_an_end_is_marked() -> None:
    assert unified_diff(b"a\r\n", b"a\r\nb", "n") == (
        "--- n\n+++ n\n@@ -1 +1,2 @@\n a\r\n+b\n\\ No newline at end of file\n"
    )
    assert unified_diff(b"", b"a\n", "n") == "--- n\n+++ n\n@@ -0,0 +1 @@\n+a\n"


def test_the_same_bytes_have_no_diff() -> None:
    assert unified_diff(b"a\r\nb", b"a\r\nb", "n") == ""


@given(notes, notes)
def test_there_is_a_diff_if_and_only_if_something_changes(old: bytes, new: bytes) -> None:
    assert bool(unified_diff(old, new, "n")) == (old != new)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diffs")
@pytest.mark.parametrize(
    "old", [b"", b"a", b"a\r\nb\r\n", b"a\nb\r\nc", b"# x\n\n## Research\n\nmine\n\n## Next\n" * 1]
)
def test_git_can_apply_it(tmp_path: Path, old: bytes) -> None:
    new = replace_section(old, "### A\n\nb")
    note = tmp_path / "n"
    note.write_bytes(old)
    (tmp_path / "d").write_bytes(unified_diff(old, new, "n").encode())
    command = ["git", "apply", "-p0", "--whitespace=nowarn", "d"]
    subprocess.run(command, cwd=tmp_path, check=True, env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert note.read_bytes() == new
