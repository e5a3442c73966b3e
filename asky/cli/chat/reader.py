"""The sources of a conversation's input: an editing prompt, a plain terminal, or a pipe."""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, TextIO

from asky.cli.terminal.terminal import one_line
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.terminal.question import YesNo

PROMPT = "> "
FAREWELLS = frozenset({"exit", "quit"})
"""Lines that leave the chat."""
_CONTINUED = ". "
_MAX_LINE_BYTES = 1 << 20


class Reader(Protocol):
    """Reads the user's next input. `can_prefill` says that `read` can offer a text for editing."""

    is_interactive: bool
    can_prefill: bool

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:
        """Return the next input, which may have several lines.

        Raises `EOFError` at the end of the input, `KeyboardInterrupt` on Ctrl-C if there was nothing to clear, and
        `UsageError` for a line over 1 MiB, which is skipped.
        """
        ...

    def go_on(self) -> None:
        """Prepare for the next input after Ctrl-C has stopped a turn."""
        ...


class PipeReader:
    """Reads lines from a pipe or a file, without printing a prompt."""

    is_interactive = False
    can_prefill = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:  # noqa: ARG002 - as `Reader` has it
        return _read_line(self._stream)

    def go_on(self) -> None:
        """See `Reader.go_on`; nothing was typed."""


class PlainReader:
    """A terminal that cannot move its cursor: one line at a time, and more of them after a `\\` at the end.

    The lines in `ahead` come first.
    """

    is_interactive = True
    can_prefill = False

    def __init__(self, stream: TextIO, err: TextIO, ahead: deque[bytes] | None = None) -> None:
        self._stream = stream
        self._err = err
        self._ahead = ahead if ahead is not None else deque[bytes]()

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:  # noqa: ARG002 - as `Reader` has it
        lines = [self._line(prompt)]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(self._line(_CONTINUED))
        return "\n".join(lines)

    def go_on(self) -> None:
        """See `Reader.go_on`: lines typed before Ctrl-C are next; the line that it interrupted is dropped."""
        import termios  # POSIX only, as this package is

        keyboard = self._stream.fileno()
        with suppress(termios.error, OSError):  # no terminal any more
            self._ahead += _whole_lines(keyboard)
            termios.tcflush(keyboard, termios.TCIFLUSH)

    def _line(self, prompt: str) -> str:
        self._err.write(prompt)
        if self._ahead:
            line = _decoded(self._ahead.popleft())
            self._err.write(one_line(line) + "\n")
            return line
        self._err.flush()
        try:
            return _read_line(self._stream)
        except (EOFError, KeyboardInterrupt):
            self._err.write("\n")
            raise


def _read_line(stream: TextIO) -> str:
    """Return the next line without its line break, in bounded memory. Raises as `Reader.read` does."""
    line = stream.buffer.readline(_MAX_LINE_BYTES + 1)
    if not line:
        raise EOFError
    if len(line) > _MAX_LINE_BYTES and not line.endswith(b"\n"):
        while line and not line.endswith(b"\n"):  # skip the rest of it
            line = stream.buffer.readline(_MAX_LINE_BYTES)
        raise UsageError(f"a line is longer than {_MAX_LINE_BYTES >> 20} MiB", hint="use -d for long texts")
    return _decoded(line)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n")


def _whole_lines(descriptor: int) -> Iterator[bytes]:
    """Yield the lines typed so far at a terminal; does not block. Raises `OSError` if it is none any more."""
    while select.select([descriptor], [], [], 0)[0] and (line := os.read(descriptor, _MAX_LINE_BYTES)):
        yield line


def in_background(descriptor: int) -> bool:
    """Return whether a shell has this terminal: reading it would stop the process."""
    try:
        return os.tcgetpgrp(descriptor) != os.getpgrp()
    except (OSError, ValueError):
        return False  # it is not the terminal that controls this process


class WholeLines:
    """Holds the keyboard of a plain terminal, given by its descriptor, while a turn runs.

    Ctrl-C stops the turn but drops no line typed before it. `ahead` are lines that were read for a question, and are no
    answer to it.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._question: YesNo | None = None
        self.ahead: deque[bytes] = deque()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Keep what is typed in the body; restore the terminal on exit."""
        import termios

        try:
            before = termios.tcgetattr(self._descriptor)
            modes = [*before[:3], before[3] | termios.NOFLSH, *before[4:]]
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, modes)
        except (termios.error, OSError):  # no terminal any more
            yield
            return
        try:
            yield
        finally:
            with suppress(termios.error, OSError):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, before)

    def poll(self) -> None:
        """Read the answer to a question; without one, nothing is read before the turn ends."""
        question = self._question
        if question is None or in_background(self._descriptor):
            return
        with suppress(OSError):  # no terminal any more
            for line in _whole_lines(self._descriptor):
                if not question.take(_decoded(line)):
                    self.ahead.append(line)
        question.present()

    @contextmanager
    def asking(self, question: YesNo) -> Iterator[None]:
        """See `asky.cli.terminal.question.Keyboard`."""
        self._question = question
        try:
            yield
        finally:
            self._question = None
