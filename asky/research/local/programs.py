"""Running the user's programs: without a shell, with limits, and with no process left when the call returns."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from asky.research.local.running import RunningPrograms

Ending = Literal["ended", "timed_out", "too_large", "stopped"]

_BLOCK_BYTES = 64 << 10
_KEPT_ERROR_BYTES = 4 << 10
_MAX_ERROR_BYTES = 64 << 20
_POLL_S = 0.02  # the delay in noticing that a program has ended while its children still hold its pipes
_LAST_READS = 17  # the blocks of a pipe of 1 MiB, the largest that Linux allows without privileges, and its end
_STARTING_S = 5.0  # the time for an interrupted start to finish
_REAPING_S = 2.0  # a process that hangs in the kernel survives even SIGKILL, and is not waited for
_MARK = "ASKY_CALL"
_SWEEPS = 20


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of one call: wall-clock seconds, and bytes of standard output."""

    timeout_s: float = 30.0
    max_output_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The result of a call.

    `status` is the exit status, negative for a signal; it has no meaning if asky ended the program for the reason
    `why`. `output` is cut at the limit; `errors` is the end of standard error. The byte counts include everything that
    was read.
    """

    why: Ending
    status: int | None
    output: bytes
    errors: bytes
    output_bytes: int
    error_bytes: int
    seconds: float

    def describe(self) -> str:
        """Describe how the program ended, in a few words."""
        if self.status is None or self.status >= 0:
            return f"exit status {self.status}"
        try:
            return f"killed by {signal.Signals(-self.status).name}"
        except ValueError:
            return f"killed by signal {-self.status}"


def never() -> bool:
    """Return `False`: for a call that cannot be stopped."""
    return False


def run_program(
    argv: Sequence[str],
    limits: ProgramLimits,
    environ: Mapping[str, str],
    *,
    data: bytes = b"",
    is_stopped: Callable[[], bool] = never,
    running: RunningPrograms | None = None,
) -> ProgramResult:
    """Run `argv` in `/`, with the variables `environ` and with `data` on standard input, in a separate process group.

    The program is ended at a limit, and as soon as `is_stopped` returns true, `running` is closed, or the task that
    waits for this thread is cancelled. Everything it has started is killed before this returns: its group, and on Linux
    also processes that left the group, unless they cleared their environment. Output that children would write after
    the program has ended is not waited for. Raises `OSError` if the program cannot be started, and `ValueError` for an
    argument with NUL in it.
    """
    running = running or RunningPrograms()

    def must_end() -> bool:
        return running.is_closed or is_stopped() or _is_abandoned()

    started = time.monotonic()
    call = _Call(argv, {**environ, _MARK: secrets.token_hex(8)}, has_input=bool(data))
    pipes: _Pipes | None = None
    with running.one_more():
        if must_end():
            raise InterruptedError(errno.EINTR, "stopped")
        try:
            process = call.start()
            pipes = _Pipes(process, data, limits.max_output_bytes)
            why = _follow(process, pipes, started + limits.timeout_s, must_end)
        finally:
            call.end()
            if pipes is not None:
                pipes.close()
    return ProgramResult(
        why,
        process.returncode,
        bytes(pipes.output[: limits.max_output_bytes]),
        bytes(pipes.errors),
        len(pipes.output),
        pipes.error_bytes,
        time.monotonic() - started,
    )


def _is_abandoned() -> bool:
    """Return whether this is a worker thread whose result nobody waits for any more."""
    import asyncio  # both only where a program runs: adapters are read from the configuration by `asky chat` too

    import anyio.from_thread

    try:
        anyio.from_thread.check_cancelled()
    except asyncio.CancelledError:
        return True
    except RuntimeError:  # no worker thread
        pass
    return False


class _Call:
    """A program that is started and reliably ended, even if its start is interrupted.

    It is started in a separate thread: a signal raises its exception in the main thread, possibly between the start of
    the program and the return of `Popen`, and then no one would know what to kill. A start that takes longer than
    `starting_s` is not waited for; then that thread kills what it has started.
    """

    def __init__(
        self, argv: Sequence[str], environ: Mapping[str, str], *, has_input: bool, starting_s: float = _STARTING_S
    ) -> None:
        self._argv = [each.encode("utf-8", "surrogateescape") for each in argv]  # independent of the locale
        self._environ = environ
        self._has_input = has_input
        self._process: Future[subprocess.Popen[bytes]] = Future()
        self._starting_s = starting_s
        self._is_given_up = False

    def start(self) -> subprocess.Popen[bytes]:
        threading.Thread(target=self._start, name="asky-program", daemon=True).start()
        return self._process.result()

    def _start(self) -> None:
        try:
            process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE if self._has_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environ,
                cwd="/",
                start_new_session=True,
                bufsize=0,
            )
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits for the start
            self._process.set_exception(error)
        else:
            self._process.set_result(process)
            if self._is_given_up:
                self._kill(process)

    def end(self) -> None:
        """Kill the program and everything it has started, or will have started."""
        wait([self._process], self._starting_s)
        self._is_given_up = not self._process.done()
        if self._process.done() and self._process.exception() is None:  # otherwise none was started, or not yet
            self._kill(self._process.result())

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        # the group is empty: macOS reports a lack of permission while the zombie exists
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_REAPING_S)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        for _ in range(_SWEEPS):
            marked = list(_marked(f"{_MARK}={self._environ[_MARK]}"))
            if not marked:
                return
            for pid in marked:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(_POLL_S)


def _follow(process: subprocess.Popen[bytes], pipes: _Pipes, deadline: float, is_stopped: Callable[[], bool]) -> Ending:
    while not _has_ended(process):
        if is_stopped():
            return "stopped"
        if time.monotonic() >= deadline:
            return "timed_out"
        pipes.move(_POLL_S)
        if pipes.are_flooded:
            return "too_large"
    for _ in range(_LAST_READS):
        pipes.move(0)
    return "too_large" if pipes.are_flooded else "ended"


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the program has ended. If possible it is left a zombie, so that its group keeps its number."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class _Pipes:
    """The pipes of a program, served together so that none of them blocks."""

    def __init__(self, process: subprocess.Popen[bytes], data: bytes, max_output_bytes: int) -> None:
        self.output = bytearray()
        self.errors = bytearray()
        self.error_bytes = 0
        self._max_output_bytes = max_output_bytes
        self._unsent = memoryview(data)
        self._selector = selectors.DefaultSelector()
        for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
            os.set_blocking(pipe.fileno(), False)
            event = selectors.EVENT_WRITE if pipe is process.stdin else selectors.EVENT_READ
            self._selector.register(pipe, event, self.errors if pipe is process.stderr else self.output)

    @property
    def are_flooded(self) -> bool:
        return len(self.output) > self._max_output_bytes or self.error_bytes > _MAX_ERROR_BYTES

    def move(self, wait_s: float) -> None:
        """Move one block through each pipe that is ready, after waiting at most `wait_s` for one."""
        if not self._selector.get_map():  # the program closed its pipes and is still running
            time.sleep(wait_s)
            return
        for key, event in self._selector.select(wait_s):
            pipe: IO[bytes] = key.fileobj  # type: ignore[assignment]  # a pipe, as registered above
            if event == selectors.EVENT_WRITE:
                self._write(pipe)
            else:
                self._read(pipe, key.data)

    def close(self) -> None:
        self._selector.close()

    def _write(self, pipe: IO[bytes]) -> None:
        try:
            self._unsent = self._unsent[os.write(pipe.fileno(), self._unsent[:_BLOCK_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # the program does not read its input
            self._unsent = self._unsent[:0]
        if not self._unsent:
            self._selector.unregister(pipe)
            pipe.close()

    def _read(self, pipe: IO[bytes], kept: bytearray) -> None:
        block = pipe.read(_BLOCK_BYTES)
        if block:
            kept.extend(block)
            if kept is self.errors:
                self.error_bytes += len(block)
                del kept[:-_KEPT_ERROR_BYTES]
        elif block is not None:
            self._selector.unregister(pipe)


def _marked(variable: str) -> Iterator[int]:
    """Yield the processes that inherited the variable of this call; none on systems without `/proc`."""
    wanted = variable.encode()
    with contextlib.suppress(OSError):
        for place in Path("/proc").iterdir():
            if place.name.isdigit():
                with contextlib.suppress(OSError):  # it has ended, or belongs to another user
                    if wanted in (place / "environ").read_bytes().split(b"\0"):
                        yield int(place.name)
