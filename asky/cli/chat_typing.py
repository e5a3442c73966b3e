"""What is typed while an answer is being made: notes to the model, and the beginning of the next question.

The terminal is in a mode of its own meanwhile: nothing is echoed between the rows of the answer, Ctrl-C stays a signal,
and what was typed is shown in the line that tells the progress. Line editing is that of a terminal, no more.
"""

from __future__ import annotations

import os
import re
import select
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from asky.cli.chat_reader import FAREWELLS
from asky.config.prompts import MAX_QUESTION_CHARS

MAX_NOTE_CHARS = MAX_QUESTION_CHARS
_CHUNK_BYTES = 65_536
_LAST_WORD = re.compile(r"\S*\s*\Z")
_MARK_PASTES, _PASTES_AS_TYPED = b"\x1b[?2004h", b"\x1b[?2004l"  # xterm's bracketed paste


@dataclass(frozen=True, slots=True)
class Leftover:
    """What nobody has taken when a turn ends: whole notes, commands, and a line without its Enter."""

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
        self._before: list[Any] | None = None  # the modes of the terminal that are put back at the end

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take what is typed from now on, without an echo; the terminal is as it was before at the end.

        Where the process was stopped meanwhile (Ctrl-Z) and is continued, it is as the shell has left it.
        """
        import termios  # POSIX only, as this package is

        try:
            self._before = termios.tcgetattr(self._descriptor)
        except (termios.error, OSError):  # no terminal any more
            yield
            return
        try:
            self._quiet_down(self._before)
            yield
        finally:
            self.poll()  # what came just before the end, such as before Ctrl-C
            self._show("")
            with suppress(termios.error, OSError):
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)  # what is typed yet stays there
                os.write(self._descriptor, _PASTES_AS_TYPED)
            self._before = None

    def poll(self) -> None:
        """Read what has been typed since; returns at once. Nothing is read while a shell has the terminal."""
        if self._is_in_background():
            return  # what is typed is not meant for this process, which would be stopped for reading it
        self._stay_quiet()
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
        told += "[no room for more] " if len(self._draft) == MAX_NOTE_CHARS else ""
        self._show(told + self._draft)

    def _is_in_background(self) -> bool:
        try:
            return os.tcgetpgrp(self._descriptor) != os.getpgrp()
        except (OSError, ValueError):
            return False  # it is not the terminal that controls this process

    def _stay_quiet(self) -> None:
        """Take up the quiet modes again after a shell has had the terminal."""
        import termios

        if self._before is None:
            return
        with suppress(termios.error, OSError):
            modes = termios.tcgetattr(self._descriptor)
            if modes[3] & (termios.ECHO | termios.ICANON):
                self._before = modes
                self._quiet_down(modes)

    def _quiet_down(self, modes: list[Any]) -> None:
        import termios

        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, _quiet(modes))
        with suppress(OSError):  # it may be open for reading alone
            os.write(self._descriptor, _MARK_PASTES)  # or each line of one were a note

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
            self._draft = _LAST_WORD.sub("", self._draft)
        elif key == Keys.BracketedPaste:
            self._type(data.replace("\r\n", "\n").replace("\r", "\n"))
        elif len(key) == 1 and key.isprintable():
            self._type(key)

    def _type(self, text: str) -> None:
        self._draft = (self._draft + text)[:MAX_NOTE_CHARS]

    def _enter(self) -> None:
        line, self._draft = self._draft.strip(), ""
        if line.startswith("/") or line in FAREWELLS:
            self._commands.append(line)
        elif line:
            self._notes.append(line)


def _quiet(modes: list[Any]) -> list[Any]:
    """These modes of a terminal without an echo and without lines; a signal drops nothing that was typed before it."""
    import termios

    local = modes[3] & ~(termios.ECHO | termios.ICANON) | termios.NOFLSH
    characters = list(modes[6])
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    return [modes[0] & ~termios.ICRNL, *modes[1:3], local, *modes[4:6], characters]
