"""Comments that the author of a Markdown text has hidden: `%% Obsidian's %%` and `<!-- HTML's -->`."""

from __future__ import annotations

from asky.text.beside.marked_parts import without_parts
from asky.text.wikilinks import find_comments, is_left_open

_LEFT_OPEN = "text from line {line:,}: a comment that begins there is never closed"


def without_comments(text: str, start: int = 0) -> str:
    """Return `text` with nothing but the line ends of its comments, from offset `start` on; code keeps them."""
    return without_parts(text, find_comments(text, start))


def open_comment(text: str, comments: list[tuple[int, int]] | None = None) -> str | None:
    """Return `PART: REASON` for the rest of a text that a comment hides because nothing closes it, else `None`.

    `comments` are those of `find_comments`, if they are known.
    """
    comments = find_comments(text) if comments is None else comments
    if not comments or not is_left_open(text, comments[-1]):
        return None
    return _LEFT_OPEN.format(line=text.count("\n", 0, comments[-1][0]) + 1)
