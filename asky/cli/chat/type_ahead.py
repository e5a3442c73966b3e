"""Type-ahead: notes to the model and the beginning of the next question, typed while an answer is being written.

The terminal is in a mode of its own whenever the prompt is not active: nothing is echoed between the rows of the
answer, Ctrl-C stays a signal, and the progress line shows what is typed. Line editing is that of a plain terminal.
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
from typing import TYPE_CHECKING, Any

from asky.cli.chat.reader import FAREWELLS, in_background
from asky.cli.context import Stopped
from asky.config.prompts import MAX_QUESTION_CHARS

if TYPE_CHECKING:
    from asky.cli.terminal.question import YesNo

MAX_NOTE_CHARS = MAX_QUESTION_CHARS
_CHUNK_BYTES = 65_536
_MAX_READS = 64  # reads at a time, each of at most the 4,096 bytes that a terminal holds
_LAST_WORD = re.compile(r"\S*\s*\Z")
_MARK_PASTES, _PASTES_AS_TYPED = b"\x1b[?2004h", b"\x1b[?2004l"  # xterm's bracketed paste
_PASTE_BEGINS, _PASTE_ENDS = b"\x1b[200~", b"\x1b[201~"
_NEXT_PIECE_S = 0.01
_PASTE_GAP_S = 1.0  # a paste arrives as fast as it is read: after such a gap, its end mark is missing


@dataclass(frozen=True, slots=True)
class Leftover:
    """Unused input at the end of a turn: complete notes, commands, and an unfinished line."""

    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    draft: str = ""


class TypeAhead:
    """Reads the terminal's keyboard, given by its descriptor.

    `show` gets the text being typed and the number of notes.
    """

    def __init__(self, descriptor: int, show: Callable[[str], None]) -> None:
        self._descriptor = descriptor
        self._show = show
        self._notes: deque[str] = deque()  # read by another thread: its operations are atomic
        self._commands: list[str] = []
        self._draft = ""
        self._question: YesNo | None = None
        self._feed: Callable[[bytes], None] | None = None
        self._is_pasting = False
        self._tail = b""
        self._before: list[Any] | None = None  # the terminal modes to restore at the end

    @contextmanager
    def capture(self) -> Iterator[None]:
        """Turn echo off in the body, and keep what is typed for the next reader; restore the terminal on exit.

        If the process was suspended meanwhile (Ctrl-Z) and continued, the state that the shell left is restored.
        SIGTERM and SIGHUP, which would end the process without restoring it, raise `Stopped`.
        """
        handled = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) == signal.SIG_DFL]
        for number in handled:
            signal.signal(number, _stop)
        try:
            self.mute()
            yield
        finally:
            self._release_terminal()
            for number in handled:
                signal.signal(number, signal.SIG_DFL)

    def mute(self) -> None:
        """Turn echo off and the marking of pastes on.

        For use in the body of `capture`: after a prompt, which turns the marking off, and after Ctrl-C, which may come
        at any moment.
        """
        if self._before is None:
            self._take_terminal()
        else:
            self._mute_terminal(self._before)

    def listening(self) -> AbstractContextManager[None]:
        """Collect what is typed in the body, without echo.

        Until it is entered, the terminal is in its original state: `run_async` records that, for a user who quits at
        once.
        """
        is_captured = self._before is not None
        self._restore_terminal()
        return self._listening(is_captured)

    @contextmanager
    def _listening(self, is_captured: bool) -> Iterator[None]:
        self._take_terminal()
        try:
            yield
        finally:
            self.poll()  # input just before the end, such as before Ctrl-C
            while self._is_pasting and not in_background(self._descriptor) and self._read(_PASTE_GAP_S):
                pass  # the prompt would take each remaining line as a question
            self._show("")
            if not is_captured:
                self._release_terminal()

    def _take_terminal(self) -> None:
        import termios  # POSIX only, as this package is

        with suppress(termios.error, OSError):  # no terminal any more
            self._before = termios.tcgetattr(self._descriptor)
            self._mute_terminal(self._before)

    def _restore_terminal(self) -> None:
        import termios

        if self._before is None:
            return
        with suppress(termios.error, OSError):
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)  # keeps pending input
        self._before = None

    def _release_terminal(self) -> None:
        self._restore_terminal()
        with suppress(OSError):
            os.write(self._descriptor, _PASTES_AS_TYPED)

    def poll(self) -> None:
        """Read what has been typed since the last call; does not block.

        Nothing is read while a shell has the terminal.
        """
        if in_background(self._descriptor):
            return
        self._keep_muted()
        reads_left = _MAX_READS
        while reads_left and self._read(_NEXT_PIECE_S if self._is_pasting else 0):
            reads_left -= 1
        if (question := self._question) is not None:
            question.present()
        waiting = len(self._notes)
        status = f"[{waiting} note{'' if waiting == 1 else 's'} for the model] " if waiting else ""
        status += "[limit reached] " if len(self._draft) == MAX_NOTE_CHARS else ""
        self._show(status + self._draft)

    def _read(self, wait_s: float) -> bool:
        """Read for at most `wait_s` seconds; return whether there was anything."""
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
        seen = self._tail + data  # a mark may arrive in two pieces
        start_at, end_at = seen.rfind(_PASTE_BEGINS), seen.rfind(_PASTE_ENDS)
        self._is_pasting = start_at > end_at if start_at != end_at else self._is_pasting
        self._tail = seen[1 - len(_PASTE_ENDS) :]

    def _keep_muted(self) -> None:
        """Turn echo off again after a shell has had the terminal."""
        import termios

        if self._before is None:
            return
        with suppress(termios.error, OSError):
            modes = termios.tcgetattr(self._descriptor)
            if modes[3] & (termios.ECHO | termios.ICANON):
                self._before = modes
                self._mute_terminal(modes)

    def _mute_terminal(self, modes: list[Any]) -> None:
        import termios

        termios.tcsetattr(self._descriptor, termios.TCSANOW, _muted_modes(modes))
        with suppress(OSError):  # it may be read-only
            os.write(self._descriptor, _MARK_PASTES)  # or each line of a paste would be a note

    @contextmanager
    def asking(self, question: YesNo) -> Iterator[None]:
        """See `asky.cli.terminal.question.Keyboard`. A line that was begun before is a note."""
        self._question = question
        try:
            yield
        finally:
            self._question = None

    def take(self) -> tuple[str, ...]:
        """Return the waiting notes in order, each once. Thread-safe."""
        found: list[str] = []
        with suppress(IndexError):
            while True:
                found.append(self._notes.popleft())
        return tuple(found)

    def leftover(self) -> Leftover:
        """Return the unused input, and forget it."""
        unused = Leftover(self.take(), tuple(self._commands), self._draft)
        self._commands, self._draft = [], ""
        return unused

    def _parser(self) -> Callable[[bytes], None]:
        """Return a parser from bytes to keys; it keeps its state, because an escape sequence may come in two pieces."""
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
        question = self._question
        if question is not None and question.take(line):
            return
        if line.startswith("/") or line in FAREWELLS:
            self._commands.append(line)
        elif line:
            self._notes.append(line)


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a handler
    raise Stopped(number)


def _muted_modes(modes: list[Any]) -> list[Any]:
    """Return the terminal modes without echo and line buffering; a signal does not flush the input."""
    import termios

    local = modes[3] & ~(termios.ECHO | termios.ICANON) | termios.NOFLSH
    characters = list(modes[6])
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    return [modes[0] & ~termios.ICRNL, *modes[1:3], local, *modes[4:6], characters]
