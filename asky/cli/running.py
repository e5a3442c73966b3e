"""The one place where synchronous code waits for asynchronous code.

The event loop runs in a thread of its own. The main thread keeps the terminal and the signals, so that Ctrl-C is heard
at once whatever the loop is doing.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Generic, NoReturn, TypeVar

from asky.errors import Interrupted

T = TypeVar("T")

GRACE_S = 3.0
_TICK_S = 0.1
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Interrupted):
    """A signal stopped the run. `value` is what the coroutine returned all the same, or `None`.

    The exit code is 128 and the signal's number: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
    """

    def __init__(self, number: int, value: object = None) -> None:
        super().__init__("stopped")
        self.exit_code = 128 + number
        self.value = value


def run_async(
    main: Callable[[], Awaitable[T]],
    *,
    tick: Callable[[], None] | None = None,
    meanwhile: contextlib.AbstractContextManager[None] | None = None,
    grace_s: float = GRACE_S,
) -> T:
    """Run `main` in an event loop beside this thread, and return what it returns or raise what it raises.

    The first SIGINT, SIGTERM or SIGHUP cancels `main`, which has `grace_s` seconds for its cleanup and may still return
    a value; then `Stopped` is raised with it. The second signal restores the terminal and leaves the process at once.
    `tick` is called ten times a second by the waiting thread, for a progress line. `meanwhile` is entered by it for as
    long as it waits, and may change the terminal: what is restored is the state before.

    A signal that the process was started to ignore stays ignored. Outside of the main thread no signal is handled.
    """
    # Signal numbers, and `None` at the end. Unlike an Event, this queue may be used in a signal handler that interrupts
    # an operation on it.
    inbox: SimpleQueue[int | None] = SimpleQueue()
    task = _Task(main, inbox)
    with _signals_sent_to(inbox, task.cancel) as received, meanwhile or contextlib.nullcontext():
        task.start()
        if _wait(inbox, tick) is not None:
            _wait_for_end(inbox, grace_s)
    if received:  # also one that came as the run had just ended: whoever waits for the next step must not wait on
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
    with contextlib.suppress(Empty):
        while inbox.get(timeout=max(0.0, deadline - time.monotonic())) is not None:
            pass


class _Task(Generic[T]):
    """A coroutine in an event loop in a thread; `None` is put into `inbox` at its end."""

    def __init__(self, main: Callable[[], Awaitable[T]], inbox: SimpleQueue[int | None]) -> None:
        self.value: T | None = None
        self.error: BaseException | None = None
        self._main = main
        self._inbox = inbox
        self._cancelled = False
        self._cancel_in_loop: Callable[[], object] | None = None

    def start(self) -> None:
        context = contextvars.copy_context()
        # A daemon: a run that does not end in its grace time must not keep the process.
        threading.Thread(target=context.run, args=(self._run,), name="asky-loop", daemon=True).start()

    def cancel(self) -> None:
        """Cancel the coroutine, now or as soon as it starts. Safe in a signal handler: it takes no lock."""
        self._cancelled = True
        if self._cancel_in_loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has just been closed
                self._cancel_in_loop()

    def result(self) -> T:
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value] # set whenever there is no error

    def _run(self) -> None:
        import anyio  # asyncio comes with it: only where something is asynchronous

        try:
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
            # Before the loop is closed: that waits for the resolver's threads, and a name may take half a minute.
            self._inbox.put(None)


@contextlib.contextmanager
def _signals_sent_to(inbox: SimpleQueue[int | None], cancel: Callable[[], None]) -> Iterator[list[int]]:
    """Send the first signal to `inbox` and `cancel` the run; leave the process at the second. Yields those received."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    restore = _remember_terminal()

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
        received.append(number)
        if len(received) > 1:
            _leave_at_once(number, restore)
        inbox.put(number)  # before the run can end: what comes first in the inbox decides
        cancel()

    # Ignored ones stay ignored, and what another language installed (`None`) could not be put back.
    handled = [number for number in _SIGNALS if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    before = [(number, signal.signal(number, handle)) for number in handled]
    try:
        yield received
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _leave_at_once(number: int, restore: Callable[[], None]) -> NoReturn:
    with contextlib.suppress(OSError):
        restore()
    os._exit(128 + number)


def _remember_terminal() -> Callable[[], None]:
    """A function that puts the terminal back into the state it has now."""
    import termios  # POSIX only, as this package is

    try:
        keyboard = sys.stdin.fileno()
        attributes = termios.tcgetattr(keyboard)
    except (termios.error, OSError, ValueError, AttributeError):
        return lambda: None  # not a terminal

    def restore() -> None:
        if os.tcgetpgrp(keyboard) == os.getpgrp():  # a process in the background would be stopped by the attempt
            termios.tcflush(keyboard, termios.TCIFLUSH)  # what was typed for the run is no command for the shell
            termios.tcsetattr(keyboard, termios.TCSANOW, attributes)
            if os.isatty(2):
                os.write(2, b"\r\x1b[K\x1b[0m\x1b[?25h\x1b[?2004l")

    return restore
