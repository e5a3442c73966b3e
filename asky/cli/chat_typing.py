"""What is typed while an answer is being made: notes to the model, and the beginning of the next question.

The terminal is in a mode of its own meanwhile: nothing is echoed between the rows of the answer, Ctrl-C stays a signal,
and what was typed is shown in the line that tells the progress. Line editing is that of a terminal, no more.
"""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_CHUNK_BYTES = 65_536
MAX_NOTE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Leftover:
    """What nobody has taken when a turn ends: whole notes, lines that begin with `/`, and a line without its Enter."""

    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    draft: str = ""


class Keyboard:
    """The terminal's keyboard, given as its descriptor. `show` is told what is being typed, and how many notes wait,
    in words."""

    def __init__(self, descriptor: int, show: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._show = show
        self._notes: deque[str] = deque()  # taken by another thread: its operations are atomic
        self._commands: list[str] = []
        self._draft = ""
        self._feed: Callable[[bytes], None] | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take what is typed from now on, without an echo; the terminal is as it was before at the end."""
        import termios  # POSIX only, as this package is

        try:
            before = termios.tcgetattr(self._descriptor)
        except (termios.error, OSError):  # no terminal any more
            yield
            return
        local = before[3] & ~(termios.ECHO | termios.ICANON)
        quiet = [before[0] & ~termios.ICRNL, *before[1:3], local, *before[4:6], list(before[6])]
        quiet[6][termios.VMIN], quiet[6][termios.VTIME] = 1, 0
        try:
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, quiet)
            yield
        finally:
            self._show("")
            with suppress(termios.error, OSError):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, before)  # what was typed stays to be read

    def poll(self) -> None:
        """Read what has been typed since; returns at once."""
        try:
            typed = select.select([self._descriptor], [], [], 0)[0]
            data = os.read(self._descriptor, _CHUNK_BYTES) if typed else b""
        except (OSError, ValueError):
            return
        if data:
            if self._feed is None:
                self._feed = self._parser()
            self._feed(data)
        waiting = len(self._notes)
        told = f"[{waiting} note{'' if waiting == 1 else 's'} for the model] " if waiting else ""
        self._show(told + self._draft)

    def take(self) -> tuple[str, ...]:
        """The notes that wait, in order; each is taken once. May be called by any thread."""
        found: list[str] = []
        with suppress(IndexError):
            while True:
                found.append(self._notes.popleft())
        return tuple(found)

    def leftover(self) -> Leftover:
        """What nobody has taken, which is forgotten here."""
        left = Leftover(self.take(), tuple(self._commands), self._draft)
        self._commands, self._draft = [], ""
        return left

    def _parser(self) -> Callable[[bytes], None]:
        """Bytes of a terminal to keys, for as long as this lives: an escape sequence may come in two pieces."""
        import codecs

        from prompt_toolkit.input.vt100_parser import Vt100Parser  # loaded with the prompt already

        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        parser = Vt100Parser(lambda press: self._press(press.key, press.data))
        return lambda data: parser.feed(decoder.decode(data))

    def _press(self, key: str, data: str) -> None:
        from prompt_toolkit.keys import Keys

        if key in (Keys.ControlM, Keys.ControlJ):
            self._enter()
        elif key == Keys.ControlH:
            self._draft = self._draft[:-1]
        elif key == Keys.ControlU:
            self._draft = ""
        elif key == Keys.ControlW:
            self._draft = " ".join(self._draft.split()[:-1])
        elif key == Keys.BracketedPaste:
            self._type(data.replace("\r\n", "\n").replace("\r", "\n"))
        elif len(key) == 1 and key.isprintable():
            self._type(key)

    def _type(self, text: str) -> None:
        self._draft = (self._draft + text)[:MAX_NOTE_CHARS]

    def _enter(self) -> None:
        line, self._draft = self._draft.strip(), ""
        if line.startswith("/"):
            self._commands.append(line)
        elif line:
            self._notes.append(line)
