"""Whether the user can be asked, and confirmation before something is deleted."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from asky.errors import UsageError


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
    return click.confirm(question, err=True)
