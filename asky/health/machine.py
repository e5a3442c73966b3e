"""Checks of the machine: Python, SQLite, the libraries that read documents, the disk, and asky's own folders."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from asky.config.paths import Paths
from asky.config.schema import FILES
from asky.health.check import Check, note, ok, problem
from asky.installation import install_hint
from asky.text.counting import format_bytes

_MIB = 1 << 20
_LOW_SPACE_BYTES = 1024 * _MIB
_FULL_DISK_BYTES = 64 * _MIB  # less than a few hundred embedded pages and their write-ahead log

# The formats that cannot be read without each module.
READERS: Mapping[str, str] = MappingProxyType({"pymupdf": "PDF and EPUB", "trafilatura": "HTML"})
_PERMISSIONS = "permissions"
_OTHERS = 0o077
_OTHERS_WRITE = 0o022
_TEMPORARY = (".new", ".tmp", ".part", ".incomplete")
_STALE_AFTER_S = 3600.0
_MAX_LISTED = 3


def check_python() -> Check:
    """Report the version of the interpreter; the package cannot be installed on one that is too old."""
    return ok("Python", f"{'.'.join(map(str, sys.version_info[:3]))} ({sys.executable})")


def check_sqlite(version: tuple[int, int, int] = sqlite3.sqlite_version_info) -> Check:
    """Check that this SQLite can hold a store, and whether it has a known bug."""
    name = ".".join(map(str, version))
    if version < (3, 38, 0):
        return problem("SQLite", f"{name} is too old; asky needs 3.38", "use a Python built with a newer SQLite")
    if not _has_full_text_search():
        return problem("SQLite", f"{name} was built without FTS5", "use a Python whose SQLite includes FTS5")
    if version <= (3, 51, 2):
        return note(
            "SQLite",
            f"{name} has a rare write-ahead log bug when processes write and checkpoint at the same moment",
            "SQLite 3.51.3 fixes it; until then, add documents with one asky process at a time",
        )
    return ok("SQLite", name)


def _has_full_text_search() -> bool:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True


def check_readers(readers: Mapping[str, str] = READERS) -> Iterator[Check]:
    """Check that the libraries that read documents are installed, without importing them."""
    missing = [module for module in readers if importlib.util.find_spec(module) is None]
    for module in missing:
        hint = install_hint("installs it", module)
        yield problem("readers", f"{readers[module]} files cannot be read: {module} is missing", hint)
    if not missing:
        yield ok("readers", ", ".join(readers))


def check_disk_space(folder: Path, free_bytes: int | None = None) -> Check:
    """Check the free space of the disk that holds `folder`; `free_bytes` overrides what the system reports."""
    free = shutil.disk_usage(nearest_existing(folder)).free if free_bytes is None else free_bytes
    message = f"{format_bytes(free)} free under {folder}"
    if free < _FULL_DISK_BYTES:
        need = f"{message}, less than the {format_bytes(_FULL_DISK_BYTES)} that asky may need at once"
        return problem("disk", need, "free some space; until then not everything can be saved")
    if free < _LOW_SPACE_BYTES:
        return note("disk", message, "free some space before adding large folders")
    return ok("disk", message)


def nearest_existing(place: Path) -> Path:
    """Return `place`, or its nearest ancestor that exists and can be seen."""
    # `Path.exists` raises in a folder without search permission
    return next((each for each in (place, *place.parents) if os.path.exists(each)), Path("/"))  # noqa: PTH110


# asky's own folders and files


def check_privacy(paths: Paths) -> Iterator[Check]:
    """Check that only the user can read asky's data and change its configuration, and that the user can write its
    folders.

    A configuration names programs to run, so one that others can change is a problem; one that they can read is a note.
    """
    found = []
    settings = [paths.config, *(paths.config / name for name in FILES)]
    for place in (paths.data, paths.cache, paths.state, *sorted(paths.data.glob("asky.db*")), *settings):
        mode = _mode(place)
        if mode is None or not mode & _OTHERS:
            continue
        does = "open" if place not in settings else "change" if mode & _OTHERS_WRITE else "read"
        found.append(
            Check(
                _PERMISSIONS,
                "note" if does == "read" else "problem",
                f"others can {does} {place} (mode {mode:04o})",
                f"chmod {'700' if place.is_dir() else '600'} {shlex.quote(str(place))}",
            )
        )
    for place in (paths.data, paths.cache, paths.state, paths.state / "net"):
        if not os.access(nearest_existing(place), os.W_OK | os.X_OK):
            hint = "set ASKY_HOME to a folder that you own"
            found.append(problem(_PERMISSIONS, f"{place} cannot be written", hint))
    yield from found or [ok(_PERMISSIONS, "private")]


def _mode(place: Path) -> int | None:
    """Return the permission bits of `place`, or `None` if it is missing or inaccessible."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except OSError:
        return None


def check_sizes(paths: Paths) -> Check:
    """Report the sizes of the store, its vector index and the cache."""
    store = sum(_size(each) for each in paths.data.glob("asky.db*"))
    index, cache = _tree_size(paths.data / "chroma"), _tree_size(paths.cache)
    parts = (("store", store), ("vector index", index), ("cache", cache))
    return ok("sizes", ", ".join(f"{name} {format_bytes(size)}" for name, size in parts))


def _tree_size(folder: Path) -> int:
    return sum(_size(Path(root) / name) for root, _, names in os.walk(folder) for name in names)


def _size(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:  # deleted in the meantime
        return 0


def check_leftovers(paths: Paths, prepared_models: Path, *, now: float) -> Check:
    """Report temporary files more than an hour old at `now` (seconds since 1970), left by processes killed while
    writing, and the folder in which an earlier version kept embedding models.
    """
    if size := _tree_size(prepared_models):
        message = f"{prepared_models} ({format_bytes(size)}) holds search models of an earlier version, unused now"
        return note("leftovers", message, "delete that folder")
    stale = sorted(
        file
        for folder in (paths.config, paths.data, paths.cache, paths.state)
        for root, _, names in os.walk(folder)
        for file in (Path(root) / name for name in names if name.endswith(_TEMPORARY))
        if _is_older(file, now - _STALE_AFTER_S)
    )
    if not stale:
        return ok("leftovers", "no temporary files of killed processes")
    names = ", ".join(map(str, stale[:_MAX_LISTED])) + (
        f" and {len(stale) - _MAX_LISTED} more" if len(stale) > _MAX_LISTED else ""
    )
    return note("leftovers", f"unused temporary files: {names}", "delete them while asky is not running")


def _is_older(file: Path, time_s: float) -> bool:
    try:
        return file.lstat().st_mtime < time_s
    except OSError:
        return False
