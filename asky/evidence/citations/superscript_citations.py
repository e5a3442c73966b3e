"""Decides whether a superscript or a circled number reads as a reference: `it rises twice a day¹` or `... a day ①.`

Most do not: `m²`, `10⁻³`, `x²`, `¹⁴C`, the steps `① ... ② ...`. A superscript is a reference if it follows a word, a
year or the end of a sentence; but 2, 3 and 4 are powers after a unit, a function, a symbol, or an operand of an
operator. A circled number is a reference if it is attached to a word, or ends a sentence without being named by it
("step ①").
"""

from __future__ import annotations

import re
import unicodedata

from asky.evidence.citations.pieces import CIRCLED, SUPERSCRIPTS
from asky.evidence.marks import SHOWN_SIGN, WARNING_SIGN

BEFORE_CHARS = 96
"""The number of characters examined before the number."""

AFTER_CHARS = 8
"""The number of characters examined after it."""

AFTER_WORD = ' \t\u00a0*_`~)”"’'
"""The characters allowed between a word and the end of its sentence."""

_NO_TRACE = "*_`~\\\u200b\u200c\u200d\u2060\ufeff"
_BLANKS = " \t\u00a0"
_TAG_BEFORE = re.compile(r"</?[A-Za-z]{1,10}>\Z")
_TAG_CHARS = 13
_OTHERS = re.compile(rf"[{SUPERSCRIPTS}{CIRCLED}⁽⁾]")
_OPERATORS = tuple("=+×·÷∝√≈≤≥∑∫∂∇^/−")
_OPERATOR_AFTER = re.compile(r"[ \u00a0)]*[=+×·÷∝≈≤≥^/⁄−]")
_HIGHEST_POWER = 4  # of a quantity named by a word
_SYMBOL = re.compile(  # including the names of Greek letters
    r"(?:(?:[a-zµμ]{0,5}met(?:er|re)|inche?|yard|mile|acre|second|minute|hour|pixel)s?|foot|feet|sin|cos|tan|sinh|cosh|"
    r"tanh|log|exp|det|var|rad|mol|alpha|beta|gamma|delta|theta|kappa|lambda|sigma|omega|eta|rho|tau|phi|chi|psi)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?:steps?|points?|options?|figures?|and|or|to|see|in)\Z|[图圖表步]\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[1-9]\d{0,2}")
_YEAR = re.compile(r"(?<![\d.,^])(?:1[5-9]|20)\d\d\Z")
_WORD = re.compile(r"(?!['’])(?:[^\W\d_]|[\u0300-\u036f'’])+\Z")
_AFTER_CITATION = re.compile(r"\[[^\[\]]{0,40}(?:\d|[0-9a-fA-F]{4})\]\Z")
_CIRCLED = re.compile(rf"[{CIRCLED}]")
_SENTENCE_ENDS = ".!?。！？…"
_CLOSING = "\"”’'»」』)）"


def superscript_reference(visible: str, before: str, after: str) -> str:
    """Return the numbers of `visible` in digits if they read as a reference between these texts, otherwise `""`.

    `visible` is a superscript (`¹²`), one written as a tag (`12`, `1, 2`), or circled numbers (`①②`).
    """
    before = before.replace(WARNING_SIGN, SHOWN_SIGN)
    if _CIRCLED.match(visible):
        numbers = [str(int(unicodedata.numeric(sign))) for sign in visible]
        return ", ".join(numbers) if _is_circled_reference(before, after) else ""
    number = unicodedata.normalize("NFKC", visible).strip("()")
    return number if _is_superscript_reference(number.partition(",")[0], before, after) else ""


def _is_superscript_reference(number: str, before: str, after: str) -> bool:
    """Return whether the superscript `number` between these texts is a reference, not a power or an isotope's mass."""
    if not _NUMBER.fullmatch(number) or (after and (after[0].isalnum() or after[0] in "⁄/⁺⁻⁼⁽√")):
        return False
    attached = _without_markup(before)
    before = _without_markup(attached.rstrip(_BLANKS))
    if not before or before[-1] == "\n":
        return True
    if before[-1] in "|>":
        return attached[-1:] in _BLANKS
    if attached[-1:] in _BLANKS and before[-1] in ",;:(—–-":
        return False
    if before[-1] in _SENTENCE_ENDS or before[-1] in ",;:%" or _AFTER_CITATION.search(before):
        return True
    return not _OPERATOR_AFTER.match(after) and not _has_power(before.rstrip(_CLOSING), int(number))


def _is_circled_reference(before: str, after: str) -> bool:
    """Return whether circled numbers between these texts are references, not labels of steps or of a drawing."""
    if after[:1].isalnum():
        return False
    attached = _without_markup(before)
    visible = _without_markup(attached.rstrip(_BLANKS))
    while visible and _OTHERS.match(visible[-1]):
        visible = _without_markup(visible[:-1].rstrip(_BLANKS))
    if not visible or visible[-1] in "\n|>([{（,，;；:：、/→=+-–—·•":
        return False
    is_wide = unicodedata.east_asian_width(visible[-1]) in ("W", "F")  # of a script without spaces between words
    if attached == visible and (visible[-1] in _SENTENCE_ENDS or (visible[-1].isalnum() and not is_wide)):
        return True
    follows = after.lstrip(AFTER_WORD)
    return (not follows or follows[0] in "\n|" or follows[0] in _SENTENCE_ENDS) and _NAMED.search(visible) is None


def _without_markup(before: str) -> str:
    """Return `before` without emphasis and tags at its end."""
    before = before.rstrip(_NO_TRACE)
    while before.endswith(">") and (tag := _TAG_BEFORE.search(before[-_TAG_CHARS:])):
        before = before[: -len(tag.group())].rstrip(_NO_TRACE)
    return before


def _has_power(visible: str, number: int) -> bool:
    """Return whether a superscript directly after `visible` is a power."""
    word = None if visible[-1:].isnumeric() else _WORD.search(visible)  # log₂²
    start = visible[: word.start()] if word else visible[:-4]
    follows_operator = start.rstrip(" \u00a0(").endswith(_OPERATORS)
    if _YEAR.search(visible):
        return follows_operator
    if word is None:
        return visible[-1:] not in _SENTENCE_ENDS
    if len(word[0]) == 1 or start[-1:].isdigit() or start[-1:] in ("/", "^"):
        return True
    if number == 1 or number > _HIGHEST_POWER:
        return False
    has_capitals = not word[0][1:].islower() and word[0].upper() != word[0].lower()  # GPa, RMSE
    return len(word[0]) == 2 or has_capitals or follows_operator or _SYMBOL.fullmatch(word[0]) is not None
