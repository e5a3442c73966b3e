"""Small state files shared by processes, each under a system lock: who has a turn, and what happened last.

A lock ends with its process, however that ends. If the folder cannot be used, on a read-only disk or a file system
without locks, the state is kept within this process alone.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from asky.config.paths import ensure_private_dir
from asky.errors import AskyError

_KEPT_S = 7 * 86_400.0
"""Seconds that an untouched file is kept: longer than its content is relevant."""

_MAX_BYTES = 4096

Facts = dict[str, Any]


class StateFiles:
    """The files of one folder, which is created with the first of them; `None` keeps everything in this process.

    A file is named by the hash of its key, so that a folder does not reveal at a glance which hosts were contacted, and
    a key can be any text. `kind` is a suffix that separates the files of different users of the folder.
    """

    def __init__(self, folder: Path | None, *, wall_clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._wall_clock = wall_clock
        self._is_swept = False
        self._held: set[str] = set()
        self._facts: dict[str, Facts] = {}

    def try_hold(self, key: str, kind: str) -> Hold | None:
        """Return the lock of `key`, or `None` while another process or another task of this one holds it."""
        name = _name(key, kind)
        try:
            descriptor = self._open_locked(name, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        except OSError:
            return self._hold_here(name)
        return Hold(lambda: os.close(descriptor))

    def update(self, key: str, kind: str, change: Callable[[Facts], Facts]) -> Facts:
        """Replace the facts of `key` by the result of `change` (given `{}` at first), exclusively; return the new ones.

        A file that cannot be read counts as empty. `change` must be quick and is called once.
        """
        name = _name(key, kind)
        try:
            descriptor = self._open_locked(name, fcntl.LOCK_EX)  # any holder has it for microseconds
        except OSError:
            facts = self._facts[name] = change(self._facts.get(name, {}))
            return facts
        try:
            facts = change(_read(descriptor))
            with suppress(OSError):  # a full disk: the next reader finds the old content
                _write(descriptor, facts)
            return facts
        finally:
            os.close(descriptor)

    def read(self, key: str, kind: str) -> Facts:
        """Return the facts of `key`, `{}` if there are none. Creates no file."""
        name = _name(key, kind)
        if self._folder is None:
            return dict(self._facts.get(name, {}))
        return self._read_file(self._folder / name) or dict(self._facts.get(name, {}))

    def all_of(self, kind: str) -> Iterator[Facts]:
        """Yield the facts of every key of one kind, those of other processes included, in no order."""
        names = {name for name in self._facts if name.endswith(f".{kind}")}
        if self._folder is not None:
            with suppress(OSError):
                names |= {path.name for path in self._folder.glob(f"*.{kind}")}
        for name in sorted(names):
            facts = self._read_file(self._folder / name) if self._folder is not None else {}
            yield facts or self._facts.get(name, {})

    def _read_file(self, path: Path) -> Facts:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return {}
        try:
            return _read(descriptor)
        finally:
            os.close(descriptor)

    def _hold_here(self, name: str) -> Hold | None:
        if name in self._held:
            return None
        self._held.add(name)
        return Hold(lambda: self._held.discard(name))

    def _open_locked(self, name: str, mode: int) -> int:
        """Return a descriptor of the locked file. Raises `BlockingIOError` if it is taken, `OSError` otherwise."""
        if self._folder is None:
            raise OSError("there is no folder")
        if not self._is_swept:
            self._prepare(self._folder)
        while True:
            descriptor = os.open(self._folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(descriptor, mode)
                if os.fstat(descriptor).st_nlink:  # else another process has just deleted it
                    os.utime(descriptor)
                    return descriptor
            except OSError:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _prepare(self, folder: Path) -> None:
        try:
            ensure_private_dir(folder)
        except AskyError as error:
            raise OSError(error.message) from error
        self._is_swept = True
        for path in folder.iterdir():
            with suppress(OSError):
                if self._wall_clock() - path.stat().st_mtime > _KEPT_S:
                    _remove_unheld(path)


class Hold:
    """A lock that is held until `release`, which may be called twice."""

    def __init__(self, release: Callable[[], None]) -> None:
        self._release: Callable[[], None] | None = release

    def release(self) -> None:
        release, self._release = self._release, None
        if release is not None:
            release()


def _remove_unheld(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    finally:
        os.close(descriptor)


def _name(key: str, kind: str) -> str:
    return f"{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.{kind}"


def _read(descriptor: int) -> Facts:
    try:
        facts = json.loads(os.pread(descriptor, _MAX_BYTES, 0))
    except (OSError, ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _write(descriptor: int, facts: Mapping[str, Any]) -> None:
    """Write everything in one call, over the old content: a killed process leaves the old or the new."""
    data = json.dumps(facts).encode()
    size = os.fstat(descriptor).st_size
    os.pwrite(descriptor, data.ljust(size), 0)
    if size > _MAX_BYTES:
        os.ftruncate(descriptor, len(data))
