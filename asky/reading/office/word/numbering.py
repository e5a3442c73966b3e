"""The numbers of lists and headings as Word shows them: counted in the order of the text, never stored in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.reading.office.word.names import MC, W, is_on, number, switch, value
from asky.reading.office.word.number_forms import counted_form

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
_MAX_CHARS = 60
_BULLET = "- "


@dataclass(frozen=True, slots=True)
class ListLevel:
    """A level of a list: how its number is written, and after which higher level it starts again (0: never)."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    is_legal: bool = False
    restart: int | None = None
    after: str = " "
    style: str = ""
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class _List:
    abstract: str
    levels: dict[int, ListLevel]
    starts: dict[int, int]


class Numbering:
    """The lists of a document and their counters; `style_list` returns the list that a style stands for."""

    def __init__(self, root: Element | None, style_list: Callable[[str], str | None]) -> None:
        self._abstract: dict[str, Element] = {}
        self._numbers: dict[str, Element] = {}
        for each in root if root is not None else ():
            if each.tag == f"{W}abstractNum":
                self._abstract[each.get(f"{W}abstractNumId", "")] = each
            elif each.tag == f"{W}num":
                self._numbers[each.get(f"{W}numId", "")] = each
        self._style_list = style_list
        self._lists: dict[str, _List | None] = {}
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[str] = set()

    def level_of(self, list_id: str, styles: tuple[str, ...]) -> int | None:
        """Return the level of a list that names one of these styles as its own."""
        found = self._list(list_id)
        for style in styles if found is not None else ():
            for level, each in found.levels.items() if found is not None else ():
                if each.style == style:
                    return level
        return None

    def label(self, list_id: str, level: int) -> str:
        """Count a paragraph and return its number with what parts it from the text, "- " for a bullet, or ""."""
        found = self._list(list_id)
        if found is None:
            return _BULLET if list_id not in ("", "0") else ""
        level = max(0, min(level, _LEVELS - 1))
        counts = self._counts.setdefault(found.abstract, [None] * _LEVELS)
        if list_id not in self._begun:
            self._begun.add(list_id)
            for each in found.starts:
                counts[each] = None
        before = counts[level]
        counts[level] = _start(found, level) if before is None else before + 1
        for deeper in range(level + 1, _LEVELS):
            restart = found.levels.get(deeper, ListLevel()).restart
            if restart is None or level < restart:
                counts[deeper] = None
        return _written(found, level, counts)

    def _list(self, list_id: str) -> _List | None:
        if list_id not in self._lists:
            self._lists[list_id] = self._make(list_id)
        return self._lists[list_id]

    def _make(self, list_id: str) -> _List | None:
        stated = self._numbers.get(list_id)
        if stated is None:
            return None
        abstract = value(stated, "abstractNumId") or ""
        for _ in range(_LEVELS):  # a list may stand for that of a style, which may do so too
            linked = value(self._abstract.get(abstract), "numStyleLink")
            other = self._numbers.get(self._style_list(linked) or "") if linked is not None else None
            if other is None:
                break
            abstract = value(other, "abstractNumId") or ""
        levels: dict[int, ListLevel] = {}
        starts: dict[int, int] = {}
        root = self._abstract.get(abstract)
        for each in root.iterchildren(f"{W}lvl") if root is not None else ():
            levels[number(each.get(f"{W}ilvl"))] = _level(each)
        for each in stated.iterchildren(f"{W}lvlOverride"):
            place = number(each.get(f"{W}ilvl"))
            if (own := each.find(f"{W}lvl")) is not None:
                levels[place] = _level(own)
            if (start := value(each, "startOverride")) is not None and 0 <= place < _LEVELS:
                starts[place] = number(start, 1)
        return _List(abstract, levels, starts)


def _level(element: Element) -> ListLevel:
    form, text = value(element, "numFmt") or "decimal", value(element, "lvlText") or ""
    custom = element.find(f"{MC}AlternateContent/{MC}Choice/{W}numFmt")
    if custom is not None and custom.get(f"{W}val") == "custom":
        form = custom.get(f"{W}format") or "decimal"
    restart, after = value(element, "lvlRestart"), value(element, "suff")
    legal = element.find(f"{W}isLgl")
    return ListLevel(
        start=number(value(element, "start"), 0 if element.find(f"{W}start") is None else 1),
        form=form,
        text=text[:_MAX_CHARS],
        is_legal=legal is not None and is_on(legal),
        restart=number(restart) if restart is not None else None,
        after="" if after == "nothing" and not text[-1:].isascii() else " ",  # "第%1条", and no "1.Terms"
        style=value(element, "pStyle") or "",
        is_hidden=bool(switch(element.find(f"{W}rPr"), "vanish")),
    )


def _start(found: _List, level: int) -> int:
    return found.starts.get(level, found.levels.get(level, ListLevel()).start)


def _written(found: _List, level: int, counts: list[int | None]) -> str:
    own = found.levels.get(level)
    if own is None or own.is_hidden:
        return ""
    if own.form == "bullet":
        is_word = sum(map(str.isalnum, own.text)) > 1  # "Note:", and no letter of a font of signs
        return own.text + own.after if is_word else _BULLET if own.text.strip() else ""

    def counted(place: re.Match[str]) -> str:
        at = int(place[1]) - 1
        stated = found.levels.get(at, ListLevel())
        count = counts[at]
        return counted_form(
            _start(found, at) if count is None else count,
            "decimal" if own.is_legal and stated.form != "none" else stated.form,
        )

    written = _PLACE.sub(counted, own.text).strip()
    return written + own.after if any(map(str.isalnum, written)) else ""
