"""Confirmation before something is deleted."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from asky.errors import UsageError


def is_confirmed(question: str, what: str, show: Callable[[], None] | None = None) -> bool:
    """Ask `question` on a terminal, after calling `show`.

    Raises `UsageError`, which names the action `what`, without a terminal.
    """
    if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
        raise UsageError(f"confirmation needed to {what}", hint="confirm with --yes")
    if show is not None:
        show()
    return click.confirm(question, err=True)


def can_ask() -> bool:
    """Return whether somebody at a terminal can be asked."""
    return all(stream is not None and not stream.closed and stream.isatty() for stream in (sys.stdin, sys.stderr))
