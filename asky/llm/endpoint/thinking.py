"""Separates a model's thinking from its answer if both arrive as one text."""

from __future__ import annotations

import re

_OPEN = "<think>"
_CLOSE = "</think>"
_TAG = re.compile(r"</?think>")
_FENCE = re.compile(r"`{3,}")
_MAX_SPACE = 1000
"""White space before an answer that is held back, because thinking may follow it."""


class ThinkingSplitter:
    """Takes a text in pieces and returns the answer, without `<think>...</think>`.

    Thinking begins at the start of the text or of a line, outside fenced code. At the start it may lack its opening
    tag: with `starts_inside` the text begins inside thinking, as with models whose template has opened it, and if that
    never closes, it was the answer. Without it a closing tag discards the preceding text that was not returned yet.
    Either way `closed_unopened` is set. White space around thinking is dropped.
    """

    def __init__(self, *, starts_inside: bool = False) -> None:
        self.closed_unopened = False
        self._starts_inside = starts_inside
        self._inside = starts_inside
        self._began_text = starts_inside  # whether the current thinking stands at the start
        self._seen_thinking = False
        self._held = ""
        self._run: list[str] = []  # further backquotes at the end of the held text
        self._thoughts: list[str] = []
        self._has_output = False
        self._starts_line = True
        self._is_fenced = False
        self._drops_space = False

    def feed(self, text: str) -> str:
        """Return the part of the answer that is now certain."""
        self._run.append(text)
        if self._held.endswith("`") and not text.strip("`"):
            return ""  # the run continues, and examining it again would decide nothing
        held = "".join((self._held, *self._run))
        self._run.clear()
        output: list[str] = []
        decided = 0
        while (end := self._decide(held, decided, output)) is not None:
            decided = end
        self._held = self._hold(held[decided:], output)
        return "".join(output)

    def end(self) -> str:
        """Return the rest of the answer. Unclosed thinking is answer unless an opening tag began the text."""
        rest = "".join((self._held, *self._run))
        self._held = ""
        self._run.clear()
        if not self._inside:
            return self._emit(rest)
        unclosed = "".join(self._thoughts) + rest
        self._thoughts.clear()
        if not self._began_text:
            return self._emit(_OPEN + unclosed)
        if not self._starts_inside or unclosed.lstrip().startswith(_OPEN):
            return ""
        return self._emit(unclosed.strip())

    def _decide(self, text: str, start: int, output: list[str]) -> int | None:
        """Process the first tag from `start` on that opens or closes thinking; return its end, `None` without one."""
        return self._close(text, start) if self._inside else self._open(text, start, output)

    def _open(self, text: str, start: int, output: list[str]) -> int | None:
        before = _Before(self._starts_line, self._is_fenced)
        passed = start
        for tag in _TAG.finditer(text, start):
            before.extend(text[passed : tag.start()])
            passed = tag.end()
            if tag.group() == _OPEN and before.starts_line and not before.is_fenced:
                self._began_text = not self._has_output and before.is_blank
                if not self._began_text:
                    output.append(self._emit(text[start : tag.start()]))
                self._inside = True
                return tag.end()
            if tag.group() == _CLOSE and self._may_close(before, text[tag.end() : tag.end() + 1]):
                if self._has_output:
                    output.append(self._emit(text[start : tag.start()]))
                self.closed_unopened = self._seen_thinking = self._drops_space = True
                return tag.end()
            before.extend_by_tag(opens=tag.group() == _OPEN)
        return None

    def _close(self, text: str, start: int) -> int | None:
        end = text.find(_CLOSE, start)
        if end < 0:
            return None
        thoughts = "".join((*self._thoughts, text[start:end]))
        self._thoughts.clear()
        if self._starts_inside and not self._seen_thinking and not thoughts.lstrip().startswith(_OPEN):
            self.closed_unopened = True
        self._inside = False
        self._seen_thinking = self._drops_space = True
        return end + len(_CLOSE)

    def _hold(self, text: str, output: list[str]) -> str:
        """Take what is certain of `text`, in which no more tags decide anything; return the rest."""
        certain = text[: _certain_length(text)]
        if self._inside:
            self._thoughts.append(certain)
            return text[len(certain) :]
        if not self._has_output and not certain.strip() and len(certain) < _MAX_SPACE:
            return text
        output.append(self._emit(certain))
        return text[len(certain) :]

    def _may_close(self, before: _Before, after: str) -> bool:
        """Return whether an unopened closing tag counts: once, and not if the answer mentions the tag."""
        if self._seen_thinking or before.is_fenced or before.ends_in_quote or before.has_open:
            return False
        return not self._has_output or (before.starts_line and after in ("", "\n", "\r"))

    def _emit(self, text: str) -> str:
        if self._drops_space:
            text = text.lstrip()
        if not text:
            return ""
        before = _Before(self._starts_line, self._is_fenced)
        before.extend(text)
        self._starts_line, self._is_fenced = before.starts_line, before.is_fenced
        self._has_output = True
        self._drops_space = False
        return text


class _Before:
    """The text before a tag, taken piece by piece; it begins after the text already returned."""

    def __init__(self, starts_line: bool, is_fenced: bool) -> None:
        self.starts_line = starts_line  # only white space in the last line
        self.is_fenced = is_fenced
        self.is_blank = True
        self.has_open = False
        self.ends_in_quote = False

    def extend(self, text: str) -> None:
        """Continue with text between two tags, which no fence spans."""
        _, newline, line = text.rpartition("\n")
        self.starts_line = (bool(newline) or self.starts_line) and not line.strip()
        self.is_fenced ^= bool(len(_FENCE.findall(text)) % 2)
        self.is_blank = self.is_blank and not text.strip()
        self.ends_in_quote = text.endswith("`")

    def extend_by_tag(self, *, opens: bool) -> None:
        """Continue with a tag that is text."""
        self.starts_line = self.is_blank = self.ends_in_quote = False
        self.has_open = self.has_open or opens


def _certain_length(text: str) -> int:
    """Return the length of `text` without a possible beginning of a tag or fence at its end."""
    for tag in (_CLOSE, _OPEN):
        for length in range(min(len(tag) - 1, len(text)), 0, -1):
            if text.endswith(tag[:length]):
                return len(text) - length
    return len(text.rstrip("`"))
