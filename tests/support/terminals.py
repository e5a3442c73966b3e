"""A terminal without a window: what was sent to it, and what its screen shows."""

from __future__ import annotations

import fcntl
import io
import os
import struct
import termios
from collections.abc import Callable
from typing import TextIO

import pyte


class ScreenStream(io.TextIOWrapper):
    """A text stream that is a terminal of UTF-8, whose screen can be looked at after each write."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8")
        self.columns, self.rows = columns, rows
        self.screen = pyte.HistoryScreen(columns, rows, history=100_000, ratio=1)
        self.writes: list[str] = []
        self._feed = pyte.Stream(self.screen)

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.writes.append(text)
        self._feed.feed(text.replace("\n", "\r\n"))  # as a terminal's driver does
        return len(text)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size. Unlike a real terminal, the screen does not wrap its rows anew."""
        self.columns, self.rows = columns, rows
        self.screen.resize(rows, columns)

    def size(self) -> tuple[int, int]:
        return self.columns, self.rows

    def lines(self) -> list[str]:
        """The rows of the screen without blanks at their ends, and without empty rows at its end."""
        rows = [row.rstrip() for row in self.screen.display]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def all_lines(self) -> list[str]:
        """What has scrolled off the screen, and the screen."""
        off = ["".join(row[column].data for column in range(self.columns)) for row in self.screen.history.top]
        return [*(row.rstrip() for row in off), *self.lines()]


def on_terminal(columns: int, write: Callable[[TextIO], object]) -> str:
    """What `write` sends to the stream of a pseudo-terminal of that width."""
    user, tty = os.openpty()
    try:
        fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        with open(tty, "w", encoding="utf-8", closefd=False) as stream:
            write(stream)
        os.close(tty)
        return b"".join(iter(lambda: _read(user), b"")).decode().replace("\r\n", "\n")
    finally:
        os.close(user)


def _read(user: int) -> bytes:
    """Return what comes next; nothing once nobody has the other side open, which Linux reports as an error."""
    try:
        return os.read(user, 10_000)
    except OSError:
        return b""
