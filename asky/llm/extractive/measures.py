"""Recognition of the number that a question asks for: "770M parameters" for "how many parameters"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from asky.text.terms import content_terms, words

_NUMBER = (
    r"(?:\b\d[\d.,]*\s?(?:[kKMBG]\b|thousand|million|billion|hundred)?|\b(?:one|two|three|four|five|six|seven|eight|"
    r"nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|"
    r"thousands?|millions?|a dozen|"
    r"several)\b)(?:[ -](?:and|or|to)[ -]\d[\d.,]*)?"
)
_TIME = (
    r"[ -]?(?:ms|s|sec(?:ond)?s?|min(?:ute)?s?|h|hrs?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies))\b"
)
_LENGTH = r"[ -]?(?:[kcm]?m|(?:kilo|centi|milli)?met(?:re|er)s?|miles?|feet|foot|ft|inch(?:es)?|yards?|nm)\b"
_SIZE = (
    r"[ -]?(?:[kMGTkmgt]i?B|bytes?|[kMG]?bits?|(?:kilo|mega|giga|tera)bytes?|pixels?|px|(?:k|c)?m2|acres?|hectares?)\b"
)
_WEIGHT = r"[ -]?(?:[kmt]?g|kilo(?:gram)?s?|grams?|tons?|tonnes?|pounds?|lbs?|ounces?|oz|[kMG]i?B)\b"
_IN_HEAD = r"[^:;|\n]{0,20}: ?\d"  # what follows the measure in a column's name: "Weight (kg): 118"
_MONEY = (
    r"(?:[$€£¥₹]\s?\d|\d\s?[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|SEK|NOK|DKK)\s?\d"
    r"|\d\s?(?:USD|EUR|GBP|CHF|SEK|NOK|DKK|PLN|CZK|JPY|CAD|AUD|INR|k[rč]|zł|dollars?|euros?|pounds?|cents?|pence|francs?|"
    r"crowns?|kron(?:er|or|a|e)|rupees?|yen|yuan|z[lł]oty|forints?|pesos?|rand|shillings?)\b)"
)
_RATE = r"\b(?:every|each|per|once|twice|daily|hourly|weekly|monthly|yearly|annually|times a|times per)\b"
# What an answer must hold is compiled for a question that asks for it: the patterns of this file take 6 ms.
_MEASURES: Mapping[str, str] = MappingProxyType(
    {
        word: pattern
        for words, pattern in {
            "long": _NUMBER + _TIME + "|" + _NUMBER + _LENGTH,
            "old early soon late": _NUMBER + _TIME,
            "far tall high deep wide thick": _NUMBER + _LENGTH,
            "big large": _NUMBER + _SIZE + "|" + _NUMBER + _LENGTH,
            "heavy": _NUMBER + _WEIGHT,
            "fast": _NUMBER + r"[ -]?(?:x|times|%|[km]?m/s|km/h|mph|(?:\w+ )?per )",
            "often frequently": _RATE,
            "expensive": _MONEY,
        }.items()
        for word in words.split()
    }
)
_WEIGHS = re.compile(r"\bhow much\b.{0,60}\bweigh|\bwhat (?:does|did|do) .{0,60}\bweigh", re.IGNORECASE)
_HOW = re.compile(rf"\bhow ({'|'.join(_MEASURES)})\b", re.IGNORECASE)
_HOW_LONG_BEFORE = re.compile(
    r"\bhow (?:far|long|much|many) (?:ahead|(?:in advance|before)(?:hand)?|notice|time)\b", re.IGNORECASE
)
_COST = re.compile(
    r"\bhow much\b.{0,40}\b(?:cost|pay|paid|charge|price|earn|spen[dt]|owe|fee|rent|deposit|salary|wage|bill)"
    r"|\bwhat (?:is|was|does) .{0,30}\b(?:price|cost|fee)\b"
    r"|\bwhat (?:do|did|does) .{0,20}\b(?:charge|pay|earn)\b|^(?:the )?(?:price|cost|rent|fee)s?\b",
    re.IGNORECASE,
)
_AMOUNT = (
    rf"{_MONEY}|\bfree\b|\bno (?:cost|charge|fee)"
    r"|(?:\b(?:USD|EUR|GBP|CHF|euros?|price|cost|fee|rent|dues|charge|amount|total|deposit|salary)s?\b|[$€£¥])"
    r"[^;:=|\n]{0,40}[:=]\s?\W?\d"
)
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), told)
    for asked, told in (
        (
            r"\b(?:phone|telephone|mobile|cell|fax)(?: phone)?(?:s|'s)? numbers?\b|\bphone\b\W*$",
            r"\d(?:[ /().-]?\d){4}",
        ),
        (r"\be-?mail address(?:es)?\b|\be-?mail\b\W*$", r"\w@\w"),
        (r"\b(?:birthday|birth ?date|date of birth)\b", r"\d"),
        (r"\bwebsite\b|\burl\b|\bhomepage\b", r"https?:|www\.|\w\.(?:com|org|net|io|eu|de|uk|[a-z]{2})\b"),
        (r"\b(?:what|which) (?:\w+ )?versions?\b|\bversions? (?:number )?of\b", r"\d\.\d|\bv ?\d|\bversion \d"),
        (r"\bserial (?:no|numbers?)\b", r"\bserial\b|\bs/n\b"),
        (r"\bpass(?:word|code)s? (?:of|for|to)\b|\bpass(?:word|code)\b\W*$", r"passw|passcode|\bpwd\b"),
        (
            r"\b(?:warranty|guarantee|notice|trial|retention|grace|probation|return|cancellation) periods?\b",
            _NUMBER + _TIME,
        ),
        (r"\b(?:at )?what time\b", r"\d[:.h]\d\d|\d ?(?:am|pm|h)\b|o'clock|\bnoon\b|\bmidnight\b|[\d*] [\d*]"),
    )
)
"""Questions for something that is written in a form of its own, and that form."""
_SIZES = rf"{_NUMBER}\s?(?:x|×|by)\s?\d|{_NUMBER}(?:{_LENGTH}|{_SIZE})"
_MANY = re.compile(r"\bhow (?:many|much|long|old|far|tall|high|deep|wide|big|large|heavy|fast)\b", re.IGNORECASE)
_ANY_NUMBER = rf"{_NUMBER}|\b(?:none|no|both|half|twice|once|pair|dozens?|single|only)\b|\d"
_SIZED = re.compile(
    r"\b(?:what|which)\b(?: (?:is|was|are|were))?(?: the)? (?:[\w-]+ ){0,3}?"
    r"(percentage|number|share|proportion|amount|population|size|rate|temperature|voltage|weight|limit)s?\b",
    re.IGNORECASE,
)
_SHORT = 4  # letters of a plural such as "ties"
_STEM_CHARS = 6  # of such a noun: "percen" of "percent" and "percentage"
_COUNTED = re.compile(
    r"\bhow many ((?:[\w'-]+ ){0,3}?[\w'-]+)"
    r"(?=\s*(?:[?.,]|$)|\s+(?:do|does|did|are|is|was|were|has|have|had|can|could|will|would|should|may|must|in|of|on|at|per|"
    r"for|from|to|with|there|you|i|we|they|it|he|she)\b)",
    re.IGNORECASE,
)


def measures(question: str, text: str) -> bool:
    """Return whether `text` has a number of what `question` asks the number of."""
    pattern = _wanted(question)
    return pattern is not None and pattern.search(text) is not None


def may_measure(question: str, texts: Sequence[str]) -> bool:
    """Return whether any of `texts` may hold the number that `question` asks for, if it asks for one.

    A cost needs an amount of money, or the word that there is none; a phone number, an address or a time its form.
    """
    forms = [told for asked, told in _FORMS if asked.search(question)]
    if forms:
        return any(_has(told, texts) for told in forms)
    if _COST.search(question):
        return _has(_AMOUNT, texts)
    return not _MANY.search(question) or _has(_ANY_NUMBER, texts)


def _has(pattern: str, texts: Sequence[str]) -> bool:
    compiled = re.compile(pattern, re.IGNORECASE)
    return any(compiled.search(text) for text in texts)


def _any_number(noun: str) -> str:
    """Return a pattern for the singular and plural of a noun; its stem says less: "experi" is that of experiences."""
    if len(noun) > _SHORT and noun.endswith("ies"):
        return re.escape(noun[:-3]) + "(?:y|ies)"
    root = noun.removesuffix("es") if noun.endswith(("ches", "shes", "sses", "xes")) else noun.removesuffix("s")
    return re.escape(root)


@lru_cache(maxsize=256)
def _wanted(question: str) -> re.Pattern[str] | None:
    counted = _COUNTED.search(question)
    if counted is not None:
        noun = next((word for word in reversed(words(counted[1])) if content_terms(word)), "")
        return re.compile(rf"{_NUMBER}(?:[ -][\w'-]+){{0,3}}?[ -]{_any_number(noun)}", re.IGNORECASE) if noun else None
    sized = _SIZED.search(question)
    if sized is not None:
        noun = re.escape(sized[1][:_STEM_CHARS])
        near = rf"\b{noun}\w*(?:[ ,:=(]+[\w’'-]+){{0,3}}?[ :=(]+{_NUMBER}|{_NUMBER}(?:[ -][\w'-]+){{0,2}}?[ -]{noun}"
        return re.compile(f"{near}|{_SIZES}" if noun == "size" else near, re.IGNORECASE)
    if _HOW_LONG_BEFORE.search(question):
        return re.compile(_NUMBER + _TIME, re.IGNORECASE)
    if _WEIGHS.search(question):
        return re.compile(rf"{_NUMBER}{_WEIGHT}|\({_WEIGHT}\){_IN_HEAD}", re.IGNORECASE)
    how = _HOW.search(question)
    if how is not None:
        return re.compile(_MEASURES[how[1].lower()], re.IGNORECASE)
    return re.compile(_MONEY) if _COST.search(question) else None
