"""Whether the user can be asked, and confirmation before something is deleted."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from asky.cli.terminal.cells import folded
from asky.cli.terminal.terminal import terminal_columns
from asky.errors import UsageError

_CHOICE = " [y/N]: "


def is_interactive() -> bool:
    """Return whether the user can be asked: on a terminal, with a keyboard."""
    return all(stream is not None and not stream.closed and stream.isatty() for stream in (sys.stdin, sys.stderr))


def is_confirmed(question: str, what: str, show: Callable[[], None] | None = None) -> bool:
    """Ask `question` on a terminal, after calling `show`.

    Raises `UsageError`, which names the action `what`, without a terminal.
    """
    if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
        raise UsageError(f"confirmation needed to {what}", hint="confirm with --yes")
    if show is not None:
        show()
    return confirm(question)


def confirm(question: str, *, default: bool = False) -> bool:
    """Ask `question` on stderr, broken between words, and return whether the answer is yes; Enter means `default`."""
    columns = terminal_columns(sys.stderr)
    *rows, last = [question] if columns is None else folded(question, columns - len(_CHOICE))
    for row in rows:
        click.echo(row, err=True)
    return click.confirm(last, default=default, err=True)
