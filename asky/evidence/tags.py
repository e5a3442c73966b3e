"""Which tags an answer may have, and what becomes of the rest: nothing in an answer makes what shows it load anything.

Tags without attributes that only change letters stay. Any other `<` that may begin a tag, a comment, a block of HTML
(in which code is no code), or an address with a backtick in it, is written as `&lt;`, which shows as `<`.
"""

from __future__ import annotations

import re
from typing import Literal

DEFUSED = "&lt;"
"""What stands for a `<` that may begin something."""

TAG_CHARS = 300
"""As many are looked at behind a `<`."""

_HARMLESS = "b|i|u|s|em|strong|sub|sup|br|wbr|kbd|code|mark|small|del|ins|var|samp|cite|dfn|q|abbr"
_HARMLESS_TAG = re.compile(rf"</?(?:{_HARMLESS})[ \t]?/?>", re.IGNORECASE)
_BEGUN_HARMLESS = re.compile(rf"</?(?:{_HARMLESS})\b[ \t]?/?", re.IGNORECASE)
_ANGLE = re.compile(rf"<([^\s<>`]{{0,{TAG_CHARS}}})")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:.*|[A-Za-z0-9.+_-]+@[A-Za-z0-9.-]+")
_BEGUN_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:")
# What is no tag goes on like this behind its name; anything else may become a space in the answer.
_TAG_NAME = re.compile(r"[!?]|/?[A-Za-z][A-Za-z0-9-]*(?![A-Za-z0-9,;:.=()+*-])")
_MAY_BEGIN_TAG = re.compile(r"[A-Za-z/!?]")
_SPACE_CHARS = 80
_SPACES = re.compile(rf"\s{{0,{_SPACE_CHARS}}}")
_LOADING = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")

Tag = Literal["unsure", "defused", "text"]


def read_tag(text: str, at: int, *, final: bool) -> int | Tag:
    """Where the harmless tag ends that begins with the `<` at `at`, or what has to become of that `<`.

    `"unsure"` is said until enough of the text is there; `final` says that no more will come.
    """
    angle = _ANGLE.match(text, at)
    assert angle is not None
    said, end = angle[1], angle.end()
    begun = _BEGUN_HARMLESS.match(text, at)
    waits = (len(said) < TAG_CHARS and end == len(text)) or (begun is not None and begun.end() == len(text))
    if waits and not final:
        return "unsure"
    harmless = _HARMLESS_TAG.match(text, at)
    if harmless is not None:
        return harmless.end()
    following = text[end : end + 1]
    if following == ">" and _ADDRESS.fullmatch(said):
        return "text"
    is_tag = _TAG_NAME.match(said) or (following == ">" and _MAY_BEGIN_TAG.match(said))
    # Written as `&lt;`, the next `<` no longer ends an address.
    is_tag = is_tag or (following == "<" and _BEGUN_ADDRESS.match(said))
    return "defused" if is_tag or following == "`" or len(said) == TAG_CHARS else "text"


def ends_line(text: str, end: int, *, final: bool) -> bool | None:
    """Whether a line may end at `end`, but for white space; `None` while that is not known."""
    spaces = _SPACES.match(text, end)
    assert spaces is not None
    if "\n" in spaces.group() or len(spaces.group()) == _SPACE_CHARS:
        return True
    if spaces.end() == len(text):
        return True if final else None
    return False


def defused_code(source: str) -> str:
    """A code span as it loads nothing even where some renderer sees none in it."""
    return _LOADING.sub(lambda sign: DEFUSED if sign.group() == "<" else "&#33;", source)
