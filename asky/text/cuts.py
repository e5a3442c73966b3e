"""Places to cut a text that must be cut. The given `end` lies before that of the text."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200d\ufe0e\ufe0f"


def cut_between(text: str, start: int, end: int) -> int:
    """Return the last place in `(start, end]` to cut: a line break in the second half, white space, or anywhere."""
    half = start + (end - start) // 2
    cut = max(text.rfind("\n", half, end + 1), text.rfind("\r", half, end + 1))
    if cut <= start:
        cut = end
        while cut > start and not text[cut].isspace():
            cut -= 1
    if cut <= start:
        return between_characters(text, start, end)
    return start + len(text[start:cut].rstrip())


def between_characters(text: str, start: int, end: int) -> int:
    """Return `end`, or slightly less if it would separate a letter from its marks or the parts of an emoji."""
    cut = max(end, start + 1)
    while cut > max(start + 1, end - 16) and _continues(text, cut):
        cut -= 1
    return cut if cut > start + 1 or not _continues(text, cut) else max(end, start + 1)


def _continues(text: str, position: int) -> bool:
    following = text[position]
    return (
        unicodedata.combining(following) > 0
        or following in _JOINERS
        or text[position - 1] == "\u200d"
        or "\U0001f3fb" <= following <= "\U0001f3ff"
    )
