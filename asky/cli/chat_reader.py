"""Where the lines of a conversation come from: an editing prompt, a plain terminal, or a pipe."""

from __future__ import annotations

import os
import select
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol, TextIO

from asky.cli.terminal import is_smart, one_line
from asky.errors import UsageError

if TYPE_CHECKING:
    from asky.cli.chat_talk import Talk

PROMPT = "> "
FAREWELLS = frozenset({"exit", "quit"})
"""Lines that leave the chat."""
_CONTINUED = ". "
_MAX_LINE_BYTES = 1 << 20


class Reader(Protocol):
    """Asks the user for the next input. `can_prefill` says that a text can be given to be edited."""

    is_interactive: bool
    can_prefill: bool

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:
        """The next input, which may have several lines.

        Raises `EOFError` at the end of the input, `KeyboardInterrupt` on Ctrl-C where there was nothing to clear, and
        `UsageError` for a line over 1 MiB, all of which is left out.
        """
        ...

    def go_on(self) -> None:
        """Ctrl-C has stopped a turn, and the next input follows."""
        ...


class PipeReader:
    """Lines of a pipe or a file; nothing is printed for them."""

    is_interactive = False
    can_prefill = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:  # noqa: ARG002 - as `Reader` has it
        return _read_line(self._stream)

    def go_on(self) -> None:
        """See `Reader.go_on`; nothing was typed."""


class PlainReader:
    """A terminal that cannot move its cursor: one line at a time, and more of them after a `\\` at the end."""

    is_interactive = True
    can_prefill = False

    def __init__(self, stream: TextIO, err: TextIO) -> None:
        self._stream = stream
        self._err = err
        self._ahead: deque[bytes] = deque()

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:  # noqa: ARG002 - as `Reader` has it
        lines = [self._line(prompt)]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(self._line(_CONTINUED))
        return "\n".join(lines)

    def go_on(self) -> None:
        """See `Reader.go_on`: lines that were typed before Ctrl-C are next; the one that it broke off is dropped."""
        import termios  # POSIX only, as this package is

        keyboard = self._stream.fileno()
        with suppress(termios.error, OSError):  # no terminal any more
            while select.select([keyboard], [], [], 0)[0] and (line := os.read(keyboard, _MAX_LINE_BYTES)):
                self._ahead.append(line)
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
    """The next line without its end, in bounded memory. Raises as `Reader.read` does."""
    line = stream.buffer.readline(_MAX_LINE_BYTES + 1)
    if not line:
        raise EOFError
    if len(line) > _MAX_LINE_BYTES and not line.endswith(b"\n"):
        while line and not line.endswith(b"\n"):  # the rest of it is no question of its own
            line = stream.buffer.readline(_MAX_LINE_BYTES)
        raise UsageError(f"a line has more than {_MAX_LINE_BYTES >> 20} MiB", hint="name long texts with -d")
    return _decoded(line)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n")


class WholeLines:
    """What takes the keyboard of a plain terminal while a turn runs, given as its descriptor.

    Ctrl-C stops the turn, and drops no line that was typed before it.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Keep what is typed in here; the terminal is as it was before at the end."""
        import termios

        try:
            before = termios.tcgetattr(self._descriptor)
            kept = [*before[:3], before[3] | termios.NOFLSH, *before[4:]]
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, kept)
        except (termios.error, OSError):  # no terminal any more
            yield
            return
        try:
            yield
        finally:
            with suppress(termios.error, OSError):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, before)

    def poll(self) -> None:
        """Nothing is read before the turn ends."""


def open_reader(talk: Talk, environ: Mapping[str, str]) -> Reader:
    """The reader for the standard input of this process. The prompt goes to stderr: stdout is for answers."""
    if not sys.stdin.isatty():
        return PipeReader(sys.stdin)
    if not is_smart(sys.stderr, environ):
        return PlainReader(sys.stdin, sys.stderr)
    from asky.cli.chat_prompt import PromptReader  # 0.13 s: only where a line can be edited

    return PromptReader(talk)
