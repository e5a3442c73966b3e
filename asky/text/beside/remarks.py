"""Remarks in the text of a document: what somebody noted beside it, and no sentence of the document itself.

    [Comment by Ada Byrne on “the north quay”: is this still true?]

Readers write each remark as one such line after the text that it belongs to: at the end of a document, sheet, slide or
page. A long one is several lines, `[Comment by Ada Byrne (continued): ...]`, so that each is a whole wherever the
document is cut. A remark is evidence of what its author said, and of nothing that the document says: where it is
quoted, the whole line is.
"""

from __future__ import annotations

import re
import textwrap

from asky.text.scrub import one_line

_ABOUT_CHARS = 80
_TEXT_CHARS = 20_000
_LINE_CHARS = 500  # of a remark on one line: fewer tokens than a chunk has
_CONTINUED = " (continued)"
_OPENING = "[Comment"
_NOT_LINE_END = re.compile(r"[^\n]")
_ASKED = re.compile(
    r"\b(?:comment(?:s|ed|ing|ary|ators?|ers?)?|remark(?:s|ed)?|annotat\w+|review(?:s|ed|ers?)|feedback|notes?|noted|"
    r"proofread\w*|margin(?:s|al|alia)?)\b",
    re.IGNORECASE,
)
REMARK = re.compile(r"^\[Comment(?: by [^\n]{1,200}?)?(?: on “[^\n”]*”)?(?: \(continued\))?: [^\n]*\]$", re.MULTILINE)
"""A line that is a remark."""


def remark(text: str, *, author: str = "", about: str = "") -> str:
    """Return the line, without its end, of a remark about the words `about`; "" for a remark without text.

    A remark of more than 500 characters is several lines.
    """
    said = one_line(text, _TEXT_CHARS)
    if not said:
        return ""
    by = f" by {name}" if (name := one_line(author).replace(":", " ")) else ""
    on = f" on “{words}”" if (words := one_line(about, _ABOUT_CHARS).replace("”", '"').strip()) else ""
    first, *others = textwrap.wrap(said, _LINE_CHARS, break_on_hyphens=False)
    lines = [f"{_OPENING}{by}{on}: {first}]", *(f"{_OPENING}{by}{_CONTINUED}: {each}]" for each in others)]
    return "\n".join(lines)


def remark_spans(text: str) -> list[tuple[int, int]]:
    """Return the places of the lines of `text` that are remarks, in order."""
    return [found.span() for found in REMARK.finditer(text)] if _OPENING in text else []


def without_remarks(text: str) -> str:
    """Return `text` with a space for each character of a remark, so that offsets and lines stay."""
    return REMARK.sub(lambda found: _NOT_LINE_END.sub(" ", found[0]), text) if _OPENING in text else text


def is_about_remarks(text: str) -> bool:
    """Return whether a question or a statement is about what somebody noted beside a text."""
    return _ASKED.search(text) is not None


def is_within_remark(text: str, offset: int) -> bool:
    """Return whether a remark that is quoted in a text begins on the line of `offset`, not after it."""
    line = text.rfind("\n", 0, offset) + 1
    return text.find(_OPENING, line, offset + len(_OPENING)) >= 0
