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


def values_of(numeral: str) -> frozenset[str]:
    """Return the possible values of digits with separators or a final vulgar fraction: `1.400` is 1.4 or 1400."""
    if VULGAR_SIGN.match(numeral[-1]):
        top, _, bottom = unicodedata.normalize("NFKC", numeral[-1]).partition("⁄")
        return fraction(int(numeral[:-1] or 0), int(top), int(bottom))
    if _THOUSANDS.fullmatch(numeral):
        return frozenset({_plain(numeral.replace(",", ""))})
    if _PLAIN.fullmatch(numeral):
        values = {_plain(numeral)}
        if _POINTED_THOUSANDS.fullmatch(numeral):
            values.add(_plain(numeral.replace(".", "")))
        return frozenset(values)
    parts = [numeral, *numeral.split(",")]  # a version, a list without spaces, a decimal comma
    return frozenset(_plain(part) for part in [*parts, numeral.replace(",", ".")])


def scaled(values: frozenset[str], scale: int) -> frozenset[str]:
    """Return those values that are numbers, times `scale`, except very long ones."""
    return frozenset(
        _plain(f"{Decimal(value) * scale:f}")
        for value in values
        if len(value) <= _MAX_SCALED_DIGITS and _PLAIN.fullmatch(value)
    )


def fraction(whole: int, top: int, bottom: int) -> frozenset[str]:
    """Return `whole` plus `top`/`bottom` as a decimal, rounded to the usual numbers of places if it has no end."""
    value = (whole * bottom + top) / Decimal(bottom)
    exact = _plain(f"{value:f}")
    if len(exact) <= _MAX_SCALED_DIGITS:
        return frozenset({exact})
    cut = {_plain(exact[: exact.index(".") + places]) for places in (3, 4)}
    return frozenset({exact, *cut, *(_plain(f"{value:.{places}f}") for places in (1, 2, 3))})


def _plain(numeral: str) -> str:
    whole, point, places = numeral.partition(".")
    if "." in places or "," in numeral:
        return numeral
    whole, places = whole.lstrip("0") or "0", places.rstrip("0")
    return f"{whole}{point}{places}" if places else whole
