"""Approval, on a terminal, of search queries that may reveal private text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from asky.text.printable import one_line

if TYPE_CHECKING:
    from asky.cli.terminal.terminal import Terminal
    from asky.values import Approve, OutgoingQueries


def approval(terminal: Terminal, clear: Callable[[], None], *, is_given: bool = False) -> Approve:
    """Return what asks the user whether queries may be sent; `clear` removes the progress line first.

    With `is_given` everything is approved; without a terminal nothing is.
    """

    async def approve(queries: OutgoingQueries) -> bool:
        if is_given:
            return True
        if sys.stdin is None or sys.stdin.closed or not sys.stdin.isatty() or not terminal.err.isatty():
            return False
        from anyio import to_thread  # the event loop that calls this has it already

        # a Ctrl-C must end the run although this thread still waits for a key
        return await to_thread.run_sync(lambda: _ask(queries, terminal, clear), abandon_on_cancel=True)

    return approve


def _ask(queries: OutgoingQueries, terminal: Terminal, clear: Callable[[], None]) -> bool:
    clear()
    services = ", ".join(f"{name} ({host})" if host else name for name, host in queries.services)
    terminal.note(f"{queries.reason[:1].upper()}{queries.reason[1:]}.")
    for each in queries.queries:
        terminal.note(f"  - {one_line(each)}")
    count = len(queries.queries)
    question = f"Send {'this query' if count == 1 else f'these {count} queries'} to {one_line(services)}?"
    return click.confirm(question, err=True)
