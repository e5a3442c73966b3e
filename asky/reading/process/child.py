"""One reader process: start it, send it requests under a deadline, end it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from asky.reading.process.frames import MAX_HEADER_BYTES, PREFIX, BadFrame, head_of

# A parser's memory only grows: after this many files, or a file that took this much, a fresh child is cheaper.
_FILES = 500
_PEAK_BYTES = 256 * 1024 * 1024
_READ_BYTES = 1024 * 1024
_ENDING_S = 2.0
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
# The only environment variables passed to a child.
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class ChildLate(Exception):
    """The deadline passed before the reply was complete."""


class ChildEnded(Exception):
    """The process ended before its reply was complete; `status` is its exit status, negative for a signal."""

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status


class Child:
    """A process that answers one request at a time. `usable` says whether it can take another.

    It leads a separate process group, so that an interrupt typed at the terminal does not reach it.
    """

    def __init__(self, memory_bytes: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", "asky.reading.process.worker", str(memory_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        self._writable, self._readable = select.poll(), select.poll()
        self._writable.register(self._to, select.POLLOUT)
        self._readable.register(self._from, select.POLLIN)
        self._files = 0
        self.usable = True

    def ask(
        self, header: dict[str, Any], data: bytes, *, timeout_s: float, max_payload_bytes: int
    ) -> tuple[dict[str, Any], bytes]:
        """Return the header and payload of the reply.

        Raises ChildLate, ChildEnded, or BadFrame for an invalid reply; the child is not usable after that.
        """
        self.usable = False
        deadline = time.monotonic() + timeout_s
        try:
            self._send(head_of(header, len(data)), data, deadline)
            answer, payload = self._receive(deadline, max_payload_bytes)
        except (BrokenPipeError, ConnectionResetError, EOFError):
            raise ChildEnded(self._status()) from None
        peak = answer.get("peak_bytes")
        if not isinstance(peak, int):
            raise BadFrame("no peak of memory")
        self._files += 1
        self.usable = self._files < _FILES and peak < _PEAK_BYTES
        return answer, payload

    def is_running(self) -> bool:
        """Return whether the process is still running."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill the process and everything it started, at once. Callable from any thread, repeatedly."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """Kill the process and close the pipes to it."""
        self.usable = False
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _send(self, head: bytes, data: bytes, deadline: float) -> None:
        for part in (head, data):
            view = memoryview(part)
            while view:
                try:
                    view = view[os.write(self._to, view) :]
                except BlockingIOError:
                    _wait(self._writable, deadline)

    def _receive(self, deadline: float, max_payload_bytes: int) -> tuple[dict[str, Any], bytes]:
        received = bytearray()
        self._fill(received, PREFIX.size, deadline)
        header_bytes, payload_bytes = PREFIX.unpack_from(received)
        if header_bytes > MAX_HEADER_BYTES or payload_bytes > max_payload_bytes:
            raise BadFrame("an answer of an impossible size")
        body = PREFIX.size + header_bytes
        self._fill(received, body + payload_bytes, deadline)
        if len(received) > body + payload_bytes:
            raise BadFrame("more than one answer")
        try:
            header = json.loads(received[PREFIX.size : body])
        except (ValueError, RecursionError):
            raise BadFrame("a header that is not JSON") from None
        if not isinstance(header, dict):
            raise BadFrame("a header that is no object")
        with memoryview(received) as view:
            return header, bytes(view[body:])

    def _fill(self, received: bytearray, size: int, deadline: float) -> None:
        while len(received) < size:
            _wait(self._readable, deadline)
            chunk = os.read(self._from, _READ_BYTES)
            if not chunk:
                raise EOFError
            received += chunk

    def _status(self) -> int | None:
        """Return the exit status; `None` if the process closed its pipe but is still running."""
        try:
            return self._process.wait(timeout=_ENDING_S)
        except subprocess.TimeoutExpired:
            return None


def _wait(poll: select.poll, deadline: float) -> None:
    left_s = deadline - time.monotonic()
    if left_s <= 0 or not poll.poll(left_s * 1000):
        raise ChildLate


def _environment() -> dict[str, str]:
    passed = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    # The parent's search path in order; not the current folder, which may contain the hostile files.
    path = [entry for entry in sys.path if Path(entry).is_absolute()]
    return {
        **passed,
        "PYTHONPATH": os.pathsep.join([*path, str(_PACKAGE_ROOT)]),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",  # the same bytes give the same text, whatever the order of a parser's sets
    }
