"""Notes on rows of a list that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.app.records import damaged_notes

if TYPE_CHECKING:
    from asky.cli.terminal.terminal import Terminal
    from asky.values import Unreadable


def note_damaged(terminal: Terminal, damaged: Sequence[Unreadable]) -> None:
    """Print what is wrong with the first of the rows and how to repair them; nothing if there are none."""
    for note in damaged_notes(damaged):
        terminal.note(note)
