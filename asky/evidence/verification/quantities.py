"""Numbers, percentages, measures and dates of a text; "twelve" and "12" agree, and so do "1,400" and "1400"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from asky.evidence.verification.numerals import (
    DECIMAL,
    VULGAR,
    VULGAR_SIGN,
    eras,
    fraction,
    on_the_clock,
    scaled,
    values_of,
)
from asky.evidence.verification.powers import POWER, values_of_power, with_powers, without_unit_signs


def _counted(names: str, first: int) -> dict[str, int]:
    return {name: value for value, name in enumerate(names.split(), first)}


_SMALL = _counted("zero one two three four five six seven eight nine ten eleven twelve", 0)
_SMALL |= _counted("thirteen fourteen fifteen sixteen seventeen eighteen nineteen", 13)
_TENS = {
    name: 10 * value for name, value in _counted("twenty thirty forty fifty sixty seventy eighty ninety", 2).items()
}
NUMBER_WORDS = _SMALL | _TENS
"""The single words from "zero" to "ninety", with their values."""
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SUFFIXES = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9}
_ORDINALS = _counted("third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 3)
_DENOMINATORS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4} | {
    name + ending: value for name, value in _ORDINALS.items() if value <= 10 for ending in ("", "s")
}
_MONTH_NAMES = _counted("january february march april may june july august september october november december", 1)
_MONTHS = {name[:length]: month for name, month in _MONTH_NAMES.items() for length in (3, 4, len(name))}
_UNITS = {
    form: forms.split()[0]
    for forms in (
        "% percent percentage pct",
        "km kilometer kilometers kilometre kilometres",
        "m meter meters metre metres",
        "cm centimeter centimeters centimetre centimetres",
        "mm millimeter millimeters millimetre millimetres",
        "mi mile miles",
        "ft foot feet",
        "inch inches",
        "kg kilogram kilograms",
        "g gram grams",
        "mg milligram milligrams",
        "l liter liters litre litres",
        "ml milliliter milliliters millilitre millilitres",
        "s second seconds sec secs",
        "min minute minutes mins",
        "h hour hours hr hrs",
        "day days",
        "week weeks",
        "month months",
        "year years yr yrs",
        "celsius",
        "fahrenheit",
        "° degree degrees",
        "lb lbs",
        "kb",
        "mb",
        "gb",
        "tb",
        "$ usd dollar dollars",
        "€ eur euro euros",
        "£ gbp",
        "¥ yen",
    )
    for form in forms.split()
}
MEASURE_WORDS = frozenset({*_UNITS, *_SCALES, *_MONTHS, "cent"})
"""Words of a text that its quantities already say: units, scales and months, in lower case."""
_ATTACHED = frozenset({*_SUFFIXES, "st", "nd", "rd", "th", "s"} | {form for form in _UNITS if len(form) > 1})
_MAX_TOTAL = 10**15

_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_WIDE_SPACE = re.compile(r"(?<=\d)[\u00a0\u202f\u2009](?=\d{3}(?!\d))")  # the thousands separator of typesetters
_ISO_DATE = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_NUMERIC_DATE = re.compile(r"(?<![\d./])(\d{1,2})([./])(\d{1,2})\2(\d{4})(?![\d./]*\d)")
_NOT_VULGAR = re.compile(rf"[^{VULGAR}]+")
_TOKEN = re.compile(rf"{POWER}|(?:\d{{1,9}}[ ]?)?[{VULGAR}]|\d+(?:[.,]\d+)*|[^\W\d_]+|[%$€£¥]|\S")
_SLASHES = frozenset("/⁄")
_LABELS = frozenset({"step", "passage", "source", "document", "excerpt", "citation"})
_ITEM_SIGNS = frozenset(".)")
_DASHES = frozenset("-–—")
_YEAR_DIGITS = 4
_SCALES_OF_HEAT = {"c": "celsius", "celsius": "celsius", "f": "fahrenheit", "fahrenheit": "fahrenheit"}
_MAX_SMALL = 10
_ABOUT, _OVER, _UNDER = (0.95, 1.05), (1.0, 1.1), (0.9, 1.0)
_LEEWAY = dict.fromkeys(("about", "around", "approximately", "roughly", "circa", "ca", "some", "~", "≈"), _ABOUT)
_LEEWAY |= dict.fromkeys(("over", "exceeding", "above"), _OVER) | dict.fromkeys(
    ("under", "nearly", "almost", "below"), _UNDER
)
_LEEWAY_THAN = {"more": _OVER, "greater": _OVER, "higher": _OVER, "less": _UNDER, "fewer": _UNDER, "lower": _UNDER}
_MAX_PART_DIGITS = 3  # of a fraction


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written, its possible values, and its unit if known.

    `position` counts words and signs of the text, so that adjacency is known. `month` is set, without values, for the
    name of a month next to a number. `certain` is false for what may not be a number: "one", an ordinal word, digits
    inside a name such as "H1N1". `leeway` is the least and the most that the true number may be, as multiples of this
    one: "about 50", "over 50", "nearly 50".
    """

    position: int
    written: str
    values: frozenset[str]
    unit: str | None = None
    month: int | None = None
    certain: bool = True
    leeway: tuple[float, float] | None = None

    @property
    def is_small_word(self) -> bool:
        """Return whether it may count what the text itself lists: "two", up to "ten", without a unit."""
        return self.written.lower() in _SMALL and self.unit is None and _SMALL[self.written.lower()] <= _MAX_SMALL


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    lower: str
    glued: bool  # to the token before it


