"""Remarks in the text of a document: what somebody noted beside it, and no sentence of the document itself.

    [Comment by Ada Byrne on “the north quay”: is this still true?]

Readers write each remark as one such line after the text that it belongs to: at the end of a document, sheet, slide or
page.
"""

from __future__ import annotations

import re

from asky.text.scrub import one_line

_ABOUT_CHARS = 80
_TEXT_CHARS = 20_000
REMARK = re.compile(r"^\[Comment(?: by [^\n]{1,200}?)?(?: on “[^\n”]*”)?: [^\n]*\]$", re.MULTILINE)
"""A line that is a remark."""


def remark(text: str, *, author: str = "", about: str = "") -> str:
    """Return the line, without its end, of a remark about the words `about`; "" for a remark without text."""
    said = one_line(text, _TEXT_CHARS)
    if not said:
        return ""
    by = f" by {name}" if (name := one_line(author).replace(":", " ")) else ""
    on = f" on “{words}”" if (words := one_line(about, _ABOUT_CHARS).replace("”", '"').strip()) else ""
    return f"[Comment{by}{on}: {said}]"
