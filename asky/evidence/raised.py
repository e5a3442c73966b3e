"""Whether a superscript or a circled number reads as a reference, as in `it rises twice a day¹` or `... a day ①.`

Most do not: `m²`, `10⁻³`, `x²`, `¹⁴C`, the steps `① ... ② ...`. A superscript is a reference where it follows a word, a
year or the end of a sentence, and is no power of it; a circled number, where it is attached to a word, or ends a
sentence and is not named by it ("step ①").
"""

from __future__ import annotations

import re
import unicodedata

from asky.evidence.signs import CIRCLED, SUPERSCRIPTS

BEFORE_CHARS = 96
"""Of the text before the number, as many as are looked at."""

AFTER_CHARS = 8
"""Of the text after it."""

AFTER_WORD = ' \t\u00a0*_`~)”"’'
"""What may stand between a word and the end of its sentence."""

_NO_TRACE = "*_`~\\\u200b\u200c\u200d\u2060\ufeff"
_BLANKS = " \t\u00a0"
_TAG_BEFORE = re.compile(r"</?[A-Za-z]{1,10}>\Z")
_TAG_CHARS = 13
_OTHERS = re.compile(rf"[{SUPERSCRIPTS}{CIRCLED}⁽⁾]")
_OPERATORS = frozenset("=+×·÷∝√≈≤≥∑∫∂∇^/")
_OPERATOR_AFTER = re.compile(r"[ \u00a0)]*[=+×·÷∝≈≤≥^/⁄−]")
_OPERATOR_INSIDE = re.compile(r"[=+×·*/÷∝√≈≤≥∑∫^−]| [–-] ")
_HIGHEST_POWER = 4  # of what is named by a word
# What has powers: units of length and the like, functions, and Greek letters by their names.
_SYMBOL = re.compile(
    r"(?:(?:[a-zµμ]{0,5}met(?:er|re)|grams?|inche?|yard|mile|acre|second|minute|hour|pixel|lightyear)s?|foot|feet|sin|cos|"
    r"tan|cot|sec|csc|sinh|cosh|tanh|log|exp|det|var|std|rad|mol|ohm|bar|min|max|dim|deg|alpha|beta|gamma|delta|theta|"
    r"kappa|lambda|sigma|omega|eta|rho|tau|phi|chi|psi)",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    r"(?:distance|velocity|speed|radius|diameter|length|width|height|side|time|mass|frequency|wavelength|amplitude|voltage|"
    r"current|charge|temperature|density|area|volume|size)s?",
    re.IGNORECASE,
)
_RELATED = ("to", "by", "per", "with", "times", "of", "the")  # "proportional to the distance²"
_NAMED = re.compile(
    r"(?:^|[^\w])(?<!\ba )(?<!\bone )(?<!\bsame )(?<!\beach )"
    r"(?:steps?|points?|items?|stages?|phases?|options?|fig(?:ure)?s?|nos?|labels?|markers?|rows?|columns?|"
    r"boxe?s?|equations?|circles?|see|and|or|to|at|in|on|of|from|by|with|for|than|between|the|a|as|is|are|was|were|be|via|"
    r"through|until|after|before|then|plus|not|only)\Z|[图圖表步骤点點项項例式第和与或及在见見]\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[1-9]\d{0,2}")
_AFTER_CITATION = re.compile(r"\[[^\[\]]{0,40}(?:\d|[0-9a-fA-F]{4})\]\Z")
_CIRCLED = re.compile(rf"[{CIRCLED}]")
_BULLET = re.compile(r"[ \t>]*(?:[-*+•]|\d{1,3}[.)])")
_SENTENCE_ENDS = ".!?。！？…"
_CLOSING_QUOTES = "\"”’'»」』"
_YEARS = 1500, 2039
_NAMED_CHARS = 24


def raised_reference(said: str, before: str, after: str) -> str:
    """The numbers of `said` in digits if they read as a reference between these texts, otherwise nothing.

    `said` is a superscript (`¹²`), one written as a tag (`12`, `1, 2`), or circled numbers (`①②`).
    """
    if _CIRCLED.match(said):
        numbers = [str(int(unicodedata.numeric(sign))) for sign in said]
        return ", ".join(numbers) if _is_circled_reference(before, after) else ""
    number = unicodedata.normalize("NFKC", said).strip("()")
    return number if _is_superscript_reference(number.partition(",")[0], before, after) else ""