def quantities(text: str) -> list[Quantity]:
    """Return the numbers of `text` and the months next to them, in order; linear time.

    Values are decimal strings without leading zeros, trailing zeros and separators; number words up to trillions and
    scale words ("1.4 million") are evaluated, and so are fractions: "½", "1/2" and "one half" are 0.5, and those
    without an end are rounded in several ways, and powers, "3.5 × 10^6" and "10⁻³". A sign is not part of a number. A
    date in ISO form gives year, month and day; ranges give both ends.
    """
    normal = without_unit_signs(with_powers(_WIDE_SPACE.sub(",", text)))
    normal = _NOT_VULGAR.sub(lambda match: unicodedata.normalize("NFKC", match.group()), normal)
    normal = _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match.group())), normal)
    tokens = list(_tokens(_NUMERIC_DATE.sub(_spelled_numeric_date, _ISO_DATE.sub(_spelled_iso_date, normal))))
    found: list[Quantity] = []
    position = 0
    while position < len(tokens):
        quantity, end = _quantity_at(tokens, position)
        if quantity is not None:
            found.append(quantity)
            found += _parts(tokens, position, end)
        position = end
    return found


def agree(said: Quantity, held: Quantity) -> bool:
    """Return whether two numbers are the same, or the first one, said to be approximate, stands for the second."""
    return not said.values.isdisjoint(held.values) or any(stands_for(said, value) for value in held.values)


def stands_for(said: Quantity, held: str) -> bool:
    """Return whether a number that is said to be approximate stands for the value `held`."""
    low, high = said.leeway or (1, 0)
    return DECIMAL.fullmatch(held) is not None and any(
        low * float(value) <= float(held) <= high * float(value) for value in said.values if DECIMAL.fullmatch(value)
    )


def _spelled_iso_date(match: re.Match[str]) -> str:
    return _spelled(match[3], int(match[2]), match[1]) or match.group()


def _spelled_numeric_date(match: re.Match[str]) -> str:
    """Return `25/12/2020` or `12/25/2020` with the month's name; plain numbers if day and month are ambiguous."""
    first, second = int(match[1]), int(match[3])
    if second > 12 and (date := _spelled(match[3], first, match[4])):
        return date
    if first > 12 and (date := _spelled(match[1], second, match[4])):
        return date
    return f"{first} {second} {match[4]}"


def _spelled(day: str, month: int, year: str) -> str | None:
    names = [name for name, number in _MONTH_NAMES.items() if number == month]
    return f"{day} {names[0].capitalize()} {year}" if names else None


def _tokens(text: str) -> Iterator[_Token]:
    end = -1
    for match in _TOKEN.finditer(text):
        yield _Token(match.group(), match.group().lower(), match.start() == end)
        end = match.end()


def _quantity_at(tokens: list[_Token], at: int) -> tuple[Quantity | None, int]:
    """Return the quantity that begins at token `at`, if any, and the position after it."""
    token = tokens[at]
    if token.text[0].isdecimal() or VULGAR_SIGN.match(token.text):
        return _numeral(tokens, at)
    if token.lower in _SMALL or token.lower in _TENS or token.lower in _SCALES:
        return _number_words(tokens, at)
    if token.lower in _ORDINALS or token.lower in _DENOMINATORS:
        values = {str(_ORDINALS[token.lower])} if token.lower in _ORDINALS else set()
        return Quantity(at, token.text, frozenset(values | _part_of(1, token.lower)), certain=False), at + 1
    if token.lower in _MONTHS and token.text[0].isupper() and _stands_with_number(tokens, at):
        return Quantity(at, token.text, frozenset(), month=_MONTHS[token.lower]), at + 1
    return None, at + 1


