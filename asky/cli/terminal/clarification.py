"""Asking on a terminal what a question means."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from asky.text.printable import one_line

if TYPE_CHECKING:
    from asky.cli.terminal.terminal import Progress, Terminal


class TerminalQuestion:
    """Asks the user a question on a terminal; see `asky.values.Clarify`. Without a terminal there is no answer."""

    def __init__(self, terminal: Terminal, progress: Progress) -> None:
        self._terminal = terminal
        self._progress = progress

    @property
    def can_ask(self) -> bool:
        """Whether somebody can be asked."""
        has_keyboard = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
        return has_keyboard and self._terminal.err.isatty()

    async def __call__(self, question: str) -> str | None:
        if not self.can_ask:
            return None
        from anyio import to_thread  # the event loop that calls this has it already

        # a Ctrl-C must end the run although a thread still waits for a key
        return await to_thread.run_sync(lambda: self._ask(question), abandon_on_cancel=True)

    def _ask(self, question: str) -> str | None:
        self._progress.clear()
        self._terminal.ask(one_line(question))
        answer: str = click.prompt("Your answer (Enter to go on without)", default="", show_default=False, err=True)
        return answer.strip() or None
