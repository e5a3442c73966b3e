"""The machine: Python, SQLite, the libraries that read documents, and room on the disk."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from asky.health.check import Check, note, ok, problem

_MIB = 1 << 20
_LITTLE_ROOM_BYTES = 1024 * _MIB
_NO_ROOM_BYTES = 64 * _MIB  # less than a few hundred embedded pages and their log

# Readers by the module that they need, and what cannot be read without it.
READERS: Mapping[str, str] = MappingProxyType({"pymupdf": "PDF and EPUB", "trafilatura": "HTML"})


def check_python() -> Check:
    """The version of the interpreter; the distribution refuses those that are too old."""
    return ok("Python", f"{'.'.join(map(str, sys.version_info[:3]))} ({sys.executable})")


def check_sqlite(version: tuple[int, int, int] = sqlite3.sqlite_version_info) -> Check:
    """Whether this SQLite can hold a store, and whether it has a known fault."""
    name = ".".join(map(str, version))
    if version < (3, 38, 0):
        return problem("SQLite", f"{name} is too old; 3.38 is needed", "use a Python that is built with a newer one")
    if not _has_full_text_search():
        return problem("SQLite", f"{name} was built without FTS5", "use a Python whose SQLite has it")
    if version <= (3, 51, 2):
        return note(
            "SQLite",
            f"{name} has a rare fault of its write-ahead log when processes write and checkpoint at the same moment",
            "3.51.3 and later are free of it; until then prefer one asky at a time for adding documents",
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
    """Whether the libraries that read documents are installed; they are not imported."""
    missing = [module for module in readers if importlib.util.find_spec(module) is None]
    for module in missing:
        yield problem(
            "readers", f"{readers[module]} files cannot be read: {module} is missing", f"pip install {module}"
        )
    if not missing:
        yield ok("readers", ", ".join(readers))


def check_room(folder: Path, free_bytes: int | None = None) -> Check:
    """Whether the disk under `folder` has room; `free_bytes` stands for what the disk says."""
    free = shutil.disk_usage(nearest_existing(folder)).free if free_bytes is None else free_bytes
    message = f"{format_bytes(free)} free under {folder}"
    if free < _NO_ROOM_BYTES:
        return problem("disk", f"the disk is full: {message}", "free some space; writing will fail until then")
    if free < _LITTLE_ROOM_BYTES:
        return note("disk", message, "large folders may not fit")
    return ok("disk", message)


def nearest_existing(place: Path) -> Path:
    """`place` itself or the nearest folder above it that is there and can be seen."""
    # `Path.exists` raises in a folder that may not be searched
    return next((each for each in (place, *place.parents) if os.path.exists(each)), Path("/"))  # noqa: PTH110


def format_bytes(count: int) -> str:
    """`count` in a unit that keeps it short: `512 B`, `1.5 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
