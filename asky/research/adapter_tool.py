"""Running the program of an adapter: an argument list without a shell, with limits, and gone when the call returns."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from asky.errors import SourceUnreadable
from asky.research.local_names import show_name

ENVIRONMENT_NAMES = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""What a program gets of the environment: no key and no token of the user's shell."""

_READ_BYTES = 64 << 10
_KEPT_ERROR_BYTES = 4 << 10
_MAX_ERROR_CHARACTERS = 200
_POLL_S = 0.02  # how late the end of a program is noticed whose children still hold its pipes
_LAST_READS = 17  # blocks left in a pipe of 1 MiB, the largest that Linux gives without privileges, and its end


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """What one call may take: wall-clock seconds, and bytes of standard output."""

    timeout_s: float = 30.0
    max_output_bytes: int = 1 << 20


def run_tool(name: str, argv: Sequence[str], limits: ToolLimits, environ: Mapping[str, str]) -> bytes:
    """The standard output of `argv`, run in `/` in a process group of its own that is killed before this returns.

    Of `environ` only `ENVIRONMENT_NAMES` are passed on; standard input is empty. `name` stands in messages.
    Raises `SourceUnreadable`: "timed_out", "too_large" (more output than allowed), or "failed" with the exit status or
    signal and the last line of standard error, or because the program cannot be started.
    """
    process = _start(name, argv, {key: environ[key] for key in ENVIRONMENT_NAMES if key in environ})
    try:
        output, errors = _collect(name, process, limits)
    finally:
        _kill_group(process)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    if process.returncode != 0:
        raise SourceUnreadable(f"adapter {name}: {_describe_end(process.returncode)}{_last_line(errors)}")
    return output


def _start(name: str, argv: Sequence[str], environ: dict[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            cwd="/",
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        why = "the target is too long" if error.errno == errno.E2BIG else error.strerror
        raise SourceUnreadable(
            f"adapter {name}: cannot run {show_name(argv[0])}: {why}",
            hint=f"check the program in research.source_adapters.{name}",
        ) from error


def _collect(name: str, process: subprocess.Popen[bytes], limits: ToolLimits) -> tuple[bytes, bytes]:
    """Read both pipes until the program has ended; what its children would still write is not waited for."""
    deadline = time.monotonic() + limits.timeout_s
    output, errors = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        for pipe, kept in ((process.stdout, output), (process.stderr, errors)):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, kept)
        while process.poll() is None:
            if time.monotonic() >= deadline:
                raise SourceUnreadable(
                    f"adapter {name}: stopped after {limits.timeout_s:g} s",
                    verdict="timed_out",
                    hint=f"raise research.source_adapters.{name}.timeout_s",
                )
            _read_ready(selector, _POLL_S)
            _check_size(name, output, limits)
            del errors[:-_KEPT_ERROR_BYTES]
        for _ in range(_LAST_READS):
            _read_ready(selector, 0)
        _check_size(name, output, limits)
    return bytes(output), bytes(errors)


def _read_ready(selector: selectors.BaseSelector, wait_s: float) -> None:
    """Read one block from each pipe that has something, after waiting at most `wait_s` for one."""
    if not selector.get_map():  # the program closed both and goes on
        time.sleep(wait_s)
        return
    for key, _ in selector.select(wait_s):
        pipe: IO[bytes] = key.fileobj  # type: ignore[assignment]  # a pipe, as registered in _collect
        block = pipe.read(_READ_BYTES)
        if block:
            key.data.extend(block)
        elif block is not None:
            selector.unregister(pipe)


def _check_size(name: str, output: bytearray, limits: ToolLimits) -> None:
    if len(output) > limits.max_output_bytes:
        raise SourceUnreadable(
            f"adapter {name}: more than {limits.max_output_bytes:,} bytes of output", verdict="too_large"
        )


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # nobody is left in it, which macOS calls a matter of permission while the zombie is there
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _describe_end(status: int) -> str:
    if status > 0:
        return f"exit status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def _last_line(errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return f": {show_name(lines[-1][:_MAX_ERROR_CHARACTERS])}" if lines else ""