def _is_superscript_reference(number: str, before: str, after: str) -> bool:
    """Whether the superscript `number` between these texts is a reference rather than a power or an isotope's mass."""
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
    return not _has_power(before, int(number), after)


def _is_circled_reference(before: str, after: str) -> bool:
    """Whether circled numbers between these texts are references rather than the marks of steps or of a drawing."""
    if after[:1].isalnum():
        return False
    attached = _without_markup(before)
    said = _without_markup(attached.rstrip(_BLANKS))
    while said and _OTHERS.match(said[-1]):
        said = _without_markup(said[:-1].rstrip(_BLANKS))
    if not said or said[-1] in "\n|>([{（,，;；:：、/→=+-–—·•" or _BULLET.fullmatch(said.rpartition("\n")[2]):
        return False
    if attached == said and said[-1] in _SENTENCE_ENDS:
        return True
    if attached == said and said[-1].isalnum() and not _is_wide(said[-1]):
        return True
    follows = after.lstrip(AFTER_WORD)
    ends = not follows or follows[0] in "\n|" or follows[0] in _SENTENCE_ENDS
    return ends and _NAMED.search(said[-_NAMED_CHARS:]) is None


def _without_markup(before: str) -> str:
    """`before` without emphasis and tags at its end."""
    before = before.rstrip(_NO_TRACE)
    while before.endswith(">") and (tag := _TAG_BEFORE.search(before[-_TAG_CHARS:])):
        before = before[: -len(tag.group())].rstrip(_NO_TRACE)
    return before


def _has_power(before: str, number: int, after: str) -> bool:
    """Whether a superscript right after `before` is a power of what stands there."""
    if before[-1] in _CLOSING_QUOTES:
        said = before.rstrip(_CLOSING_QUOTES)
        return not said or _has_power_of_word(said, number, after)
    if before[-1] in ")）":
        inside = before[max(before.rfind("(", 0, -1), before.rfind("（", 0, -1)) + 1 : -1]
        return not inside or _OPERATOR_INSIDE.search(inside) is not None or _has_power_of_word(inside, number, after)
    return _has_power_of_word(before, number, after)


def _has_power_of_word(before: str, number: int, after: str) -> bool:
    if _OPERATOR_AFTER.match(after):
        return True
    if _is_year(before):
        return _follows_operator(before[:-4])
    name = _word_at_end(before)
    if not name or before[-1].isnumeric():  # log₂²
        return before[-1] not in _SENTENCE_ENDS
    before = before[: -len(name)]
    if len(name) == 1 or before[-1:].isdigit() or before[-1:] in ("/", "^"):
        return True
    if number == 1 or number > _HIGHEST_POWER:
        return False
    if len(name) == 2 or _SYMBOL.fullmatch(name) or _is_symbol(name) or _follows_operator(before):
        return True
    return _QUANTITY.fullmatch(name) is not None and before.lower().endswith(tuple(f" {word} " for word in _RELATED))


def _is_year(text: str) -> bool:
    """Whether `text` ends with a year of the last centuries."""
    year, start = text[-4:], text[-5:-4]
    if len(year) < 4 or not year.isdecimal() or start.isdecimal() or start in (".", ",", "^"):
        return False
    return _YEARS[0] <= int(year) <= _YEARS[1]


def _word_at_end(text: str) -> str:
    """The word, apostrophes included, that `text` ends with."""
    start = len(text)
    while start and (text[start - 1].isalpha() or unicodedata.combining(text[start - 1]) or text[start - 1] in "'’"):
        start -= 1
    return text[start:].lstrip("'’")


def _follows_operator(before: str) -> bool:
    return before.rstrip(" \u00a0(")[-1:] in _OPERATORS


def _is_symbol(name: str) -> bool:
    """Whether `name` has capitals inside, as GPa and RMSE have, or is a measure of length in Chinese."""
    return name[-1] in "米里尺寸" if _is_wide(name[-1]) else not name[1:].islower()


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in ("W", "F")
