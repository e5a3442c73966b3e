"""The tags that an answer may contain; all others are escaped, so that nothing makes a viewer load anything.

Tags without attributes that only format text are kept. Any other `<` that may begin a tag, a comment, a block of HTML
(in which code is not code), or an address with a backtick in it, is written as `&lt;`, which renders as `<`.
"""

from __future__ import annotations

import re
from typing import Literal

DEFUSED = "&lt;"
"""The replacement for a `<` that may begin a tag."""

TAG_CHARS = 300
"""The number of characters examined after a `<`."""

_HARMLESS = "b|i|u|s|em|strong|sub|sup|br|wbr|kbd|code|mark|small|del|ins|var|samp|cite|dfn|q|abbr"
_HARMLESS_TAG = re.compile(rf"</?(?:{_HARMLESS})[ \t]?/?>", re.IGNORECASE)
_PARTIAL_HARMLESS = re.compile(rf"</?(?:{_HARMLESS})\b[ \t]?/?", re.IGNORECASE)
_ANGLE = re.compile(rf"<([^\s<>`]{{0,{TAG_CHARS}}})")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:.*|[A-Za-z0-9.+_-]+@[A-Za-z0-9.-]+")
_PARTIAL_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:")
# The characters after a name that rule out a tag; any other may become a space in the answer.
_TAG_NAME = re.compile(r"[!?]|/?[A-Za-z][A-Za-z0-9-]*(?![A-Za-z0-9,;:.=()+*-])")
_MAY_BEGIN_TAG = re.compile(r"[A-Za-z/!?]")
_SPACE_CHARS = 80
_SPACES = re.compile(rf"\s{{0,{_SPACE_CHARS}}}")
_LOADING = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")

Tag = Literal["unsure", "defused", "text"]


def read_tag(text: str, at: int, *, final: bool) -> int | Tag:
    """Return the end of the harmless tag that begins with the `<` at `at`, or what has to be done with that `<`.

    Returns `"unsure"` until enough of the text is available; `final` means that the text is complete.
    """
    angle = _ANGLE.match(text, at)
    assert angle is not None
    content, end = angle[1], angle.end()
    partial = _PARTIAL_HARMLESS.match(text, at)
    waits = (len(content) < TAG_CHARS and end == len(text)) or (partial is not None and partial.end() == len(text))
    if waits and not final:
        return "unsure"
    harmless = _HARMLESS_TAG.match(text, at)
    if harmless is not None:
        return harmless.end()
    following = text[end : end + 1]
    if following == ">" and _ADDRESS.fullmatch(content):
        return "text"
    is_tag = _TAG_NAME.match(content) or (following == ">" and _MAY_BEGIN_TAG.match(content))
    # Written as `&lt;`, the next `<` no longer ends an address.
    is_tag = is_tag or (following == "<" and _PARTIAL_ADDRESS.match(content))
    return "defused" if is_tag or following == "`" or len(content) == TAG_CHARS else "text"


def ends_line(text: str, end: int, *, final: bool) -> bool | None:
    """Return whether only white space lies between `end` and the end of a line; `None` if that is not known yet."""
    spaces = _SPACES.match(text, end)
    assert spaces is not None
    if "\n" in spaces.group() or len(spaces.group()) == _SPACE_CHARS:
        return True
    if spaces.end() == len(text):
        return True if final else None
    return False


def defused_code(source: str) -> str:
    """Return a code span in a form that loads nothing even if a renderer does not recognise it as code."""
    return _LOADING.sub(lambda sign: DEFUSED if sign.group() == "<" else "&#33;", source)
