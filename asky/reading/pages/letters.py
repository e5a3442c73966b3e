"""Letters as they are read: accents with theirs, letter-spaced words, initials, and bullets of symbol fonts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from asky.reading.pages.lines import Line

# TeX's fonts draw an accent before its letter, other programs draw it behind.
_ACCENTS = {
    "´": "\u0301",
    "`": "\u0300",
    "¨": "\u0308",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "ˇ": "\u030c",
    "˚": "\u030a",
    "¯": "\u0304",
}
_ACCENT = re.compile("[´`¨ˆ˜ˇ˚¯]")
_ACCENTED = re.compile(r"([´¨ˆ˜ˇ˚¯])([A-Za-zıȷ])|(?<=\w)(`)([aeiouAEIOU])")
_ACCENT_BEHIND = re.compile(r"(?<=[^\W\d_]{2})([aeiouyAEIOUYcnszCNSZ])([´`¨ˆ˜ˇ])(?!\w)")
_COMBINING = re.compile(r"[^\W\d_][\u0300-\u036f]+")
_SPACED = re.compile(r"(?:\S {1,4}){3,}\S")
_LONE = re.compile(r"^[^\W\d_] ?$", re.MULTILINE)
_SINGLE = 0.6  # of the words of a letter-spaced line
_VOWELS = frozenset("aeiouy")
_SOUND = 0.2  # of the letters of a word are vowels; symbols of a formula are not
_CAPITALS = 0.7  # of the letters
_LETTERS = 4  # of a word that is spaced; fewer are initials or symbols
_WIDE = 1.6  # times the usual gap between its letters: the gap between two words
_TRACKING = 1.3  # times the font's size: letters that lie farther apart are cells
_OPENING = re.compile(r"(?=.{12})(?:[^\W\d_]{2,}|[^\W\d_] [^\W\d_]{2,}|[’'][^\W\d_]+)[\s,’'-]")
_INITIAL = 1.7  # times the size of the text beside it
_BULLET_FONTS = re.compile(r"wingdings|webdings|symbol|zapfdingbats|dingbats|opensymbol|starsymbol", re.IGNORECASE)
_PRIVATE = re.compile(r"[\ue000-\uf8ff](?=\s|$)|[\uf0a7\uf0b7\uf0d8](?=\S)")
_BULLET = "-"


class Letter(NamedTuple):
    """A character of a line and where it begins and ends, along the line; `added`: a space that MuPDF put in."""

    text: str
    x0: float
    x1: float
    added: bool


def compose_accents(text: str) -> str:
    """Return `text` with each accent combined with its letter: `G¨oteborg` is `Göteborg`."""
    if text.isascii() and "`" not in text:
        return text
    if _COMBINING.search(text):
        text = _COMBINING.sub(lambda match: unicodedata.normalize("NFC", match[0]), text)
    if _ACCENT.search(text) is None:
        return text
    text = _ACCENTED.sub(lambda match: _composed(match[0], match[1] or match[3], match[2] or match[4]), text)
    return _ACCENT_BEHIND.sub(lambda match: _composed(match[0], match[2], match[1]), text)


def _composed(written: str, accent: str, letter: str) -> str:
    plain = {"ı": "i", "ȷ": "j"}.get(letter, letter)
    composed = unicodedata.normalize("NFC", plain + _ACCENTS[accent])
    return composed if len(composed) == 1 else written


def may_have_spaced(texts: str) -> bool:
    """Return whether some line of a page may be letter-spaced, or part of one: `texts` are its lines."""
    return _SPACED.search(texts) is not None or len(_LONE.findall(texts)) >= _LETTERS


def may_be_spaced(text: str, *, is_bold: bool) -> bool:
    """Return whether a line may be letter-spaced: bold or capital single letters with spaces between them."""
    if 3 * text.count(" ") < len(text) or _SPACED.search(text) is None:
        return False
    words = text.split()
    letters = "".join(filter(str.isalpha, text))
    if sum(len(word) == 1 for word in words) <= _SINGLE * len(words) or len(letters) < _LETTERS:
        return False
    if letters.isascii() and sum(letter in _VOWELS for letter in letters.casefold()) <= _SOUND * len(letters):
        return False
    return is_bold or sum(map(str.isupper, letters)) > _CAPITALS * len(letters)


def close_up(letters: Sequence[Letter], size: float) -> str | None:
    """Return the words of a letter-spaced line, by the gaps between its letters; `None` if it is none.

    Rows of single letters that are cells, an alphabet or marks are none.
    """
    drawn = [each for each in letters if not each.text.isspace()]
    text = "".join(each.text for each in drawn)
    if sum(map(str.isalpha, text)) < max(_LETTERS, 0.6 * len(text)) or len(set(text.casefold())) < 3:
        return None
    gaps = [after.x0 - before.x1 for before, after in pairwise(drawn)]
    usual = median(gaps)
    if not 0.08 * size < usual < _TRACKING * size or _is_alphabet(text):
        return None
    words = drawn[0].text
    for gap, letter in zip(gaps, drawn[1:], strict=True):
        words += f" {letter.text}" if gap > _WIDE * usual + 0.03 * size else letter.text
    spread = [gap for gap in gaps if gap <= _WIDE * usual + 0.03 * size]
    even = sum(abs(gap - usual) < 0.25 * usual + 0.05 * size for gap in spread)
    longest = max(map(len, words.split()))
    return words if longest >= _LETTERS and even >= 0.8 * len(spread) else None


def _is_alphabet(text: str) -> bool:
    steps = [ord(after) - ord(before) for before, after in pairwise(text)]
    return sum(step == 1 for step in steps) > len(steps) / 2


def is_symbol_font(font: str) -> bool:
    """Return whether a font draws signs in the place of letters."""
    return _BULLET_FONTS.search(font) is not None


def plain_bullet(text: str, font: str) -> str:
    """Return the text of a line with a bullet of a symbol font at its beginning as `-`."""
    if _PRIVATE.match(text) or (is_symbol_font(font) and len(text.strip()) == 1 and ord(text.strip()) < 0x2000):
        rest = text.lstrip()[1:]
        return f"{_BULLET} {rest}" if rest[:1].isalnum() else _BULLET + rest
    return text


def join_initials(lines: Sequence[Line]) -> list[Line]:
    """Return the lines, with a large first letter joined to the line at its right whose top is level with its own."""
    found = list(lines)
    for number, initial in enumerate(lines):
        letter = initial.text.strip()
        if len(letter) != 1 or not letter.isupper():
            continue
        beside = [
            at
            for at, line in enumerate(found)
            if initial.size > _INITIAL * line.size
            and -1 <= line.x0 - initial.x1 < 0.6 * initial.size
            and initial.base - 1.05 * initial.size < line.base - 0.5 * line.size < initial.base - 0.3 * initial.size
            and _OPENING.match(line.text)
        ]
        if beside:
            at = min(beside, key=lambda place: found[place].base)
            line = found[at]
            space = " " if _stands_alone(letter, line.text, lines) else ""
            shift = len(letter + space)
            found[at] = line._replace(
                text=f"{letter}{space}{line.text}",
                x0=initial.x0,
                raised=tuple((start + shift, end + shift) for start, end in line.raised),
                shifts=tuple(each._replace(start=each.start + shift, end=each.end + shift) for each in line.shifts),
            )
            found[number] = initial._replace(text="")
    return [line for line in found if line.text]


def _stands_alone(letter: str, text: str, lines: Sequence[Line]) -> bool:
    """Return whether an initial A, I or O is a word: what follows it stands elsewhere on the page as a word."""
    if letter not in "AIOÀY":
        return False
    word = re.match(r"\w+", text)
    if word is None:
        return True
    words = {each.casefold() for line in lines if line.text is not text for each in re.findall(r"\w+", line.text)}
    return word[0].casefold() in words and f"{letter}{word[0]}".casefold() not in words
