"""Text as rows of a terminal while it arrives: wrapped at words, and what to send for each new piece."""

from __future__ import annotations

from asky.cli.cells import character_cells, text_cells

_TAB = "    "
_LONGEST_LINE = 1_000  # no row is longer
NEW_ROW = "\r\n"


class PlainRows:
    """Rows of at most `columns - 1` cells, so that a terminal never wraps one by itself.

    A word that reaches the end of its row is taken back and begun on the next one; a longer one is broken. A row is
    begun when there is something to put into it: the cursor stays at the end of the last text. With `follows`, there is
    a row above on whose end the cursor stands; with `gap`, an empty row is left between.
    """

    def __init__(self, columns: int, *, follows: bool = False, gap: bool = False) -> None:
        self.rows: list[str] = []
        self._limit = max(2, columns - 1)
        self._used = 0
        self._follows = follows
        self._gap = gap
        self._breaks = 0
        self._wrapped = False

    def add(self, text: str) -> str:
        """Take the next piece, without control characters but tabs and line breaks; returns what to send for it."""
        return "".join(map(self._put, text.replace("\t", _TAB)))

    def freeze(self) -> RawText:
        """What goes on in place of these rows when they cannot be painted again."""
        if self.rows:
            return RawText(started=True, breaks=self._breaks)
        return RawText(lead=NEW_ROW * (int(self._follows) + int(self._follows and self._gap)))

    def _put(self, character: str) -> str:
        if character == "\n":
            self._breaks, self._wrapped = (1 if self._wrapped else self._breaks + 1), False
            return ""
        if not self.rows:
            return self._begin() + self._append(character)
        if self._breaks:
            if self._wrapped and character == " ":
                return ""
            return self._next_rows() + self._append(character)
        if self._used + character_cells(character) <= self._limit:
            return self._append(character)
        if character == " ":
            self._breaks, self._wrapped = 1, True
            return ""
        return self._wrap() + self._append(character)

    def _begin(self) -> str:
        self._breaks = 0
        above = 1 if self._gap and self._follows else 0
        self.rows += [""] * (above + 1)
        return NEW_ROW * (above + int(self._follows))

    def _next_rows(self) -> str:
        count, self._breaks, self._wrapped = self._breaks, 0, False
        self.rows += [""] * count
        self._used = 0
        return NEW_ROW * count

    def _wrap(self) -> str:
        """Begin the next row with the word that did not fit."""
        head, space, word = self.rows[-1].rpartition(" ")
        if not space or not head.strip() or not _is_certain(word):
            head, word = self.rows[-1], ""
        self.rows[-1] = head
        self.rows.append(word)
        self._used = text_cells(word)
        return (f"\x1b[{self._used}D\x1b[K" if word else "") + NEW_ROW + word

    def _append(self, character: str) -> str:
        self.rows[-1] += character
        self._used += character_cells(character)
        return character


class RawText:
    """Text that the terminal wraps by itself. A line break is sent with what comes after it.

    `lead` goes before the first text. `line` is the text of the row that the cursor is on, where that is known.
    """

    def __init__(self, *, lead: str = "", started: bool = False, breaks: int = 0) -> None:
        self.started = started
        self.line: str | None = None
        self._lead = lead
        self._breaks = breaks

    def add(self, text: str) -> str:
        """Take the next piece, without control characters but tabs and line breaks; returns what to send for it."""
        body = text.rstrip("\n")
        breaks, self._breaks = self._breaks, len(text) - len(body)
        if not self.started:
            body, breaks = body.lstrip("\n"), 0
        if not body:
            self._breaks += breaks
            return ""
        lead = NEW_ROW * breaks if self.started else self._lead
        self._note(body, after_break=bool(lead))
        self.started = True
        return lead + body.replace("\n", NEW_ROW)

    def _note(self, body: str, *, after_break: bool) -> None:
        *before, last = body.split("\n")
        if before or after_break:
            self.line = last
        elif self.line is not None:
            self.line = self.line + last if len(self.line) < _LONGEST_LINE else None


def _is_certain(word: str) -> bool:
    """Whether all terminals agree on the width of `word`: Latin, Greek and Cyrillic letters without extra marks."""
    return all(letter < "\u0300" or "\u0370" <= letter < "\u0483" or "\u048a" <= letter < "\u0530" for letter in word)
