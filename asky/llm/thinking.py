"""Keeping a model's thinking out of its answer where both arrive as one text."""

from __future__ import annotations

import re

_OPEN = "<think>"
_CLOSE = "</think>"
_TAG = re.compile(r"</?think>")
_FENCE = re.compile(r"`{3,}")
_MOST_SPACE = 1000
"""White space before an answer that is held back, because thinking may follow it."""


class ThinkingSplitter:
    """Takes a text in pieces and gives back what is answer, without `<think>...</think>`.

    Thinking begins at the start of the text or of a line, outside fenced code. At the start it may lack its opening
    tag: with `starts_inside` the text begins within thinking, as with models whose template has opened it, and if that
    never closes, it was the answer. Without it a closing tag takes along what came before and was not given out yet;
    what was given out stays. Either way `closed_unopened` is set. White space around thinking is dropped.
    """

    def __init__(self, *, starts_inside: bool = False) -> None:
        self.closed_unopened = False
        self._starts_inside = starts_inside
        self._inside = starts_inside
        self._began_text = starts_inside  # whether the thinking under way stands at the start
        self._seen_thinking = False
        self._held = ""
        self._run: list[str] = []  # more of the backquotes that what is held ends with
        self._thoughts: list[str] = []
        self._has_given = False
        self._at_line_start = True
        self._is_fenced = False
        self._drops_space = False

    def feed(self, text: str) -> str:
        """The part of the answer that is certain now."""
        self._run.append(text)
        if self._held.endswith("`") and not text.strip("`"):
            return ""  # it goes on, and looking at it again would decide nothing
        self._held += "".join(self._run)
        self._run.clear()
        given: list[str] = []
        while self._step(given):
            pass
        return "".join(given)

    def end(self) -> str:
        """The rest of the answer. Thinking that never closed is answer unless an opening tag began the text."""
        rest = "".join((self._held, *self._run))
        self._held = ""
        self._run.clear()
        if not self._inside:
            return self._give(rest)
        unclosed = "".join(self._thoughts) + rest
        self._thoughts.clear()
        if not self._began_text:
            return self._give(_OPEN + unclosed)
        if not self._starts_inside or unclosed.lstrip().startswith(_OPEN):
            return ""
        return self._give(unclosed.strip())

    def _step(self, given: list[str]) -> bool:
        """Decide the next part of what is held; false where that needs more text."""
        if self._inside:
            return self._close()
        for tag in _TAG.finditer(self._held):
            before = self._held[: tag.start()]
            if tag.group() == _OPEN and self._may_open(before):
                self._began_text = not self._has_given and not before.strip()
                given.append("" if self._began_text else self._give(before))
                self._held = self._held[tag.end() :]
                self._inside = True
                return True
            if tag.group() == _CLOSE and self._may_close(before, self._held[tag.end() :]):
                given.append(self._give(before) if self._has_given else "")
                self._held = self._held[tag.end() :]
                self.closed_unopened = self._seen_thinking = self._drops_space = True
                return True
        certain = self._held[: _certain_length(self._held)]
        if not self._has_given and not certain.strip() and len(certain) < _MOST_SPACE:
            certain = ""
        given.append(self._give(certain))
        self._held = self._held[len(certain) :]
        return False

    def _close(self) -> bool:
        before, tag, after = self._held.partition(_CLOSE)
        if not tag:
            certain = before[: _certain_length(before)]
            self._thoughts.append(certain)
            self._held = before[len(certain) :]
            return False
        thoughts = "".join(self._thoughts) + before
        self._thoughts.clear()
        if self._starts_inside and not self._seen_thinking and not thoughts.lstrip().startswith(_OPEN):
            self.closed_unopened = True
        self._held = after
        self._inside = False
        self._seen_thinking = self._drops_space = True
        return True

    def _may_open(self, before: str) -> bool:
        return not self._fenced_after(before) and self._starts_line_after(before)

    def _may_close(self, before: str, after: str) -> bool:
        """A closing tag without an opening one: once, and not where the answer speaks of the tag."""
        if self._seen_thinking or self._fenced_after(before) or before.endswith("`") or _OPEN in before:
            return False
        return not self._has_given or (self._starts_line_after(before) and after[:1] in ("", "\n", "\r"))

    def _fenced_after(self, text: str) -> bool:
        return self._is_fenced ^ bool(len(_FENCE.findall(text)) % 2)

    def _starts_line_after(self, text: str) -> bool:
        line = text.rpartition("\n")[2]
        return not line.strip() and ("\n" in text or self._at_line_start)

    def _give(self, text: str) -> str:
        if self._drops_space:
            text = text.lstrip()
        if not text:
            return ""
        self._at_line_start = self._starts_line_after(text)
        self._is_fenced = self._fenced_after(text)
        self._has_given = True
        self._drops_space = False
        return text


def _certain_length(text: str) -> int:
    """How much of `text` is not the beginning of a tag or of a fence that the next piece may complete."""
    for tag in (_CLOSE, _OPEN):
        for length in range(min(len(tag) - 1, len(text)), 0, -1):
            if text.endswith(tag[:length]):
                return len(text) - length
    return len(text.rstrip("`"))
