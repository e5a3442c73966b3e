"""What is typed while an answer is being made: notes to the model, and the beginning of the next question.

The terminal is in a mode of its own wherever the prompt has not got it: nothing is echoed between the rows of the
answer, Ctrl-C stays a signal, and what was typed is shown in the line that tells the progress. Line editing is that of
a terminal, no more.
"""

from __future__ import annotations

import os
import re
import select
import signal
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

from asky.cli.chat_reader import FAREWELLS
from asky.cli.running import Stopped
from asky.config.prompts import MAX_QUESTION_CHARS

MAX_NOTE_CHARS = MAX_QUESTION_CHARS
_CHUNK_BYTES = 65_536
_ROUNDS = 64  # reads at a time, each of at most the 4,096 bytes that a terminal holds
_LAST_WORD = re.compile(r"\S*\s*\Z")
_MARK_PASTES, _PASTES_AS_TYPED = b"\x1b[?2004h", b"\x1b[?2004l"  # xterm's bracketed paste
_PASTE_BEGINS, _PASTE_ENDS = b"\x1b[200~", b"\x1b[201~"
_NEXT_PIECE_S = 0.01
_PASTE_GAP_S = 1.0  # a terminal sends a paste as fast as it is read: what has stopped for so long has no end


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
        self._pasting = False
        self._tail = b""
        self._before: list[Any] | None = None  # the modes of the terminal that are put back at the end

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have nothing echoed in here, and keep what is typed for whoever reads next; the terminal is as it was before
        at the end.

        Where the process was stopped meanwhile (Ctrl-Z) and is continued, it is as the shell has left it. SIGTERM and
        SIGHUP, which would end the process without that, raise `Stopped`.
        """
        handled = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) == signal.SIG_DFL]
        for number in handled:
            signal.signal(number, _stop)
        try:
            self.hold()
            yield
        finally:
            self._leave_to_others()
            for number in handled:
                signal.signal(number, signal.SIG_DFL)

    def hold(self) -> None:
        """Have nothing echoed from now on, and pastes marked.

        Within `held`, for after a prompt, which ends the marking, and after Ctrl-C, which may come at any moment.
        """
        if self._before is None:
            self._take_over()
        else:
            self._quiet_down(self._before)

    def listening(self) -> AbstractContextManager[None]:
        """Take what is typed in there, without an echo.

        Until it is entered the terminal is as it was before all: `run_async` remembers it, for a user who leaves at
        once.
        """
        is_held = self._before is not None
        self._put_back()
        return self._listening(is_held)

    @contextmanager
    def _listening(self, is_held: bool) -> Iterator[None]:
        self._take_over()
        try:
            yield
        finally:
            self.poll()  # what came just before the end, such as before Ctrl-C
            while self._pasting and not self._is_in_background() and self._read(_PASTE_GAP_S):
                pass  # left to the prompt, each line of the rest were a question
            self._show("")
            if not is_held:
                self._leave_to_others()

    def _take_over(self) -> None:
        import termios  # POSIX only, as this package is

        with suppress(termios.error, OSError):  # no terminal any more
            self._before = termios.tcgetattr(self._descriptor)
            self._quiet_down(self._before)

    def _put_back(self) -> None:
        import termios

        if self._before is None:
            return
        with suppress(termios.error, OSError):
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)  # what is typed yet stays there
        self._before = None

    def _leave_to_others(self) -> None:
        self._put_back()
        with suppress(OSError):
            os.write(self._descriptor, _PASTES_AS_TYPED)

    def poll(self) -> None:
        """Read what has been typed since; returns at once. Nothing is read while a shell has the terminal."""
        if self._is_in_background():
            return  # what is typed is not meant for this process, which would be stopped for reading it
        self._stay_quiet()
        rounds = _ROUNDS
        while rounds and self._read(_NEXT_PIECE_S if self._pasting else 0):
            rounds -= 1
        waiting = len(self._notes)
        told = f"[{waiting} note{'' if waiting == 1 else 's'} for the model] " if waiting else ""
        told += "[no room for more] " if len(self._draft) == MAX_NOTE_CHARS else ""
        self._show(told + self._draft)

    def _read(self, wait_s: float) -> bool:
        """Take what can be read within `wait_s` seconds; returns whether there was anything."""
        try:
            typed = select.select([self._descriptor], [], [], wait_s)[0]
            data = os.read(self._descriptor, _CHUNK_BYTES) if typed else b""
        except (OSError, ValueError):
            return False
        if data:
            if self._feed is None:
                self._feed = self._parser()
            self._feed(data)
            self._watch_paste(data)
        return bool(data)

    def _watch_paste(self, data: bytes) -> None:
        seen = self._tail + data  # a mark may come in two pieces
        begun, ended = seen.rfind(_PASTE_BEGINS), seen.rfind(_PASTE_ENDS)
        self._pasting = begun > ended if begun != ended else self._pasting
        self._tail = seen[1 - len(_PASTE_ENDS) :]

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

        termios.tcsetattr(self._descriptor, termios.TCSANOW, _quiet(modes))
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


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
    raise Stopped(number)


def _quiet(modes: list[Any]) -> list[Any]:
    """These modes of a terminal without an echo and without lines; a signal drops nothing that was typed before it."""
    import termios

    local = modes[3] & ~(termios.ECHO | termios.ICANON) | termios.NOFLSH
    characters = list(modes[6])
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    return [modes[0] & ~termios.ICRNL, *modes[1:3], local, *modes[4:6], characters]
