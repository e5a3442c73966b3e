"""Where a question is that is in a file, and what is said where it cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from asky.chat.prompt_files import read_prompt_file
from asky.errors import UsageError


@pytest.mark.parametrize("host", ["localhost", "LocalHost", ""])
def test_this_host_may_be_named_before_a_path_from_the_root(tmp_path: Path, host: str) -> None:
    (tmp_path / "a b.txt").write_text("Why?")
    assert read_prompt_file(f"FILE://{host}{tmp_path}/a%20b.txt", {}) == "Why?"


def test_a_folder_that_is_called_as_this_host_is_reached_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "localhost").mkdir()
    (tmp_path / "localhost" / "p.txt").write_text("here")
    monkeypatch.chdir(tmp_path)
    assert read_prompt_file("file://./localhost/p.txt", {}) == "here"


@pytest.mark.parametrize(
    ("name", "data", "message", "hint"),
    [
        ("utf16.txt", "Why?".encode("utf-16"), "is UTF-16", "iconv -f UTF-16"),
        ("big.txt", b"\xfe\xff\x00W", "is UTF-16", "iconv -f UTF-16"),
        ("latin1.txt", "où".encode("latin-1"), "is not UTF-8: byte 2", "iconv -f LATIN1"),
        ("none.txt", None, "cannot read {}: No such file", "file:///PATH"),
        ("", None, "file:// does not name a file", "file:///PATH"),
    ],
)
def test_a_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes | None, message: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if data is not None:
        Path(name).write_bytes(data)
    with pytest.raises(UsageError) as caught:
        read_prompt_file(f"file://{name}", {})
    assert message.format(name) in caught.value.message
    assert hint in str(caught.value.hint)
