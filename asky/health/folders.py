"""asky's own folders and files: whether they are private, what they take, and what a killed process left in them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from asky.config.paths import Paths
from asky.config.schema import FILES
from asky.health.check import Check, note, ok, problem
from asky.health.machine import format_bytes, nearest_existing

_OTHERS = 0o077
_OTHERS_WRITE = 0o022
_TEMPORARY = (".new", ".tmp", ".part", ".incomplete")
_STALE_AFTER_S = 3600.0
_NAMED = 3


def check_privacy(paths: Paths) -> Iterator[Check]:
    """Whether only the user can read what asky keeps, and write what asky obeys."""
    found = [*_check_contents(paths), *_check_configuration(paths.config)]
    yield from found
    if not found:
        yield ok("permissions", "private")


def _check_contents(paths: Paths) -> Iterator[Check]:
    """Texts, questions and answers lie in `data`, copies of them in the other two."""
    places = [paths.data, paths.cache, paths.state, *sorted(paths.data.glob("asky.db*"))]
    for place in places:
        mode = _mode(place)
        if mode is not None and mode & _OTHERS:
            wanted = "700" if place.is_dir() else "600"
            yield problem(
                "permissions", f"others can open {place} (mode {mode:04o})", f"chmod {wanted} {_quoted(place)}"
            )
    for place in (paths.data, paths.cache, paths.state, paths.state / "net"):
        if not os.access(nearest_existing(place), os.W_OK | os.X_OK):
            yield problem("permissions", f"{place} cannot be written", "set ASKY_HOME to a folder that you own")


def _check_configuration(folder: Path) -> Iterator[Check]:
    """A configuration names programs to run, so that nobody else may write it; reading it is less grave."""
    for place in (folder, *(folder / name for name in FILES)):
        mode = _mode(place)
        if mode is None or not mode & _OTHERS:
            continue
        hint = f"chmod {'700' if place.is_dir() else '600'} {_quoted(place)}"
        if mode & _OTHERS_WRITE:
            yield problem("permissions", f"others can change {place} (mode {mode:04o})", hint)
        else:
            yield note("permissions", f"others can read {place} (mode {mode:04o})", hint)


def _mode(place: Path) -> int | None:
    """The permission bits of `place`, or `None` where it is not there or cannot be asked."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except OSError:
        return None


def _quoted(place: Path) -> str:
    import shlex  # only where something is wrong

    return shlex.quote(str(place))


def check_sizes(paths: Paths) -> Check:
    """What the store, its vector index and the cache take."""
    store = sum(_size(each) for each in paths.data.glob("asky.db*"))
    index, cache = _tree_size(paths.data / "chroma"), _tree_size(paths.cache)
    parts = (("store", store), ("vector index", index), ("cache", cache))
    return ok("sizes", ", ".join(f"{name} {format_bytes(size)}" for name, size in parts))


def _tree_size(folder: Path) -> int:
    return sum(_size(Path(root) / name) for root, _, names in os.walk(folder) for name in names)


def _size(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:  # gone meanwhile
        return 0


def check_leftovers(paths: Paths, *, now: float) -> Check:
    """Temporary files that are over an hour old at `now` (seconds since 1970): a process was killed while writing."""
    stale = sorted(
        file
        for folder in (paths.config, paths.data, paths.cache, paths.state)
        for root, _, names in os.walk(folder)
        for file in (Path(root) / name for name in names if name.endswith(_TEMPORARY))
        if _is_older(file, now - _STALE_AFTER_S)
    )
    if not stale:
        return ok("leftovers", "no temporary files of killed processes")
    names = ", ".join(map(str, stale[:_NAMED])) + (f" and {len(stale) - _NAMED} more" if len(stale) > _NAMED else "")
    return note("leftovers", f"temporary files that nothing uses: {names}", "they can be deleted while no asky runs")


def _is_older(file: Path, time_s: float) -> bool:
    try:
        return file.lstat().st_mtime < time_s
    except OSError:
        return False
