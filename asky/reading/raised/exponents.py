"""Raised and lowered text: exponents get a sign, so that 10 to the power 6.6 is `10^6.6` and not 106.6.

A superscript that is no exponent stays as it is: ordinals (`2nd`), charges (`Ca2+`), trademarks, degrees, letters that
mark a value of a table. A subscript stays too, since `CO2` and `x1` are written and searched so, unless its digits
would run into those of a number: `101_2`, `log_2 8`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_MAX_CHARS = 24  # of an exponent

_SIMPLE = re.compile(r"[-+−–]?(?:\d+(?:[.,·]\d+)?|[^\W_]{1,6})")
_NEGATIVE = re.compile(r"[-−–]\s?\d")
_EXPRESSION = re.compile(r"(?=.*[^\W_])[\w\s+\-−–±*∗·.,/()|=<>′]+")
_UNSIGNED = re.compile(
    r"(?:st|nd|rd|th|e|er|re|ère|ere|me|eme|ème|ième|ieme|de|ste|o|os|a|as|ra|ro|to|do|mo|[a-f]|TM|SM|MC|[°ºª])"
)
_CHARGE = re.compile(r"\d?[-+−–]")
_NUMBERS = re.compile(r"[1-9]\d{0,2}(?:\s?[,–-]\s?[1-9]\d{0,2})*")
# A year, a citation or the stop behind a number: the small number there is that of a note.
_NOTED = re.compile(r"(?:\[\d[\d,\s–-]*\]|(?<!\d)(?:1[5-9]\d\d|20[0-3]\d)[)\]]?|\d\)?[.,;:])$")
_BASE = re.compile(r"(?:\d|[)\]}|∥‖⟩]|(?<![^\W\d_])[^\W\d_])$")
_SHORT = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,6}$")
_TWO_LETTERS = re.compile(r"[a-zµμ][A-Za-zµμ]")
_NO_UNITS = _words(
    "ad al am an as at au be by de do du ed ei el en er es et go he if il im in io is it la le lo ma me mi my ne no ob"
    " of on or se si so su te to tu um un up us vi we wo zu"
)
_UNITS = _words(
    "sin cos tan cot log exp mol min rad deg erg pix kpc mpc gpc khz mhz ghz kpa mpa gpa kev mev gev tev kwh arcsec"
    " arcmin"
)


class Shift(NamedTuple):
    """A run of raised or lowered characters, from `start` to before `end` in the line's text."""

    start: int
    end: int
    raised: bool


def spelled(text: str, shifts: Sequence[Shift], marks: Mapping[int, int]) -> str:
    """Return `text` with its exponents as `^...`, and without `marks`: the end of each, by its start."""
    ends = {shift.end for shift in shifts}
    starts = {shift.start for shift in shifts}
    runs = [(start, end, "") for start, end in marks.items()]
    for shift in shifts:
        if shift.start in marks:
            continue
        follows = shift.start in ends
        if shift.raised:
            written = _raised(text, shift, follows=follows, fraction=shift.end + 1 in starts)
        else:
            written = _lowered(text, shift, follows=follows, last=shift.end not in starts)
        runs.append((shift.start, shift.end, written))
    pieces: list[str] = []
    position = 0
    for start, end, written in sorted(runs):
        if start < position:
            continue
        pieces += [text[position:start], written]
        if _runs_on(written, text[end : end + 1]):
            pieces.append(" ")
        position = end
    return "".join([*pieces, text[position:]])


def spelled_runs(runs: Iterable[tuple[str, bool | None]]) -> str:
    """Return the text of runs, each raised (True), lowered (False) or neither (None), with exponents as `^...`."""
    text = ""
    shifts: list[Shift] = []
    for piece, raised in runs:
        if raised is not None and piece:
            shift = Shift(len(text), len(text) + len(piece), raised)
            is_same = shifts and shifts[-1].end == shift.start and shifts[-1].raised is raised
            shifts[-1:] = [shifts[-1]._replace(end=shift.end)] if is_same else [*shifts[-1:], shift]
        text += piece
    return spelled(text, shifts, {}) if shifts else text


def _runs_on(written: str, after: str) -> bool:
    """Return whether what follows a run would be read as part of it."""
    if not written:
        return after.isalnum()
    if written[0] not in "^_":
        return False
    return (after.isdigit() and written[-1].isdigit()) or (after.isalpha() and written[-1].isalpha())


def _raised(text: str, shift: Shift, *, follows: bool, fraction: bool) -> str:
    """Return a raised run as it is written in the text: with a sign, as it is, or "" for the number of a note."""
    run = text[shift.start : shift.end]
    content = run.strip()
    before = text[max(0, shift.start - 24) : shift.start]
    if fraction and text[shift.end] in "/⁄":
        return f" {run}" if before[-1:].isdigit() else run
    if _NUMBERS.fullmatch(content) and _NOTED.search(before):
        return ""
    if run[0].isspace() or before[-1:].isspace() or len(content) > _MAX_CHARS or not _EXPRESSION.fullmatch(content):
        return run
    if before.endswith("L") and content == "A" and text[shift.end :].lstrip().startswith("T"):
        return run  # LaTeX
    if not (_is_base(before, content) or follows) or _is_label(before, content):
        return run
    rest = run[len(run.rstrip()) :]
    if _SIMPLE.fullmatch("".join(content.split())):
        content = "".join(content.split())
        return f"^{'-' + content[1:] if content[0] in '−–' else content}{rest}"
    is_whole = _CHARGE.fullmatch(content) or (content[0] == "(" and content.find(")") == len(content) - 1)
    return f"^{content}{rest}" if is_whole else f"^({content}){rest}"


def _is_base(before: str, content: str) -> bool:
    """Return whether the text before a raised run can have an exponent: a number, a symbol, a unit, not a word."""
    if _BASE.search(before) or (before[-1:].isalpha() and _NEGATIVE.match(content)):
        return True
    short = _SHORT.search(before)
    if short is None:
        return False
    word = short.group()
    return word.lower() in _UNITS or (_TWO_LETTERS.fullmatch(word) is not None and word not in _NO_UNITS)


def _is_label(before: str, content: str) -> bool:
    """Return whether a raised run is an ordinal's ending, the mark of a value, a charge or a trademark."""
    if before[-1:].isdigit() or before[-1:] in ")]":
        return _UNSIGNED.fullmatch(content) is not None
    return _CHARGE.fullmatch(content) is not None or content in ("TM", "SM", "MC", "th", "st", "nd", "rd")


def _lowered(text: str, shift: Shift, *, follows: bool, last: bool) -> str:
    """Return a lowered run with a sign if its digits would run into a number or an exponent, else as it is."""
    run = text[shift.start : shift.end]
    before, after = text[shift.start - 1 : shift.start], text[shift.end : shift.end + 1]
    runs_in = (before.isdigit() and run[:1].isdigit()) or (last and run[-1:].isdigit() and after.isdigit())
    return f"_{run}" if (runs_in and before.isalnum()) or (follows and run[:1].isalnum()) else run
