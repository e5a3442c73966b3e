"""Comments that the author of a Markdown text has hidden: `%% Obsidian's %%` and `<!-- HTML's -->`."""

from __future__ import annotations

from asky.text.beside.marked_parts import without_parts
from asky.text.wikilinks import find_comments


def without_comments(text: str, start: int = 0) -> str:
    """Return `text` with nothing but the line ends of its comments, from offset `start` on; code keeps them."""
    return without_parts(text, find_comments(text, start))
