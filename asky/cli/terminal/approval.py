"""Approval on a terminal: of search queries that may reveal private text, and of changes to files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from asky.cli.terminal.confirm import confirm
from asky.cli.terminal.diff import show_diff
from asky.cli.terminal.question import Keyboard, YesNo
from asky.events import StageStarted
from asky.text.printable import one_line
from asky.values import FileChange, OutgoingQueries

if TYPE_CHECKING:
    import anyio

    from asky.cli.terminal.terminal import Progress, Terminal

_WAITING = "y or n, then Enter"


class Approval:
    """Asks the user on a terminal; see `asky.values.Approve`. Without a terminal nothing is approved.

    With `is_given`, queries are approved without asking. `keyboard` is set if it is being read already. `before` is
    called before a question is asked.
    """

    def __init__(
        self,
        terminal: Terminal,
        progress: Progress,
        *,
        is_given: bool = False,
        keyboard: Keyboard | None = None,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._terminal = terminal
        self._progress = progress
        self._is_given = is_given
        self._keyboard = keyboard
        self._before = before
        self._one_at_a_time: anyio.Lock | None = None

    async def __call__(self, asked: OutgoingQueries | FileChange) -> bool:
        if self._is_given and isinstance(asked, OutgoingQueries):
            return True
        if not self._can_ask():
            return False
        from anyio import Lock, to_thread  # the event loop that calls this has it already

        self._one_at_a_time = self._one_at_a_time or Lock()
        async with self._one_at_a_time:
            self._before()
            # a Ctrl-C must end the run although a thread still waits for a key
            if self._keyboard is None:
                return await to_thread.run_sync(lambda: self._confirm(asked), abandon_on_cancel=True)
            question = YesNo(lambda: self._show(asked, waits=True))
            try:
                with self._keyboard.asking(question):
                    is_approved = await to_thread.run_sync(question.wait, abandon_on_cancel=True)
            finally:
                question.give_up()
                self._progress.close()
            if not is_approved:
                self._terminal.ask("not written" if isinstance(asked, FileChange) else "not sent")
            return is_approved

    def _can_ask(self) -> bool:
        has_keyboard = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
        return has_keyboard and self._terminal.err.isatty()

    def _confirm(self, asked: OutgoingQueries | FileChange) -> bool:
        self._show(asked, waits=False)
        return confirm(_question(asked))

    def _show(self, asked: OutgoingQueries | FileChange, *, waits: bool) -> None:
        """Print what is asked about and, if the answer is typed into the progress line, the question."""
        self._progress.clear()
        if isinstance(asked, FileChange):
            show_diff(self._terminal, asked.diff)
        else:
            self._terminal.ask(f"{asked.reason[:1].upper()}{asked.reason[1:]}.")
            for each in asked.queries:
                self._terminal.ask(f"  - {one_line(each)}")
        if waits:
            self._terminal.ask(f"{_question(asked)} [y/N]")
            self._progress(StageStarted(_WAITING))


def _question(asked: OutgoingQueries | FileChange) -> str:
    if isinstance(asked, FileChange):
        return f"Write this into {one_line(asked.path)}?"
    services = ", ".join(f"{name} ({host})" if host else name for name, host in asked.services)
    count = len(asked.queries)
    return f"Send {'this query' if count == 1 else f'these {count} queries'} to {one_line(services)}?"
