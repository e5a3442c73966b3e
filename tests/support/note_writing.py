"""Writing to a note in another process, which may be killed between any two steps."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from asky.errors import AskyError
from asky.notes.writer import NoteWriter


class Steps:
    """Counts the steps of a write, and kills its own process at one of them."""

    def __init__(self, last: int | None = None) -> None:
        self.count = 0
        self._last = last

    def __call__(self) -> None:
        self.count += 1
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


def write_until(folder: Path, note: Path, old: bytes, new: bytes, last: int) -> str:
    return NoteWriter(folder, step=Steps(last)).write(note, old, new).outcome


def undo_until(folder: Path, note: Path, last: int) -> None:
    NoteWriter(folder, step=Steps(last)).undo(note)


def append_often(folder: Path, note: Path, mark: bytes, times: int) -> int:
    """How often a line could be appended: another process appends too, and each reads what the other has written."""
    writer, written = NoteWriter(folder), 0
    while written < times:
        old = note.read_bytes()
        try:
            if writer.write(note, old, old + mark + b"\n", aside=b"").outcome == "written":
                written += 1
        except AskyError as error:
            raise AssertionError(error.message) from error
    return written
