"""Where the lines of a conversation come from: an editing prompt, a plain terminal, or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, TextIO

from asky.cli.terminal import is_smart
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


class PipeReader:
    """Lines of a pipe or a file; nothing is printed for them."""

    is_interactive = False
    can_prefill = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:  # noqa: ARG002 - as `Reader` has it
        return _read_line(self._stream)


class PlainReader:
    """A terminal that cannot move its cursor: one line at a time, and more of them after a `\\` at the end."""

    is_interactive = True
    can_prefill = False

    def __init__(self, stream: TextIO, err: TextIO) -> None:
        self._stream = stream
        self._err = err

    def read(self, prefill: str = "", prompt: str = PROMPT) -> str:  # noqa: ARG002 - as `Reader` has it
        lines = [self._line(prompt)]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(self._line(_CONTINUED))
        return "\n".join(lines)

    def _line(self, prompt: str) -> str:
        self._err.write(prompt)
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
    return line.decode("utf-8", "replace").rstrip("\r\n")


def open_reader(talk: Talk, environ: Mapping[str, str]) -> Reader:
    """The reader for the standard input of this process. The prompt goes to stderr: stdout is for answers."""
    if not sys.stdin.isatty():
        return PipeReader(sys.stdin)
    if not is_smart(sys.stderr, environ):
        return PlainReader(sys.stdin, sys.stderr)
    from asky.cli.chat_prompt import PromptReader  # 0.13 s: only where a line can be edited

    return PromptReader(talk)
