"""What the readers of office files write in the same way: paragraphs, items of lists, numbers of lists, pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from asky.reading.text_builder import TextBuilder

_MAX_NUMBER = 1_000_000  # a file can state any; a Roman one would become that long
_FILE = re.compile(
    r"[^\n]*\.(?:png|jpe?g|jfif|gif|bmp|tiff?|emf|wmf|svgz?|webp|heic|pict|eps|ico|mp4|mov|avi|wmv|mp3|wav|m4a)"
)
# What PowerPoint and Word write below a description that a machine made.
_BY_MACHINE = re.compile(r"automatically generated|AI-generated content may be incorrect", re.IGNORECASE)


class OfficeBlocks:
    """Writes paragraphs, each with an empty line after it, and items and rows, of which only the last has one."""

    def __init__(self, builder: TextBuilder) -> None:
        self.builder = builder
        self._is_open = False

    def paragraph(self, text: str) -> None:
        """Add a paragraph."""
        self.close()
        self.builder.add(f"{text}\n\n")

    def heading(self, text: str, level: int) -> None:
        """Add a paragraph that is a heading."""
        self.close()
        self.builder.mark_heading(text, level)
        self.builder.add(f"{text}\n\n")

    def item(self, text: str) -> None:
        """Add a line that belongs to the line before."""
        self.builder.add(f"{text}\n")
        self._is_open = True

    def aside(self, text: str) -> None:
        """Add a note to the block before: a line of the same list, or a paragraph."""
        if self._is_open:
            self.item(text)
        else:
            self.paragraph(text)

    def rows(self, write: Callable[[TextBuilder], None]) -> None:
        """Let `write` add lines, each with its end."""
        self.close()
        before = len(self.builder)
        write(self.builder)
        self._is_open = len(self.builder) > before

    def close(self) -> None:
        """End a list or a table with an empty line."""
        if self._is_open:
            self.builder.add("\n")
            self._is_open = False


def picture(description: str) -> str:
    """Return `[Picture: description]`; "" if there is none, or if it is the name of a file or a machine's guess."""
    text = " ".join(description.split())
    if not text or _FILE.fullmatch(text.lower()) or _BY_MACHINE.search(text):
        return ""
    return f"[Picture: {text}]"


def numeral(number: int, kind: str) -> str:
    """Return a number of a list as `kind` writes it: 1, a, A, i, I, or `aa` and `AA` for a letter that repeats."""
    if kind == "1" or not 0 < number <= _MAX_NUMBER:
        return str(number)
    return _NUMERALS.get(kind, str)(number)


def _roman(number: int) -> str:
    values = (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)
    signs = ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I")
    if number > 5_000:  # longer than any that is read
        return str(number)
    pieces = []
    for value, sign in zip(values, signs, strict=True):
        count, number = divmod(number, value)
        pieces.append(sign * count)
    return "".join(pieces)


def _letters(number: int) -> str:
    text = ""
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text


def _repeated(number: int) -> str:
    times, rest = divmod(number - 1, 26)
    return chr(ord("a") + rest) * min(times + 1, 40)


_NUMERALS: Mapping[str, Callable[[int], str]] = MappingProxyType(
    {
        "a": _letters,
        "A": lambda number: _letters(number).upper(),
        "aa": _repeated,
        "AA": lambda number: _repeated(number).upper(),
        "i": lambda number: _roman(number).lower(),
        "I": _roman,
    }
)
