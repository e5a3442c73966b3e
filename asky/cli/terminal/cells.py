"""The width of text on a terminal, in cells, and how it wraps."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple

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