def _stands_with_number(tokens: list[_Token], at: int) -> bool:
    near = [tokens[i].text for i in (at - 2, at - 1, at + 1, at + 2) if 0 <= i < len(tokens)]
    return any(text[0].isdecimal() for text in near)


def _numeral(tokens: list[_Token], at: int) -> tuple[Quantity, int]:
    token = tokens[at]
    values, end = _slashed(tokens, at) or (_values(token.text), at + 1)
    values |= on_the_clock(token.text, _half_of_day(tokens, end)) | _end_of_years(tokens, at)
    written = " ".join(part.text for part in tokens[at:end]).replace(" / ", "/").replace(" ⁄ ", "⁄")
    after = _following(tokens, end)
    if after.glued and after.lower in _SUFFIXES:
        values |= scaled(values, _SUFFIXES[after.lower])
    elif after.lower in _SCALES:
        values, end = scaled(values, _SCALES[after.lower]), end + 1
    elif after.glued and after.lower in ("s", "st", "nd", "rd", "th"):
        values |= eras(token.text, after.lower, _following(tokens, end + 1).text, _following(tokens, end + 2).lower)
    else:
        values |= _with_fraction_after(tokens, end, token.text)
    certain = not (_inside_a_name(tokens, at, after) or _enumerates(tokens, at, after))
    return Quantity(at, written, values, _unit(tokens, at, end), certain=certain, leeway=_leeway(tokens, at)), end


def _values(numeral: str) -> frozenset[str]:
    return values_of_power(numeral) if "^" in numeral else values_of(numeral)


def _leeway(tokens: list[_Token], at: int) -> tuple[float, float] | None:
    """Return the leeway that the words before token `at` give, past a sign of money: "about $50", "more than 50"."""
    at -= at > 0 and tokens[at - 1].text in "$€£¥"
    if at > 1 and tokens[at - 1].lower == "than":
        return _LEEWAY_THAN.get(tokens[at - 2].lower)
    return _LEEWAY.get(tokens[at - 1].lower) if at else None


def _half_of_day(tokens: list[_Token], at: int) -> str:
    """Return "a" or "p" if the hour before token `at` is one of a twelve-hour clock ("9 am", "9:30 p.m."), else ""."""
    if _following(tokens, at).text == ":" and _following(tokens, at + 1).text.isdecimal():
        at += 2
    half = _following(tokens, at)
    if half.lower in ("am", "pm"):
        return half.lower[0]
    is_dotted = half.lower in ("a", "p") and _following(tokens, at + 1).text == "."
    return half.lower if is_dotted and _following(tokens, at + 2).lower == "m" else ""


def _end_of_years(tokens: list[_Token], at: int) -> frozenset[str]:
    """Return the whole year that the end of a range is short for: 2019 for the "19" of "2018–19"."""
    if at < 2 or len(tokens[at].text) != _YEAR_DIGITS // 2 or not (tokens[at].glued and tokens[at - 1].glued):
        return frozenset()
    first = tokens[at - 2].text
    is_range = tokens[at - 1].text in _DASHES and first.isdecimal() and len(first) == _YEAR_DIGITS
    return frozenset({first[:2] + tokens[at].text}) if is_range and first[2:] < tokens[at].text else frozenset()


def _enumerates(tokens: list[_Token], at: int, after: _Token) -> bool:
    """Return whether a number is that of a list item, a step or a passage, or the full hour's minutes in "9:00"."""
    if at == 0:
        return after.glued and after.text in _ITEM_SIGNS and not _following(tokens, 2).glued and len(tokens) > 2
    before = tokens[at - 1]
    return before.lower in _LABELS or (before.text == ":" and before.glued and tokens[at].text in ("0", "00"))


def _slashed(tokens: list[_Token], at: int) -> tuple[frozenset[str], int] | None:
    """Return the values of `1/2` or `2 1/2` at token `at` and the position after it; `None` if it is not a fraction.

    The numerator must be less than the denominator: 9/11, but not 24/7.
    """
    whole = 0
    start = at
    following = _following(tokens, at + 1)
    if following.text not in _SLASHES and _following(tokens, at + 2).text not in _SLASHES:
        return None
    if _is_part(tokens[at]) and _is_part(following) and not following.glued:
        whole, start = int(tokens[at].text), at + 1
    top, slash, bottom = (_following(tokens, start + i) for i in range(3))
    if not (_is_part(top) and slash.text in _SLASHES and _is_part(bottom) and slash.glued and bottom.glued):
        return None
    joined = tokens[start - 1].text in _SLASHES and top.glued if start else False
    if joined or _following(tokens, start + 3).text in _SLASHES or not 0 < int(top.text) < int(bottom.text):
        return None
    return fraction(whole, int(top.text), int(bottom.text)), start + 3


