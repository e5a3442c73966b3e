"""How wide text is on a terminal, in cells."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_SOFT_HYPHEN = "\u00ad"
_AS_PICTURE = "\ufe0f"  # makes the character before it a wide picture


@lru_cache(maxsize=2048)
def character_cells(character: str) -> int:
    """The cells of one character: two where East Asia writes wide, none for marks and format characters.

    Terminals disagree on characters that are joined into one picture; the sum over its parts is the most that any of
    them takes.
    """
    if character == _AS_PICTURE:
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return int(character == _SOFT_HYPHEN)
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def text_cells(text: str) -> int:
    """The cells of a text without control characters."""
    return len(text) if text.isascii() else sum(map(character_cells, text))
