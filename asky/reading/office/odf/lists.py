"""Numbers and bullets of lists and headings, as their styles show them (ODF 1.3, part 3, 5.3 and 16.30 to 16.34)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.reading.office.blocks import numeral
from asky.reading.office.odf.names import STYLE, TEXT, XML, count
from asky.reading.office.odf.styles import OpenStyles

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_NUMBER = (f"{TEXT}list-level-style-number", f"{TEXT}outline-level-style")


class ListCounter:
    """The last number of each level of a list, from 1."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}

    def step(self, level: int, levels: dict[int, Element], start: int | None = None) -> str:
        """Count an item of a level, and return its number as its style shows it; "" if that shows none."""
        style = levels.get(level)
        for deeper in [each for each in self._numbers if each > level]:
            del self._numbers[deeper]
        first = count(style, f"{TEXT}start-value") if style is not None else 1
        self._numbers[level] = start if start is not None else self._numbers.get(level, first - 1) + 1
        if style is None or style.tag not in _NUMBER:
            return ""
        shown = [
            text
            for each in range(max(1, level - count(style, f"{TEXT}display-levels", 1, 10) + 1), level + 1)
            if (text := self._shown(each, levels))
        ]
        if not style.get(f"{STYLE}num-format"):
            return ""
        return f"{style.get(f'{STYLE}num-prefix', '')}{'.'.join(shown)}{style.get(f'{STYLE}num-suffix', '')}".strip()

    def _shown(self, level: int, levels: dict[int, Element]) -> str:
        style = levels.get(level)
        kind = style.get(f"{STYLE}num-format", "") if style is not None else ""
        if style is None or not kind:
            return ""
        number = self._numbers.get(level, count(style, f"{TEXT}start-value"))
        is_repeated = style.get(f"{STYLE}num-letter-sync") == "true"
        return numeral(number, kind * 2 if is_repeated and kind in ("a", "A") else kind)


class OpenList:
    """A list that is being read, at one of its levels; `style` is the name of its list style, "" if none is stated."""

    def __init__(self, style: str, level: int, counter: ListCounter) -> None:
        self.style = style
        self.level = level
        self.counter = counter

    def mark(self, item: Element, styles: OpenStyles, of_paragraph: str) -> str:
        """Count an item, and return its number or `-`; "" if its style shows neither.

        `of_paragraph` is the list style of its paragraph, which holds if the list has none.
        """
        levels = styles.list_levels(self.style or of_paragraph)
        start = count(item, f"{TEXT}start-value", -1)
        number = self.counter.step(self.level, levels, start if start >= 0 else None)
        written = str(item.findtext(f"{TEXT}number") or "").strip()
        if written:
            return written
        style = levels.get(self.level)
        if number or (style is not None and style.tag in _NUMBER):
            return number
        if style is not None and style.tag == f"{TEXT}list-level-style-bullet":
            return "-" if style.get(f"{TEXT}bullet-char", "").strip() else ""
        return "-"


class OpenLists:
    """The lists of a document, so that one can go on with the numbers of another."""

    def __init__(self) -> None:
        self._by_id: dict[str, ListCounter] = {}
        self._last: dict[str, ListCounter] = {}
        self.outline = ListCounter()

    def open(self, element: Element, outer: OpenList | None) -> OpenList:
        """Begin a list, within another or not."""
        style = element.get(f"{TEXT}style-name", outer.style if outer is not None else "")
        if outer is not None:
            return OpenList(style, outer.level + 1, outer.counter)
        counter = self._by_id.get(element.get(f"{TEXT}continue-list", ""))
        if counter is None and element.get(f"{TEXT}continue-numbering") == "true":
            counter = self._last.get(style)
        counter = counter or ListCounter()
        self._last[style] = counter
        if name := element.get(f"{XML}id"):
            self._by_id[name] = counter
        return OpenList(style, 1, counter)
