"""The styles of a Word document, with what they inherit: headings, list numbers, hidden and raised text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.reading.office.word.names import W, number, switch, value

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_MAX_CHAIN = 50
_BODY_LEVEL = 9  # the outline level of text
# What Word calls its headings; a style's id keeps the ASCII letters alone ("berschrift1"). A name in a file that Word
# wrote is the English one, in any language; others write what their user sees.
_HEADING = re.compile(
    r"(?:heading|(?:ü|ue|u)?berschrift|titre|t[ií]?tulo|titolo|rubrik|overskrift|otsikko|kop|nag[łl]?[óo]?wek|nadpis"
    r"|заголовок|c[íi]?msor|ba[şs]?l[ıi]?k|t[íi]tol|pealkiri|virsraksts|antra[šs]t[ėe]|naslov|titlu|tiêu đề"
    r"|επικεφαλίδα|标题|標題|見出し|제목)[ _]?([1-9])",
    re.IGNORECASE,
)
RAISED = {"superscript": True, "subscript": False}


@dataclass(frozen=True, slots=True)
class WordStyle:
    """A style with what it inherits. `level` is that of a heading, from 1, or 0.

    `list_id` and `list_level` say which list numbers its paragraphs, and `list_styles` are the ids that a level of that
    list may name for this style. `is_hidden` and `is_bold` are None if nothing is said; `raised` as in `WordPiece`.
    """

    name: str = ""
    level: int = 0
    list_id: str | None = None
    list_level: int | None = None
    list_styles: tuple[str, ...] = ()
    is_hidden: bool | None = None
    is_bold: bool | None = None
    raised: bool | None = None
    marks_first_row: bool = False


_PLAIN = WordStyle()


class WordStyles:
    """The styles of a document by id; those that it does not define have what their id says."""

    def __init__(self, root: Element | None) -> None:
        self._elements: dict[str, Element] = {}
        self._made: dict[str, WordStyle] = {}
        self._default = ""
        for each in root.iterchildren(f"{W}style") if root is not None else ():
            id_ = each.get(f"{W}styleId", "")
            self._elements.setdefault(id_, each)
            if each.get(f"{W}type") == "paragraph" and each.get(f"{W}default", "0") in ("1", "true", "on"):
                self._default = id_
        defaults = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr") if root is not None else None
        self.is_hidden = bool(switch(defaults, "vanish"))

    def of_paragraph(self, id_: str | None) -> WordStyle:
        """Return the style of a paragraph; that of paragraphs that name none, for None."""
        return self.get(id_ if id_ is not None else self._default)

    def get(self, id_: str) -> WordStyle:
        """Return a style by its id."""
        made = self._made.get(id_)
        if made is None:
            made = self._made[id_] = self._make(id_)
        return made

    def list_of(self, id_: str) -> str | None:
        """Return the id of the list that a style of lists stands for."""
        return self.get(id_).list_id

    def _make(self, id_: str) -> WordStyle:
        if id_ not in self._elements:
            found = _HEADING.fullmatch(id_)
            name = "title" if id_ == "Title" else id_
            return WordStyle(name, level=int(found[1]) if found else 0) if id_ else _PLAIN
        level: int | None = None
        list_id: str | None = None
        list_level: int | None = None
        list_styles: list[str] = []
        is_hidden: bool | None = None
        is_bold: bool | None = None
        vertical: str | None = None
        marks_first = False
        for link in self._chain(id_):
            each = self._elements[link]
            block, run = each.find(f"{W}pPr"), each.find(f"{W}rPr")
            level = _level(each, block) if level is None else level
            list_styles += [link] if list_id is None else []
            if (listed := block.find(f"{W}numPr") if block is not None else None) is not None:
                list_id = value(listed, "numId") if list_id is None else list_id
                stated = value(listed, "ilvl")
                list_level = number(stated) if list_level is None and stated is not None else list_level
            is_hidden = switch(run, "vanish") if is_hidden is None else is_hidden
            is_bold = switch(run, "b") if is_bold is None else is_bold
            vertical = value(run, "vertAlign") if vertical is None else vertical
            marks_first = marks_first or _marks_first_row(each)
        return WordStyle(
            name=(value(self._elements[id_], "name") or id_).casefold(),
            level=level or 0,
            list_id=list_id,
            list_level=list_level,
            list_styles=tuple(list_styles),
            is_hidden=is_hidden,
            is_bold=is_bold,
            raised=RAISED.get(vertical or ""),
            marks_first_row=marks_first,
        )

    def _chain(self, id_: str) -> list[str]:
        """Return a style and those that it is based on, the nearest first."""
        chain = [id_]
        while len(chain) < _MAX_CHAIN:
            base = value(self._elements[chain[-1]], "basedOn")
            if base is None or base not in self._elements or base in chain:
                break
            chain.append(base)
        return chain


def _level(style: Element, block: Element | None) -> int | None:
    """Return the level of a heading that a style states, 0 for text, None if it states neither."""
    stated = value(block, "outlineLvl")
    if stated is not None:
        return outline_level(stated)
    found = _HEADING.fullmatch(value(style, "name") or "") if style.get(f"{W}type") == "paragraph" else None
    return int(found[1]) if found else None


def outline_level(stated: str) -> int:
    """Return the level of a heading, from 1, of an outline level as files state it; 0 for text."""
    level = number(stated, _BODY_LEVEL)
    return level + 1 if 0 <= level < _BODY_LEVEL else 0


def _marks_first_row(style: Element) -> bool:
    """Return whether a style of tables makes the first row bold or gives it a background."""
    for each in style.iterchildren(f"{W}tblStylePr"):
        if each.get(f"{W}type") == "firstRow":
            return bool(switch(each.find(f"{W}rPr"), "b")) or each.find(f"{W}tcPr/{W}shd") is not None
    return False
