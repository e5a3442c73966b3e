"""Writing to a note: the old bytes or the new ones, never half, and never over what somebody else has written."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Literal

from asky.errors import AskyError, ConfigError, StorageError, StoreBusy, StoreFull, UsageError
from asky.notes.backups import NoteBackups, digest, noted

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BLOCK_BYTES = 64 * 1024
_CHANGED = "it was changed meanwhile"
_MAX_NAME_CHARS = 40  # of a note's name in that of its temporary file: a name has at most 255 bytes


def _go_on() -> None:
    """Do nothing between two steps."""


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """Where a result is: in the note, or `aside`, in a file beside it, and `why`. `unchanged`: nothing was to write."""

    outcome: Literal["written", "unchanged", "aside"]
    path: Path
    why: str | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """A note as it is on disk now, or why it is none."""

    data: bytes = b""
    status: os.stat_result | None = None
    why: str | None = None


class NoteWriter:
    """Writes to notes and takes that back. `folder`, outside of the vault, has the backups and the locks.

    A path is that of the note itself, absolute and without symbolic links: the caller has resolved it. `step` is called
    between any two steps of a write; tests end the process there.
    """

    def __init__(self, folder: Path, *, step: Callable[[], None] = _go_on) -> None:
        self._folder = folder
        self._step = step

    def write(self, note: Path, old: bytes, new: bytes, *, aside: bytes | None = None) -> WrittenNote:
        """Replace the bytes `old` of a note, as they were when it was read, by `new`; its mode and owner stay.

        If it has other bytes by now, or was renamed or deleted, it is left alone, and the result (`aside`, else `new`)
        is written beside it: as `X.research.md`, or `X.research 2.md` if that exists. The hash of the bytes is compared
        right before they are replaced.

        Raises `StorageError` if nothing can be written there, `StoreFull` if the disk is full, and `StoreBusy` if
        another asky is writing to it: the note is then as it was, and the result is kept where the hint says.
        """
        result = new if aside is None else aside
        if old == new:
            return WrittenNote("unchanged", note)
        backups = NoteBackups(self._folder, note)
        try:
            self.clean_up()
            with backups.locked():
                why = self._replace(backups, old, new)
                return WrittenNote("written", note) if why is None else self._write_aside(backups, result, why)
        except (OSError, ConfigError, StorageError) as error:
            raise _refused(note, error, _kept(backups, result)) from error

    def undo(self, note: Path) -> None:
        """Bring a note back to what it was before asky's last write to it, byte for byte; again: before the one before.

        Raises `UsageError`, and changes nothing, if there is no such write, or if the note is not what asky wrote: what
        others have written since would be lost. Raises `StorageError` as `write` does.
        """
        backups = NoteBackups(self._folder, note)
        try:
            self.clean_up()
            with backups.locked():
                self._undo(backups)
        except (OSError, ConfigError) as error:
            raise _refused(note, error, None) from error

    def clean_up(self) -> None:
        """Delete the temporary files that a process left beside the notes when it was killed."""
        for note in noted(self._folder):
            backups = NoteBackups(self._folder, note)
            temporary = _temporary(backups)
            if temporary.exists():
                with suppress(StoreBusy, OSError), backups.locked(timeout_s=0):  # else it is being written
                    temporary.unlink()

    def _replace(self, backups: NoteBackups, old: bytes, new: bytes) -> str | None:
        """Keep the old bytes and write the new ones; return why not, if the note is another one by now."""
        found = _read(backups.note)
        if found.why or found.data != old:
            return found.why or _CHANGED
        self._step()
        version = backups.add(old, digest(new))
        self._step()
        why = self._swap(backups, found, new)
        if why:
            version.file.unlink(missing_ok=True)
        return why

    def _undo(self, backups: NoteBackups) -> None:
        found, versions = _read(backups.note), backups.versions()
        while versions and versions[-1].read() == found.data and not found.why:
            versions.pop().file.unlink()  # asky was killed before it wrote this
        if not versions:
            raise UsageError(f"asky has not written to {backups.note}, or has taken all of it back")
        last = versions[-1]
        why = found.why or (_CHANGED if digest(found.data) != last.written else None)
        why = why or self._swap(backups, found, last.read())
        if why:
            raise UsageError(
                f"{backups.note} is not what asky wrote: {why}; nothing was changed",
                hint=f"the note as it was before asky's last write is in {last.file}",
            )
        last.file.unlink()

    def _swap(self, backups: NoteBackups, found: _Found, new: bytes) -> str | None:
        """Replace the bytes of a note, or return why not. Raises `OSError`; the note is then as it was."""
        note, status, temporary = backups.note, found.status, _temporary(backups)
        assert status is not None
        if not status.st_mode & 0o222 or not os.access(note, os.W_OK):
            raise PermissionError(errno.EACCES, "it is read-only")
        try:
            self._write_new(temporary, new, status)
            now = _read(note)
            if now.why or now.data != found.data:
                temporary.unlink()
                return now.why or _CHANGED
            temporary.replace(note)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        self._step()
        _sync_folder(note.parent)
        self._step()
        return None

    def _write_new(self, path: Path, data: bytes, status: os.stat_result | None) -> None:
        """Write a new file with the mode and the owner of another one, to the disk."""
        path.unlink(missing_ok=True)
        self._step()
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if status else 0o666)
        with os.fdopen(handle, "wb", buffering=0) as file:
            self._step()
            for start in range(0, len(data), _BLOCK_BYTES):
                _write_all(handle, data[start : start + _BLOCK_BYTES])
                self._step()
            if status is not None:
                with suppress(PermissionError):  # only root may give a file away
                    os.fchown(handle, status.st_uid, status.st_gid)
                os.fchmod(handle, stat.S_IMODE(status.st_mode))
            self._step()
            os.fsync(file.fileno())
        self._step()

    def _write_aside(self, backups: NoteBackups, result: bytes, why: str) -> WrittenNote:
        """Write a result beside the note, under a name that no file has."""
        note, temporary = backups.note, _temporary(backups)
        try:
            self._write_new(temporary, result, None)
            for number in count(1):
                path = note.with_name(f"{note.stem}.research{f' {number}' if number > 1 else ''}{note.suffix}")
                with suppress(FileExistsError):
                    os.link(temporary, path)
                    break
        finally:
            with suppress(OSError):
                temporary.unlink()
        _sync_folder(note.parent)
        return WrittenNote("aside", path, why)


def _temporary(backups: NoteBackups) -> Path:
    """Return the path of the new bytes of a note before they replace it: one for each note, hidden from Obsidian."""
    return backups.note.with_name(f".{backups.note.name[:_MAX_NAME_CHARS]}.{backups.key[:8]}.asky-new")


def _read(note: Path) -> _Found:
    try:
        handle = os.open(note, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return _Found(why="it was renamed or deleted")
    except OSError as error:
        if error.errno == errno.ELOOP:
            return _Found(why="it has become a symbolic link")
        raise
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return _Found(why="it has become something else than a file")
        return _Found(file.read(), status)


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _sync_folder(folder: Path) -> None:
    """Have a new name written to the disk, where the file system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _kept(backups: NoteBackups, result: bytes) -> Path | None:
    with suppress(OSError, AskyError):
        return backups.keep(result)
    return None


def _refused(note: Path, error: OSError | AskyError, kept: Path | None) -> StorageError:
    hint = f"the result is in {kept}" if kept else "make room for it, or make the vault writable"
    if isinstance(error, StoreBusy):
        return StoreBusy(error.message, hint=hint if kept else error.hint)
    if isinstance(error, StoreFull) or (isinstance(error, OSError) and error.errno in _FULL):
        return StoreFull(f"disk full while writing to {note}; nothing was changed", hint=hint)
    reason = error.message if isinstance(error, AskyError) else error.strerror or type(error).__name__
    return StorageError(f"{note} cannot be written: {reason}", hint=hint)
