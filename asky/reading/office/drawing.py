"""Text of drawings (DrawingML): the paragraphs of a shape, with their bullets and numbers as shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.reading.office.blocks import numeral
from asky.reading.office.math import math_text
from asky.reading.raised.exponents import spelled_runs

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.microsoft.com/office/drawing/2010/main}m"

_BULLETS = (f"{A}buNone", f"{A}buChar", f"{A}buAutoNum", f"{A}buBlip")
_MAX_LEVEL = 8
_KINDS = {"arabic": "1", "alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}
_AUTO = re.compile(r"(arabic|alphaLc|alphaUc|romanLc|romanUc)\w*?(ParenBoth|ParenR|Period|Plain|Minus)?")


@dataclass(frozen=True, slots=True)
class ShapeLine:
    """A paragraph of a shape: its text, and its bullet or number with the indentation before it, "" if it has none."""

    text: str
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.mark}{self.text}"


def paragraphs(body: Element, styles: Sequence[Element] = ()) -> list[ShapeLine]:
    """Return the paragraphs of a text body that have text.

    `styles` are the list styles (`a:lstStyle`, `p:bodyStyle`) that its own ones rest on, the nearest first.
    """
    own = body.find(f"{A}lstStyle")
    every = [own, *styles] if own is not None and len(own) else styles
    counts: dict[int, tuple[str, int]] = {}
    found = []
    for element in body.iterchildren(f"{A}p"):
        text = paragraph_text(element)
        if not text.strip():
            continue
        properties = element.find(f"{A}pPr")
        level = _level(properties)
        mark = _mark(_bullet(properties, level, every), level, counts)
        found.append(ShapeLine(text.strip(), f"{'  ' * level}{mark} " if mark else ""))
    return found


def paragraph_text(element: Element) -> str:
    """Return the text of a paragraph with its exponents as `^...`, without the number of the slide."""
    runs = list(_runs(element))
    if len(runs) == 1:
        return runs[0][0]
    if any(raised is not None for _, raised in runs):
        return spelled_runs(runs)
    return "".join(text for text, _ in runs)


def chosen(element: Element) -> Iterator[Element]:
    """Yield the children of an element; of alternatives that say the same, those of the first."""
    for child in element:
        if child.tag == f"{MC}AlternateContent":
            first = next(iter(child), None)
            if first is not None:
                yield from chosen(first)
        else:
            yield child


def _runs(element: Element) -> Iterator[tuple[str, bool | None]]:
    for child in chosen(element):
        tag = child.tag
        if tag == f"{A}br":
            yield "\n", None
        elif tag == _MATH:
            yield " ".join(map(math_text, child)), None
        elif tag == f"{A}r" or (tag == f"{A}fld" and child.get("type") != "slidenum"):
            text = child.findtext(f"{A}t")
            if text:
                properties = child.find(f"{A}rPr")
                baseline = properties.get("baseline", "0").rstrip("%") if properties is not None else "0"
                yield text, None if baseline in ("", "0") else not baseline.startswith("-")


def _level(properties: Element | None) -> int:
    stated = properties.get("lvl", "0") if properties is not None else "0"
    return min(int(stated), _MAX_LEVEL) if stated.isdecimal() else 0


def _bullet(properties: Element | None, level: int, styles: Sequence[Element]) -> Element | None:
    """Return what states the bullet of a paragraph: its own properties, or those of its level in the nearest style."""
    name = f"{A}lvl{level + 1}pPr"
    for element in (properties, *(style.find(name) for style in styles)):
        if element is not None:
            for child in element:
                if child.tag in _BULLETS:
                    return child
    return None


def _mark(bullet: Element | None, level: int, counts: dict[int, tuple[str, int]]) -> str:
    """Return the bullet or the number of a paragraph; `counts` holds the kind and the last number of each level."""
    for deeper in [each for each in counts if each > level]:
        del counts[deeper]
    if bullet is None or bullet.tag != _BULLETS[2]:
        counts.pop(level, None)
        has_sign = bullet is not None and (bullet.tag == _BULLETS[3] or bool(bullet.get("char", "").strip()))
        return "-" if has_sign else ""
    kind, start = bullet.get("type", "arabicPeriod"), bullet.get("startAt", "1")
    key = f"{kind} {start}"
    begins = int(start) if start.isdecimal() else 1
    number = counts[level][1] + 1 if counts.get(level, ("",))[0] == key else begins
    counts[level] = (key, number)
    parts = _AUTO.fullmatch(kind)
    text = numeral(number, _KINDS[parts[1]] if parts else "1")
    ending = (parts[2] or "") if parts else "Period"
    if ending == "ParenBoth":
        return f"({text})"
    return text + {"ParenR": ")", "Period": ".", "Minus": "-"}.get(ending, "")
