"""Asking before something is removed for good."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from asky.errors import UsageError


def is_confirmed(question: str, what: str, show: Callable[[], None] | None = None) -> bool:
    """Ask the `question` on a terminal, below what `show` prints.

    Raises `UsageError`, saying `what` would be done, without a terminal.
    """
    if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty():
        raise UsageError(f"that would {what}", hint="say so with --yes")
    if show is not None:
        show()
    return click.confirm(question, err=True)
