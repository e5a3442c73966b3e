"""What a command that touches the store works with: the services, the terminal and the progress line."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol, TypeVar

from asky.cli.progress import Progress
from asky.cli.surroundings import configured
from asky.cli.terminal import Terminal
from asky.events import Listener
from asky.wiring import Services

T = TypeVar("T")


class Typing(Protocol):
    """What takes the keyboard while asynchronous work runs; see `asky.cli.chat_typing`."""

    def listening(self) -> AbstractContextManager[None]:
        """Take what is typed meanwhile."""
        ...

    def poll(self) -> None:
        """Read what has been typed since; returns at once."""
        ...


@dataclass(frozen=True, slots=True)
class Workbench:
    """The parts of one command. Where there is a `typing`, it has the keyboard while asynchronous work runs."""

    services: Services
    terminal: Terminal
    progress: Progress
    typing: Typing | None = None

    def run(self, main: Callable[[], Awaitable[T]]) -> T:
        """Run asynchronous work with the progress line alive; raises `Stopped` on Ctrl-C."""
        from asky.cli.running import run_async  # threading and signals: only where something is asynchronous

        try:
            return run_async(main, tick=self._tick, meanwhile=self.typing.listening() if self.typing else nullcontext())
        finally:
            self.progress.clear()

    def _tick(self) -> None:
        if self.typing is not None:
            self.typing.poll()
        self.progress.tick()


@contextmanager
def workbench(
    *,
    quiet: bool = False,
    verbose: bool = False,
    as_json: bool = False,
    offline: bool = False,
    flags: Mapping[str, object] | None = None,
    listening: Callable[[Terminal, Listener], Listener] | None = None,
) -> Iterator[Workbench]:
    """Open the services of this process; what was opened is closed on leaving.

    `listening` makes the listener of the services from the terminal and the progress line; by default the line listens
    alone. `offline` keeps the services off the web.

    Under `as_json` stderr is silent too, so that it holds nothing but the error object if there is one.
    """
    config = configured(flags)
    quiet = quiet or (as_json and not verbose)
    progress = Progress(
        sys.stderr,
        clock=time.monotonic,
        environ=os.environ,
        quiet=quiet,
        verbose=verbose,
        line=config.ui.progress,
    )
    terminal = Terminal(
        out=sys.stdout, err=sys.stderr, environ=os.environ, color=config.ui.color, quiet=quiet, verbose=verbose
    )
    listener = progress if listening is None else listening(terminal, progress)
    with progress, Services(config, os.environ, listener=listener, offline=offline) as services:
        yield Workbench(services, terminal, progress)
