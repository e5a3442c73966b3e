"""The context of a command, and the one place where synchronous code waits for asynchronous code.

The event loop runs in a thread of its own. The main thread keeps the terminal and the signals, so that it handles
Ctrl-C at once whatever the loop is doing.
"""

from __future__ import annotations

import contextvars
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Generic, NoReturn, Protocol, TypeVar

from asky.app.asky import Asky
from asky.cli.terminal.terminal import Progress, Terminal, open_terminal
from asky.config.paths import current_folder
from asky.errors import AskyError, Interrupted

if TYPE_CHECKING:
    from asky.cli.terminal.question import YesNo
    from asky.config.loader import Config

T = TypeVar("T")

GRACE_S = 3.0
_TICK_S = 0.1
_current: contextvars.ContextVar[CommandContext | None] = contextvars.ContextVar("command_context", default=None)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Typing(Protocol):
    """Takes over the keyboard while asynchronous work runs; see `asky.cli.chat.type_ahead`."""

    def listening(self) -> AbstractContextManager[None]:
        """Collect what is typed in the body."""
        ...

    def poll(self) -> None:
        """Read what has been typed since the last call; does not block."""
        ...

    def asking(self, question: YesNo) -> AbstractContextManager[None]:
        """See `asky.cli.terminal.question.Keyboard`."""
        ...


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The use cases and the terminal of one command.

    `typing`, if set, has the keyboard while asynchronous work runs. `library_prefix` comes before the names of the
    commands of the paper library in hints.
    """

    asky: Asky
    terminal: Terminal
    progress: Progress
    typing: Typing | None = None
    library_prefix: str = "asky papers "

    def run(self, main: Callable[[], Awaitable[T]], *, unless: Callable[[], T | None] | None = None) -> T:
        """Run asynchronous work while the progress line is updated. Raises `Stopped` on Ctrl-C.

        See `run_async` for `unless`.
        """
        listening = self.typing.listening() if self.typing else nullcontext()
        try:
            return run_async(main, unless=unless, tick=self._tick, meanwhile=listening)
        finally:
            self.progress.clear()

    def shorten(self, error: Exception) -> None:
        """Take the hint that a warning with the same reason has given already out of that of an error."""
        warning = self.progress.warning_of(error.message) if isinstance(error, AskyError) else None
        if warning is not None and isinstance(error, AskyError):
            error.hint = (error.hint or "").removeprefix(warning.hint or "").removeprefix("; ") or None

    def _tick(self) -> None:
        if self.typing is not None:
            self.typing.poll()
        self.progress.tick()


def configured(flags: Mapping[str, object] | None = None) -> Config:
    """Return the configuration of this process, overridden by `flags`. Raises `ConfigError`."""
    from asky.config.loader import load_config  # 15 ms: not for --help

    return load_config(environ=os.environ, cwd=current_folder(), flags=flags)


@contextmanager
def command_context(
    *,
    quiet: bool = False,
    verbose: bool = False,
    as_json: bool = False,
    flags: Mapping[str, object] | None = None,
    said: Collection[str] = (),
) -> Iterator[CommandContext]:
    """Open the use cases for one command and close them on exit.

    With `as_json`, stderr is silent too, so that it holds nothing but a possible error object. Notes that were `said`
    before are not printed again, nor is the hint of a warning with the error of the body. A
    command inside another one has the context of that, see `as_current`.
    """
    if (current := _current.get()) is not None:
        yield current
        return
    config = configured(flags)
    quiet = quiet or (as_json and not verbose)
    terminal, progress = open_terminal(os.environ, config.ui, quiet=quiet, verbose=verbose, said=said)
    # Threads of NumPy that wait for each other spin: a tenth of the CPU time of a question.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with closing(progress), closing(Asky.open(config, listen=progress)) as asky:
        ctx = CommandContext(asky, terminal, progress)
        try:
            yield ctx
        except AskyError as error:
            ctx.shorten(error)
            raise
        if verbose and (usage := asky.embedding_usage()) is not None:
            terminal.note(usage.describe())


@contextmanager
def as_current(ctx: CommandContext) -> Iterator[None]:
    """Give `ctx` to the commands that are run in the body."""
    token = _current.set(ctx)
    try:
        yield
    finally:
        _current.reset(token)


class Stopped(Interrupted):
    """A signal stopped the run. `value` is what the coroutine still returned, or `None`.

    The exit code is 128 plus the number of the signal: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
    """

    def __init__(self, number: int, value: object = None) -> None:
        super().__init__("stopped")
        self.exit_code = 128 + number
        self.value = value


def run_async(
    main: Callable[[], Awaitable[T]],
    *,
    unless: Callable[[], T | None] | None = None,
    tick: Callable[[], None] | None = None,
    meanwhile: AbstractContextManager[None] | None = None,
    grace_s: float = GRACE_S,
) -> T:
    """Run `main` in an event loop in another thread, and return its result or raise its error.

    `unless`, a plain function, is called first in that thread. If it returns anything but `None`, that is the result,
    and no event loop is started: asyncio and anyio take 45 ms to import.

    The first SIGINT, SIGTERM or SIGHUP cancels `main`, which has `grace_s` seconds for its cleanup and may still return
    a value; then `Stopped` is raised with it. The second signal restores the terminal and exits the process at once.
    The waiting thread calls `tick` ten times a second, for a progress line, and enters `meanwhile` for as long as it
    waits; that may change the terminal, which is restored to its state before.

    A signal that the process was started to ignore stays ignored. Outside the main thread, no signal is handled.
    """
    # Signal numbers, and `None` at the end. Unlike an Event, this queue may be used in a signal handler that interrupts
    # an operation on it.
    inbox: SimpleQueue[int | None] = SimpleQueue()
    task = _Task(main, inbox, unless)
    with _signals_sent_to(inbox, task.cancel) as received, meanwhile or nullcontext():
        task.start()
        if _wait(inbox, tick) is not None:
            _wait_for_end(inbox, grace_s)
    if received:  # even if it came just as the run ended
        raise Stopped(received[0], task.value) from task.error
    return task.result()


def _wait(inbox: SimpleQueue[int | None], tick: Callable[[], None] | None) -> int | None:
    while True:
        try:
            return inbox.get(timeout=_TICK_S if tick else None)
        except Empty:
            if tick is not None:
                tick()


def _wait_for_end(inbox: SimpleQueue[int | None], grace_s: float) -> None:
    deadline = time.monotonic() + grace_s
    with suppress(Empty):
        while inbox.get(timeout=max(0.0, deadline - time.monotonic())) is not None:
            pass


class _Task(Generic[T]):
    """Work in a thread, in an event loop if `unless` returns `None`; it puts `None` into `inbox` at its end."""

    def __init__(
        self, main: Callable[[], Awaitable[T]], inbox: SimpleQueue[int | None], unless: Callable[[], T | None] | None
    ) -> None:
        self.value: T | None = None
        self.error: BaseException | None = None
        self._main = main
        self._inbox = inbox
        self._unless = unless
        self._cancelled = False
        self._cancel_in_loop: Callable[[], object] | None = None

    def start(self) -> None:
        context = contextvars.copy_context()
        # A daemon: a run that exceeds its grace period must not keep the process alive.
        threading.Thread(target=context.run, args=(self._run,), name="asky-loop", daemon=True).start()

    def cancel(self) -> None:
        """Cancel the coroutine, now or as soon as it starts. Safe in a signal handler: it takes no lock."""
        self._cancelled = True
        if self._cancel_in_loop is not None:
            with suppress(RuntimeError):  # the loop has just been closed
                self._cancel_in_loop()

    def result(self) -> T:
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value] # set whenever there is no error

    def _run(self) -> None:
        try:
            self.value = self._unless() if self._unless is not None else None
            if self.value is None:
                import anyio  # imports asyncio: only for asynchronous work

                anyio.run(self._supervise)
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread, which raises it
            self.error = error
        finally:
            self._inbox.put(None)

    async def _supervise(self) -> None:
        import asyncio

        import anyio

        try:
            with anyio.CancelScope() as scope:
                loop = asyncio.get_running_loop()
                self._cancel_in_loop = lambda: loop.call_soon_threadsafe(scope.cancel)
                if self._cancelled:
                    scope.cancel()
                self.value = await self._main()
        except BaseException as error:
            self.error = error
            raise
        finally:
            # Before closing the loop, which waits for DNS lookups; one may take half a minute.
            self._inbox.put(None)


@contextmanager
def _signals_sent_to(inbox: SimpleQueue[int | None], cancel: Callable[[], None]) -> Iterator[list[int]]:
    """Send the first signal to `inbox` and `cancel` the run; exit at the second. Yield the list of signals received."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    restore = _remember_terminal()

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
        received.append(number)
        if len(received) > 1:
            _leave_at_once(number, restore)
        inbox.put(number)  # before `cancel`: the first item in the inbox decides
        cancel()

    # Ignored signals stay ignored; a handler not set by Python (`None`) could not be restored.
    handled = [number for number in _SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    before = [(number, signal.signal(number, handle)) for number in handled]
    try:
        yield received
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _leave_at_once(number: int, restore: Callable[[], None]) -> NoReturn:
    with suppress(OSError):
        restore()
    os._exit(128 + number)


def _remember_terminal() -> Callable[[], None]:
    """Return a function that restores the current state of the terminal."""
    import termios  # POSIX only, as this package is

    try:
        keyboard = sys.stdin.fileno()
        attributes = termios.tcgetattr(keyboard)
    except (termios.error, OSError, ValueError, AttributeError):
        return lambda: None  # not a terminal

    def restore() -> None:
        if os.tcgetpgrp(keyboard) == os.getpgrp():  # the attempt would stop a background process
            termios.tcflush(keyboard, termios.TCIFLUSH)  # text typed for the run must not reach the shell
            termios.tcsetattr(keyboard, termios.TCSANOW, attributes)
            if os.isatty(2):
                os.write(2, b"\r\x1b[K\x1b[0m\x1b[?25h\x1b[?2004l")

    return restore
