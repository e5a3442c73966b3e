"""The beginning of a passage, as lists of hits show it."""

from __future__ import annotations

import shutil
import textwrap


def wrapped_excerpt(text: str) -> list[str]:
    """Return the beginning of a passage in lines of the width of the terminal."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 110) - 4
    lines = textwrap.wrap(" ".join(text.split()), max(width, 20))
    return [*lines[:5], "…"] if len(lines) > 6 else lines
