"""Rows of a list that cannot be read: shown with the others, and said what to do about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.storage.stored_json import SEE_DOCTOR, Unreadable

if TYPE_CHECKING:
    from asky.cli.terminal import Terminal


def describe_damaged(damaged: Sequence[Unreadable]) -> list[dict[str, str]]:
    """The rows in JSON."""
    return [{"name": each.name, "message": each.why} for each in damaged]


def note_damaged(terminal: Terminal, damaged: Sequence[Unreadable]) -> None:
    """Say what is wrong with the first of the rows, and what can be done about them; nothing where there is none."""
    if damaged:
        more = f", and {len(damaged) - 1:,} more" if len(damaged) > 1 else ""
        terminal.note(f"{damaged[0].why}{more}")
        terminal.note(SEE_DOCTOR)
