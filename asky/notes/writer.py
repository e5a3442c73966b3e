"""temporary"""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Written:
    path: Path
    is_aside: bool = False


@dataclass(frozen=True)
class Undone:
    path: Path


class NoteWriter:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, path: Path, new: bytes, *, sha256: str) -> Written:
        if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
            aside = path.with_name(f"{path.stem}.research.md")
            aside.write_bytes(new)
            return Written(aside, True)
        path.write_bytes(new)
        return Written(path)

    def undo(self, path: Path) -> Undone:
        return Undone(path)


def diff(old: bytes, new: bytes, name: str) -> str:
    return "".join(difflib.unified_diff(old.decode().splitlines(True), new.decode().splitlines(True), name, name))
