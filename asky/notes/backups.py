"""The earlier bytes of notes, outside of the vault: what is needed to take a write of asky's back.

NAME/                  for one note, named by the hash of its real path
    path               that path, for people and for cleaning up
    lock               held while asky writes to the note
    000001.HASH.md     the note before the first write of asky's that is kept; the hash is that of what was written
    kept-000001.md     a result that could not be written to the vault
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from asky.config.paths import ensure_private_dir, replace_bytes
from asky.errors import StoreBusy

MAX_VERSIONS = 20
_MAX_KEPT = 20
_MODE = 0o600
_LOCK_TIMEOUT_S = 10.0
_VERSION = re.compile(r"(\d{6,})\.([0-9a-f]{64})\.md")
_KEPT = re.compile(r"kept-(\d{6,})\.md")


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class NoteVersion:
    """A note as it was before a write of asky's, in `file`; `written` is the digest of what was written."""

    number: int
    file: Path
    written: str

    def read(self) -> bytes:
        """Return the bytes. Raises `OSError`."""
        return self.file.read_bytes()


class NoteBackups:
    """The backups of one note. `folder` is that of all notes; methods that write raise `OSError`."""

    def __init__(self, folder: Path, note: Path) -> None:
        self.note = note
        self.key = hashlib.sha256(str(note).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._folder = folder / self.key

    @contextmanager
    def locked(self, timeout_s: float = _LOCK_TIMEOUT_S) -> Iterator[None]:
        """Be the only asky that writes to the note. Raises `StoreBusy` if another takes longer."""
        from filelock import FileLock, Timeout  # 20 ms: only where a note is written

        for folder in (self._folder.parent, self._folder):
            ensure_private_dir(folder)
        lock = FileLock(self._folder / "lock", timeout=timeout_s, mode=_MODE)
        try:
            lock.acquire()
        except Timeout:
            raise StoreBusy(f"another asky is writing to {self.note}", hint="try again when it has finished") from None
        try:
            self._prepare()
            yield
        finally:
            lock.release()

    def versions(self) -> list[NoteVersion]:
        """Return the kept versions, the latest last."""
        found = ((path, _VERSION.fullmatch(path.name)) for path in self._files())
        return sorted(
            (NoteVersion(int(name[1]), path, name[2]) for path, name in found if name), key=lambda each: each.number
        )

    def add(self, before: bytes, written: str) -> NoteVersion:
        """Keep a note as it is before a write, and forget the oldest versions beyond `MAX_VERSIONS`."""
        versions = self.versions()
        number = versions[-1].number + 1 if versions else 1
        added = NoteVersion(number, self._folder / f"{number:06d}.{written}.md", written)
        replace_bytes(added.file, before, mode=_MODE)
        for old in versions[: max(0, len(versions) + 1 - MAX_VERSIONS)]:
            old.file.unlink(missing_ok=True)
        return added

    def keep(self, result: bytes) -> Path:
        """Keep a result that cannot be written to the vault, and return its path; the 20 latest are kept."""
        ensure_private_dir(self._folder)
        kept = sorted(int(name[1]) for path in self._files() if (name := _KEPT.fullmatch(path.name)))
        number = kept[-1] + 1 if kept else 1
        path = self._folder / f"kept-{number:06d}.md"
        replace_bytes(path, result, mode=_MODE)
        for old in kept[: max(0, len(kept) + 1 - _MAX_KEPT)]:
            (self._folder / f"kept-{old:06d}.md").unlink(missing_ok=True)
        return path

    def _prepare(self) -> None:
        for left_over in self._folder.glob(".*.new"):  # by a process that was killed
            left_over.unlink()
        path = self._folder / "path"
        if not path.exists():
            replace_bytes(path, str(self.note).encode("utf-8", "surrogateescape"), mode=_MODE)

    def _files(self) -> list[Path]:
        return list(self._folder.iterdir()) if self._folder.is_dir() else []


def noted(folder: Path) -> list[Path]:
    """Return the paths of all notes that have backups below `folder`."""
    files = sorted(folder.glob("*/path")) if folder.is_dir() else []
    return [Path(each.read_bytes().decode("utf-8", "surrogateescape")) for each in files]
