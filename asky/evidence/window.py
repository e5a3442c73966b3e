"""The stretch of a streamed answer that is still needed to cut it."""

from __future__ import annotations

import re

_KEPT_CHARS = 128  # behind what is next: the start of its line, and what stands before a raised number
_PREFIX_CHARS = 80
_LINE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")


class Window:
    """What has come of an answer and is not cut yet, and a little of what was before it.

    Places are indices of `text`: `at` is the one up to which it is cut. `dropped` counts the characters of the answer
    before `text`; `is_final` says that no more will come.
    """

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.dropped = 0
        self.is_final = False

    def feed(self, delta: str) -> None:
        """Take in what has come, and drop what is not needed any more: all places move on."""
        start = max(0, self.at - _KEPT_CHARS)
        self.text = self.text[start:] + delta
        self.at -= start
        self.dropped += start

    def lacks(self, end: int) -> bool:
        """Whether a decision needs the text up to `end` and it may still come."""
        return end > len(self.text) and not self.is_final

    def character(self, at: int) -> str:
        """The character at `at`, a space outside of the text."""
        return self.text[at] if 0 <= at < len(self.text) else " "

    def begins_line(self, at: int) -> bool:
        """Whether only indentation or the marks of quotations and of a list item stand before `at` on its line."""
        line = self._line(at)
        return line is not None and _LINE_PREFIX.fullmatch(line) is not None

    def _line(self, at: int) -> str | None:
        """What stands before `at` on its line, `None` where that is long."""
        start = max(0, at - _PREFIX_CHARS)
        newline = self.text.rfind("\n", start, at)
        if newline < 0 and (start > 0 or self.dropped):
            return None
        return self.text[newline + 1 : at]
