"""The possible values of a numeral, as decimal strings without leading zeros, trailing zeros and separators."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

VULGAR = "¼-¾⅐-⅞↉"
"""The vulgar fractions such as `½`, as ranges for a pattern."""

VULGAR_SIGN = re.compile(rf"[{VULGAR}]")
"""Matches one of them."""

_MAX_SCALED_DIGITS = 18
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_POINTED_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
DECIMAL = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
"""Matches a value that can be compared as a number."""

_YEAR = re.compile(r"1\d{3}|20\d\d")
_DECADE = re.compile(r"\d{3}0")
_NOON = 12


def values_of(numeral: str) -> frozenset[str]:
    """Return the possible values of digits with separators or a final vulgar fraction: `1.400` is 1.4 or 1400."""
    if VULGAR_SIGN.match(numeral[-1]):
        top, _, bottom = unicodedata.normalize("NFKC", numeral[-1]).partition("⁄")
        return fraction(int(numeral[:-1] or 0), int(top), int(bottom))
    if _THOUSANDS.fullmatch(numeral):
        return frozenset({plain(numeral.replace(",", ""))})
    if _PLAIN.fullmatch(numeral):
        values = {plain(numeral)}
        if _POINTED_THOUSANDS.fullmatch(numeral):
            values.add(plain(numeral.replace(".", "")))
        return frozenset(values)
    parts = [numeral, *numeral.split(",")]  # a version, a list without spaces, a decimal comma
    return frozenset(plain(part) for part in [*parts, numeral.replace(",", ".")])


def scaled(values: frozenset[str], scale: int) -> frozenset[str]:
    """Return those values that are numbers, times `scale`, except very long ones."""
    return frozenset(
        plain(f"{Decimal(value) * scale:f}")
        for value in values
        if len(value) <= _MAX_SCALED_DIGITS and _PLAIN.fullmatch(value)
    )


def fraction(whole: int, top: int, bottom: int) -> frozenset[str]:
    """Return `whole` plus `top`/`bottom` as a decimal, rounded to the usual numbers of places if it has no end."""
    value = (whole * bottom + top) / Decimal(bottom)
    exact = plain(f"{value:f}")
    if len(exact) <= _MAX_SCALED_DIGITS:
        return frozenset({exact})
    cut = {plain(exact[: exact.index(".") + places]) for places in (3, 4)}
    return frozenset({exact, *cut, *(plain(f"{value:.{places}f}") for places in (1, 2, 3))})


def on_the_clock(hour: str, half: str) -> frozenset[str]:
    """Return the hour of a 24-hour clock for one of a twelve-hour clock; `half` is "a", "p" or "" for none."""
    if not half or not hour.isdecimal() or not 1 <= int(hour) <= _NOON:
        return frozenset()
    return frozenset({str(int(hour) % _NOON + (_NOON if half == "p" else 0))})


def eras(number: str, ending: str, *following: str) -> frozenset[str]:
    """Return the names of the decade or the century that a number with its ending stands for, as in `eras_of_year`."""
    if ending == "s":
        return frozenset({number + ending}) if _DECADE.fullmatch(number) else frozenset()
    is_century = "centur" in (following[0].lower()[:6], following[1][:6] if following[0] == "-" else "")
    return frozenset({f"{number} century"}) if is_century else frozenset()


def eras_of_year(value: str) -> frozenset[str]:
    """Return the decade and the century of a year: `1970s` and `20 century` for 1979; none for other numbers.

    1900 is in two centuries, since people count either way.
    """
    if not _YEAR.fullmatch(value):
        return frozenset()
    return frozenset({f"{value[:3]}0s", f"{(int(value) - 1) // 100 + 1} century", f"{int(value) // 100 + 1} century"})


def plain(numeral: str) -> str:
    """Return a decimal without leading and trailing zeros, and anything else as it is."""
    whole, point, places = numeral.partition(".")
    if "." in places or "," in numeral:
        return numeral
    whole, places = whole.lstrip("0") or "0", places.rstrip("0")
    return f"{whole}{point}{places}" if places else whole
