"""The width of text on a terminal, in cells, and how it wraps."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_WORDS = re.compile(r"([ \t]*)([^ \t]+)")
_SOFT_HYPHEN = "\u00ad"
_AS_PICTURE = "\ufe0f"  # variation selector: shows the character before it as an emoji


class Row(NamedTuple):
    """A row of the screen: its text, and the output for it, which may set colours but resets them."""

    text: str
    sent: str


@lru_cache(maxsize=2048)
def character_cells(character: str) -> int:
    """Return the cells of one character: two for wide East Asian ones, none for marks and format characters.

    Terminals disagree on sequences that form one emoji; the sum over the parts is the maximum that any of them uses.
    """
    if character == _AS_PICTURE:
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return int(character == _SOFT_HYPHEN)
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def text_cells(text: str) -> int:
    """Return the cells of a text without control characters."""
    return len(text) if text.isascii() else sum(map(character_cells, text))


def wrapped(text: str, width: int) -> list[str]:
    """Return the rows of a text without control characters except tabs and line breaks, each of at most `width` cells.

    A row ends between two words, or within a word that is longer than a row; trailing blanks do not count. If text is
    appended, all rows but the last stay the same; wrap that one again together with the new text.
    """
    rows = []
    for line in text.replace("\t", "    ").split("\n"):
        row, used = "", 0
        for character in line:
            if character != " " and used + character_cells(character) > width:
                head, space, word = row.rpartition(" ")
                if not space or not head.strip():
                    head, word = row, ""
                rows.append(head)
                row, used = word, text_cells(word)
            row += character
            used += character_cells(character)
        rows.append(row)
    return rows


def folded(text: str, columns: int, *, hang: int = 0) -> list[str]:
    """Return the lines of `text`, those of more than `columns` cells broken between words.

    Continued rows begin with the indent of their line and `hang` more blanks. A word longer than a row stays whole, so
    that it can be copied: the terminal wraps it.
    """
    return [row for line in text.split("\n") for row in _folded_line(line, columns, hang)]


def _folded_line(line: str, columns: int, hang: int) -> list[str]:
    if text_cells(line) <= columns:
        return [line]
    body = line.lstrip(" ")
    indent = " " * min(len(line) - len(body) + hang, columns // 2)
    rows: list[str] = []
    row, used = line[: len(line) - len(body)], len(line) - len(body)
    is_empty = True
    for blanks, word in _WORDS.findall(body):
        width = text_cells(word)
        if not is_empty and used + len(blanks) + width > columns:
            rows.append(row)
            row, used = indent + word, len(indent) + width
        else:
            row, used = row + blanks + word, used + len(blanks) + width
        is_empty = False
    return [*rows, row]
