"""A unified diff on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asky.cli.terminal.terminal import Terminal

_COLORS: Mapping[str, int] = MappingProxyType({"+": 32, "-": 31, "@": 36})


def print_diff(terminal: Terminal, diff: str) -> None:
    """Print a unified diff, its lines in colour if that is on; nothing for no change."""
    for line in diff.splitlines():
        color = _COLORS.get(line[:1])
        is_head = line.startswith(("+++", "---"))
        terminal.line(line, *([1] if is_head else [color] if color is not None else []))
