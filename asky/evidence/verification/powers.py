"""Powers of numbers, as people write them: `10^6.6`, `10**6.6`, `10^{6.6}`, `10⁶·⁶`, "10 to the power of 6.6"."""

from __future__ import annotations

import re
from decimal import Decimal

from asky.evidence.verification.numerals import DECIMAL, plain, values_of

_ANY = re.compile(r"[⁰¹²³⁴-⁹^]|\*\*|<sup>|power", re.IGNORECASE)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_SUPERSCRIPT = re.compile(r"(?<=\d)([⁺⁻]?[⁰¹²³⁴-⁹]{1,6}(?:[.·˙‧⋅][⁰¹²³⁴-⁹]{1,6})?)(?!⁄)")
_YEAR = re.compile(r"(?<![\d.,^])(?:1[5-9]|20)\d\d\Z")
_UNIT = re.compile(r"(?<=[^\W\d_])\^[{(]?([-+−–]?\d{1,3})(?![\d.])[)}]?")
_NUMBER = r"\d{1,15}(?:[.,]\d{1,15}){0,5}"
_EXPONENT = r"([-+−–]?\s?\d{1,6}(?:[.,·˙⋅]\d{1,6})?)"
_WRITTEN = re.compile(
    rf"(?<![\d*.])({_NUMBER})"
    rf"(?:\s?\^\s?[{{(]?\s?{_EXPONENT}\s?[)}}]?|\*\*{_EXPONENT}|\s\*\*\s{_EXPONENT}|<sup>\s?{_EXPONENT}\s?</sup>"
    rf"|\s(?:raised\s)?to\sthe\spower\s(?:of\s)?{_EXPONENT})(?!\w)",
    re.IGNORECASE,
)
_FACTOR = re.compile(rf"(?<![\d.,])({_NUMBER})\s?(?:×|x|\*|·|⋅|\\times|\\cdot)\s?(?=10\^)", re.IGNORECASE)
POWER = r"(?:\d+(?:[.,]\d+)*×)?\d+(?:[.,]\d+)*\^-?\d+(?:\.\d+)?"
"""Matches what `with_powers` makes of a power: `10^6.6`, `3.5×10^6`."""

_MAX_EXPONENT = 15  # beyond, a power is compared as it is written


def with_powers(text: str) -> str:
    """Return `text` with each power of a number as `10^-3` or `3.5×10^6`.

    A superscript behind a year is the number of a note, and left out.
    """
    if _ANY.search(text) is None:
        return text
    return _FACTOR.sub(r"\1×", _WRITTEN.sub(_power, _SUPERSCRIPT.sub(_raised, text)))


def without_unit_signs(text: str) -> str:
    """Return `text` with `m^2` as `m2`: the exponent of a unit or a symbol is no number of its own."""
    return _UNIT.sub(r"\1", text) if "^" in text else text


def _raised(match: re.Match[str]) -> str:
    is_note = _YEAR.search(match.string, max(0, match.start() - 6), match.start()) is not None
    return " " if is_note else f"^{match[1].translate(_RAISED)}"


def _power(match: re.Match[str]) -> str:
    exponent = next(group for group in match.groups()[1:] if group is not None)
    sign = "-" if exponent[0] in "-−–" else ""
    return f"{match[1]}^{sign}{plain(re.sub(r'[,·˙⋅]', '.', exponent.lstrip('-+−– ')))}"


def values_of_power(written: str) -> frozenset[str]:
    """Return the possible values of a power as `POWER` matches it: as a decimal if it has one, else as written."""
    factor, _, power = written.rpartition("×")
    base, _, exponent = power.partition("^")
    found = set()
    for value in values_of(base):
        for times in values_of(factor) if factor else ("1",):
            exact = _product(times, value, Decimal(exponent))
            found.add(exact or f"{times}×{value}^{exponent}".removeprefix("1×"))
    return frozenset(found)


def _product(times: str, base: str, exponent: Decimal) -> str | None:
    """Return `times` times a power as a decimal; `None` for a broken exponent, a version, or a very long number."""
    if abs(exponent) > _MAX_EXPONENT or exponent != exponent.to_integral_value():
        return None
    if not (DECIMAL.fullmatch(times) and DECIMAL.fullmatch(base)) or not float(base):
        return None
    exact = Decimal(times) * Decimal(base) ** int(exponent)
    return plain(f"{exact:f}") if abs(exact.adjusted()) <= _MAX_EXPONENT else None