def _is_part(token: _Token) -> bool:
    return token.text.isdecimal() and len(token.text) <= _MAX_PART_DIGITS


def _parts(tokens: list[_Token], start: int, end: int) -> Iterator[Quantity]:
    """Yield the numbers of a fraction with a slash, in case it is not a fraction."""
    if any(token.text in _SLASHES for token in tokens[start:end]):
        for at in range(start, end):
            if tokens[at].text.isdecimal():
                yield Quantity(at, tokens[at].text, values_of(tokens[at].text), certain=False)


def _with_fraction_after(tokens: list[_Token], end: int, number: str) -> frozenset[str]:
    """Return the possible values of `number` with "-thirds" or "and a half" at token `end`."""
    if not number.isdecimal() or len(number) > _MAX_PART_DIGITS:
        return frozenset()
    after = end + 1 if _following(tokens, end).text == "-" else end
    if _following(tokens, after).lower in _DENOMINATORS:
        return _part_of(int(number), _following(tokens, after).lower)
    if [_following(tokens, end + i).lower for i in range(3)] == ["and", "a", "half"]:
        return fraction(int(number), 1, 2)
    return frozenset()


def _part_of(count: int, name: str) -> frozenset[str]:
    return fraction(0, count, _DENOMINATORS[name]) if name in _DENOMINATORS else frozenset()


def _inside_a_name(tokens: list[_Token], at: int, after: _Token) -> bool:
    """Return whether letters are attached: COVID-19, H1N1, 5G; not 12km, 3rd or 1990s."""
    if after.glued and after.text.isalpha() and after.lower not in _ATTACHED and after.text not in _UNITS:
        return True
    before = tokens[at - 1] if at else None
    if before is None or not tokens[at].glued:
        return False
    if before.text in ("-", "_") and before.glued and at > 1:
        before = tokens[at - 2]
        return before.lower.isalpha() and before.lower not in _MONTHS
    return before.lower.isalpha() or before.text in ("_", "#")


def _number_words(tokens: list[_Token], at: int) -> tuple[Quantity, int]:
    """Return the number that words from `at` on spell, and the position after it: "one hundred and twelve thousand"."""
    total = current = 0
    end = at
    while end < len(tokens):
        word = tokens[end].lower
        if word in _SMALL and (end == at or current % 10 == 0):
            current += _SMALL[word]
        elif word in _TENS and (end == at or current % 100 == 0):
            current += _TENS[word]
        elif word == "hundred" and current < 100:
            current = (current or 1) * 100
        elif word in _SCALES and word != "hundred" and total < _MAX_TOTAL:
            total, current = total + (current or 1) * _SCALES[word], 0
        elif not (word in ("-", "and") and end > at and _continues(tokens, end)):
            break
        end += 1
    written = " ".join(token.text for token in tokens[at:end])
    certain = written.lower() != "one"
    values = frozenset({str(total + current)}) | _with_fraction_after(tokens, end, str(total + current))
    return Quantity(at, written, values, _unit(tokens, at, end), certain=certain), end


def _continues(tokens: list[_Token], joint: int) -> bool:
    """Return whether "-" or "and" joins number words: "twenty-five", "hundred and five", not "two and three"."""
    before, after = tokens[joint - 1].lower, _following(tokens, joint + 1).lower
    if tokens[joint].text == "-":
        return before in _TENS and after in _SMALL
    return before in _SCALES and (after in _SMALL or after in _TENS)


def _following(tokens: list[_Token], at: int) -> _Token:
    return tokens[at] if at < len(tokens) else _Token(" ", " ", False)


def _unit(tokens: list[_Token], start: int, end: int) -> str | None:
    """Return the unit before the token `start` or after the token `end - 1`."""
    if start and tokens[start - 1].text in "$€£¥":
        return _UNITS[tokens[start - 1].text]
    after = _following(tokens, end)
    if after.text == "-":
        after = _following(tokens, end + 1)
    elif after.lower in ("°", "º", "degree", "degrees"):
        scale = _following(tokens, end + 1).lower
        return _SCALES_OF_HEAT.get(scale, "°")
    elif after.lower == "per" and _following(tokens, end + 1).lower == "cent":
        return "%"
    if len(after.text) == 1 and after.text.isalpha():  # 5 g but not 5G, 5 s but not the 1990s
        return None if after.text == "s" and after.glued else _UNITS.get(after.text)
    return _UNITS.get(after.lower)
