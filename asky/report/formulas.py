"""Formulas in Markdown, kept verbatim: a report does not typeset them.

Source: the rules of Pandoc's tex_math_dollars and tex_math_single_backslash.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

_CITATION = re.compile(r"\[\d+\]")
_FENCES = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))


def keep_math(parser: MarkdownIt) -> None:
    """Make `parser` emit a `math` token with its source for each `$a$`, `$$a$$`, `\\(a\\)` and `\\[a\\]`."""
    parser.inline.ruler.before("escape", "math", _math)


def _math(state: StateInline, silent: bool) -> bool:
    start = state.pos
    opening, closing = next((pair for pair in _FENCES if state.src.startswith(pair[0], start)), ("", ""))
    if not opening:
        return False
    end = state.src.find(closing, start + len(opening))
    if end < 0 or (opening == "$" and not _is_formula(state.src, start, end)):
        return False
    if not silent:
        state.push("math", "", 0).content = state.src[start : end + len(closing)]
    state.pos = end + len(closing)
    return True


def _is_formula(text: str, start: int, end: int) -> bool:
    """Return whether two dollars enclose a formula rather than precede two prices."""
    inside = text[start + 1 : end]
    if not inside or inside[0].isspace() or inside[-1].isspace() or text[end + 1 : end + 2].isdigit():
        return False
    return _CITATION.search(inside) is None
