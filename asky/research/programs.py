"""Running a program of the user's: an argument list without a shell, with limits, and gone when the call returns."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

Ending = Literal["ended", "timed_out", "too_large", "stopped"]

_BLOCK_BYTES = 64 << 10
_KEPT_ERROR_BYTES = 4 << 10
_MAX_ERROR_BYTES = 64 << 20
_POLL_S = 0.02  # how late the end of a program is noticed whose children still hold its pipes
_LAST_READS = 17  # blocks left in a pipe of 1 MiB, the largest that Linux gives without privileges, and its end
_REAPING_S = 2.0  # a process that hangs in the kernel outlives even SIGKILL; nobody waits for it
_MARK = "ASKY_CALL"
_SWEEPS = 20


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """What one call may take: wall-clock seconds, and bytes of standard output."""

    timeout_s: float = 30.0
    max_output_bytes: int = 1 << 20


@dataclass(frozen=True, slots=True)
class Ended:
    """How a call ended.

    `status` is the exit status, negative for a signal; it says nothing where asky ended the program, for the reason
    `why`. `output` has at most the bytes that were allowed, `errors` are the last of standard error. The bytes count
    all that was read.
    """

    why: Ending
    status: int | None
    output: bytes
    errors: bytes
    output_bytes: int
    error_bytes: int
    seconds: float

    def describe(self) -> str:
        """How the program ended by itself, in a few words."""
        if self.status is None or self.status >= 0:
            return f"exit status {self.status}"
        try:
            return f"killed by {signal.Signals(-self.status).name}"
        except ValueError:
            return f"killed by signal {-self.status}"


def never() -> bool:
    """For a call that nobody stops."""
    return False


def run_program(
    argv: Sequence[str],
    limits: ProgramLimits,
    environ: Mapping[str, str],
    *,
    data: bytes = b"",
    is_stopped: Callable[[], bool] = never,
) -> Ended:
    """Run `argv` in `/` with the variables `environ` and `data` on standard input, in a process group of its own.

    The program is ended at a limit, and as soon as `is_stopped` says so. Whatever it has started is killed before this
    returns: its group, and on Linux also what left the group, unless that has cleared its environment. What children
    would still write after the program itself has ended is not waited for. Raises `OSError` where it cannot be started,
    and `ValueError` for an argument that none can be: with NUL in it.
    """
    started = time.monotonic()
    mark = secrets.token_hex(8)
    process = subprocess.Popen(
        [each.encode("utf-8", "surrogateescape") for each in argv],  # whatever the locale is
        stdin=subprocess.PIPE if data else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environ, _MARK: mark},
        cwd="/",
        start_new_session=True,
        bufsize=0,
    )
    pipes = _Pipes(process, data, limits.max_output_bytes)
    try:
        why = _follow(process, pipes, started + limits.timeout_s, is_stopped)
    finally:
        _end(process, mark)
        pipes.close()
    return Ended(
        why,
        process.returncode,
        bytes(pipes.output[: limits.max_output_bytes]),
        bytes(pipes.errors),
        len(pipes.output),
        pipes.error_bytes,
        time.monotonic() - started,
    )


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
    """Whether the program has ended; where it can be left a zombie, its group keeps its number."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class _Pipes:
    """The pipes of a program, none of which is ever waited for alone."""

    def __init__(self, process: subprocess.Popen[bytes], data: bytes, max_output_bytes: int) -> None:
        self.output = bytearray()
        self.errors = bytearray()
        self.error_bytes = 0
        self._max_output_bytes = max_output_bytes
        self._unsent = memoryview(data)
        self._selector = selectors.DefaultSelector()
        self._all = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe is not None]
        for pipe in self._all:
            os.set_blocking(pipe.fileno(), False)
            event = selectors.EVENT_WRITE if pipe is process.stdin else selectors.EVENT_READ
            self._selector.register(pipe, event, self.errors if pipe is process.stderr else self.output)

    @property
    def are_flooded(self) -> bool:
        return len(self.output) > self._max_output_bytes or self.error_bytes > _MAX_ERROR_BYTES

    def move(self, wait_s: float) -> None:
        """Move one block through each pipe that is ready, after waiting at most `wait_s` for one."""
        if not self._selector.get_map():  # the program closed all and goes on
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
        for pipe in self._all:
            pipe.close()

    def _write(self, pipe: IO[bytes]) -> None:
        try:
            self._unsent = self._unsent[os.write(pipe.fileno(), self._unsent[:_BLOCK_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not read what it was given
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


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kill the program and what it started."""
    # nobody is left in it, which macOS calls a matter of permission while the zombie is there
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_REAPING_S)
    for _ in range(_SWEEPS):
        marked = list(_marked(mark))
        if not marked:
            return
        for pid in marked:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)


def _marked(mark: str) -> Iterator[int]:
    """The processes that inherited the variable of this call; none on a system that does not show them."""
    wanted = f"{_MARK}={mark}".encode()
    with contextlib.suppress(OSError):
        for place in Path("/proc").iterdir():
            if place.name.isdigit():
                with contextlib.suppress(OSError):  # it has ended, or is somebody else's
                    if wanted in (place / "environ").read_bytes().split(b"\0"):
                        yield int(place.name)
