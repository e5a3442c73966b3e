from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from asky.config.paths import (
    Paths,
    ensure_private_dir,
    expand_user,
    home_folder,
    prepared_models,
    replace_text,
    resolve_paths,
    update_private,
    user_file,
    write_private,
)
from asky.errors import ConfigError, StoreFull
from tests.support.asky_command import clean_environment, run_python

XDG = {
    "XDG_CONFIG_HOME": "/x/config",
    "XDG_DATA_HOME": "/x/data",
    "XDG_CACHE_HOME": "/x/cache",
    "XDG_STATE_HOME": "/x/state",
}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_asky_home_holds_all_four_folders_and_nothing_is_made(tmp_path: Path) -> None:
    home = tmp_path / "h"
    paths = resolve_paths({"ASKY_HOME": str(home), **XDG})
    assert paths == Paths(home / "config", home / "data", home / "cache", home / "state")
    assert user_file({"ASKY_HOME": str(home)}, "models.toml") == home / "config" / "models.toml"
    assert not home.exists()


def test_asky_home_may_start_with_a_tilde_or_be_relative() -> None:
    assert resolve_paths({"ASKY_HOME": "~/h", "HOME": "/u"}).data == Path("/u/h/data")
    assert resolve_paths({"ASKY_HOME": "h"}).data == Path.cwd() / "h" / "data"


def test_asky_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"ASKY_HOME: .* is not a folder"):
        resolve_paths({"ASKY_HOME": str(tmp_path / "file")})


def test_xdg_variables_are_followed() -> None:
    paths = resolve_paths(XDG)
    assert paths == Paths(Path("/x/config/asky"), Path("/x/data/asky"), Path("/x/cache/asky"), Path("/x/state/asky"))


def test_a_relative_xdg_variable_is_ignored_and_the_default_is_below_home(tmp_path: Path) -> None:
    code = (
        "import os; from asky.config.paths import resolve_paths; p = resolve_paths(os.environ);"
        "print(p.config, p.data, p.cache, p.state)"
    )
    environ = {"ASKY_HOME": "", "XDG_CONFIG_HOME": "relative"}
    done = run_python(("-c", code), home=tmp_path, environ=environ)
    names = (".config/asky", ".local/share/asky", ".cache/asky", ".local/state/asky")
    assert done.stdout.split() == [str(tmp_path / name) for name in names]


def test_earlier_versions_kept_models_in_the_users_cache_or_where_they_were_told_to() -> None:
    assert prepared_models({"ASKY_HOME": "/h", **XDG}) == Path("/x/cache/asky/models")
    assert prepared_models({"ASKY_MODEL_CACHE": "~/m", "HOME": "/u", **XDG}) == Path("/u/m")


def test_a_tilde_is_the_home_folder_only_at_the_start() -> None:
    environ = {"HOME": "/u"}
    assert [str(expand_user(t, environ)) for t in ("~", "~/a", "a/~", "~b")] == ["/u", "/u/a", "a/~", "~b"]
    assert home_folder({}).is_absolute()


def test_folders_are_made_private_also_those_above(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert ensure_private_dir(folder) == folder
    assert (mode(folder), mode(folder.parent)) == (0o700, 0o700)
    folder.chmod(0o755)
    ensure_private_dir(folder)
    assert mode(folder) == 0o700


def test_a_folder_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"cannot write .*/file/x: not a directory") as caught:
        ensure_private_dir(tmp_path / "file" / "x")
    assert "ASKY_HOME" in (caught.value.hint or "")


def test_a_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    file = tmp_path / "c" / "f.toml"
    write_private(file, "one\r\n")
    write_private(file, "two\n")
    assert file.read_bytes() == b"two\n"
    assert mode(file) == 0o600
    assert [p.name for p in file.parent.iterdir()] == ["f.toml"]


def test_a_symlink_to_a_file_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "f.toml"
    write_private(target, "one")
    link = tmp_path / "f.toml"
    link.symlink_to(target)
    target.parent.chmod(0o755)
    write_private(link, "two")
    assert link.is_symlink()
    assert target.read_text() == "two"
    assert mode(target.parent) == 0o755


def test_a_name_may_be_as_long_as_a_name_can_be(tmp_path: Path) -> None:
    file = tmp_path / ("é" * 125 + ".toml")
    write_private(file, "one")
    assert [p.name for p in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o666, 0o400])
def test_a_file_of_the_user_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path: Path, bits: int) -> None:
    file = tmp_path / "answer.md"
    before = os.umask(0o027)
    try:
        replace_text(file, "one")
        assert mode(file) == 0o640
        file.chmod(bits)
        replace_text(file, "two")
    finally:
        os.umask(before)
    assert (mode(file), file.read_text()) == (bits, "two")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "f.toml"
    write_private(file, "old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(StoreFull, match=r"disk full while saving to .*; nothing was changed"):
            write_private(file, "x" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f.toml"]


def test_an_update_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "f.toml"
    write_private(file, "old")

    def fail(text: str | None) -> str:
        raise ConfigError(f"was {text}")

    with pytest.raises(ConfigError, match="was old"):
        update_private(file, fail)
    assert file.read_text() == "old"


def test_updates_of_several_processes_do_not_lose_each_other(tmp_path: Path) -> None:
    file = tmp_path / "f.toml"
    code = (
        "from pathlib import Path; from asky.config.paths import update_private\n"
        f"for _ in range(10): update_private(Path({str(file)!r}), lambda text: (text or '') + 'x')"
    )
    environ = clean_environment(tmp_path)
    writers = [subprocess.Popen([sys.executable, "-c", code], env=environ) for _ in range(4)]
    assert [writer.wait(timeout=300) for writer in writers] == [0] * 4
    assert file.read_text() == "x" * 40
