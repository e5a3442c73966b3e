"""A unified diff on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asky.cli.terminal.terminal import Terminal

_COLORS: Mapping[str, int] = MappingProxyType({"+": 32, "-": 31, "@": 36})


def print_diff(terminal: Terminal, diff: str) -> None:
    """Print a unified diff, its lines in colour if that is on; nothing for no change."""
    for line, codes in _styled(diff):
        terminal.line(line, *codes)


def show_diff(terminal: Terminal, diff: str) -> None:
    """Show a unified diff on stderr, as a part of a question to the user."""
    for line, codes in _styled(diff):
        terminal.err.write(terminal.paint(line, *codes) + "\n")


def _styled(diff: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield each line with its SGR codes."""
    for line in diff.splitlines():
        color = _COLORS.get(line[:1])
        is_head = line.startswith(("+++", "---"))
        yield line, (1,) if is_head else (color,) if color is not None else ()
