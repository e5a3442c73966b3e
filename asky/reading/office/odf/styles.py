"""Styles of OpenDocument, as far as they say what is shown: raised text, hidden text, headings, lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asky.reading.office.odf.names import FO, OFFICE, SLIDE, STYLE, TABLE, TEXT, count

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_MAX_PARENTS = 20
_HEADING = re.compile(r"Heading ([1-9])")
_BOLD = ("bold", "600", "700", "800", "900")
_CODE = frozenset(("Preformatted Text", "Source Code", "HTML Preformatted", "Preformatted"))


@dataclass(frozen=True, slots=True)
class TextStyle:
    """What a style says of text: raised (True) or lowered (False), and whether it is hidden; `None` says nothing."""

    raised: bool | None = None
    is_hidden: bool | None = None


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a style says of paragraphs: the role is "title", "subtitle", "code" or ""; `level` is that of headings."""

    role: str = ""
    level: int = 0
    list_style: str = ""
    text: TextStyle = field(default_factory=TextStyle)


class OpenStyles:
    """The styles of a file: the common ones of `office:styles`, and the automatic ones of `root`."""

    def __init__(self, common: Element, root: Element) -> None:
        self._styles: dict[tuple[str, str], Element] = {}
        self._lists: dict[str, dict[int, Element]] = {}
        self._texts: dict[str, TextStyle] = {}
        self._paragraphs: dict[str, ParagraphStyle] = {}
        self._bold: dict[tuple[str, str], bool] = {}
        self.outline: dict[int, Element] = {}
        for group in (*common.iterfind(f"{OFFICE}styles"), *root.iterfind(f"{OFFICE}automatic-styles")):
            for each in group:
                if each.tag == f"{STYLE}style":
                    self._styles[each.get(f"{STYLE}family", ""), each.get(f"{STYLE}name", "")] = each
                elif each.tag == f"{TEXT}list-style":
                    self._lists[each.get(f"{STYLE}name", "")] = _levels(each)
                elif each.tag == f"{TEXT}outline-style":
                    self.outline = _levels(each)

    def list_levels(self, name: str) -> dict[int, Element]:
        """Return the levels of a list style, by number from 1."""
        return self._lists.get(name, {})

    def text(self, name: str) -> TextStyle:
        """Return what a style of spans says."""
        if name not in self._texts:
            self._texts[name] = self._text_of("text", name)
        return self._texts[name]

    def paragraph(self, name: str) -> ParagraphStyle:
        """Return what a style of paragraphs says."""
        if name not in self._paragraphs:
            self._paragraphs[name] = self._paragraph(name)
        return self._paragraphs[name]

    def is_hidden(self, family: str, name: str) -> bool:
        """Return whether a style hides a sheet, or a slide."""
        for style in self._chain(family, name):
            for properties in style:
                shown = properties.get(f"{TABLE}display"), properties.get(f"{SLIDE}visibility")
                if shown != (None, None):
                    return "false" in shown[:1] or "hidden" in shown[1:]
        return False

    def property(self, family: str, name: str, attribute: str) -> str:
        """Return what a style or those that it rests on state for an attribute; "" if none does."""
        for style in self._chain(family, name):
            for properties in style:
                stated = properties.get(attribute)
                if stated is not None:
                    return str(stated)
        return ""

    def is_bold(self, family: str, name: str) -> bool:
        """Return whether a style of paragraphs or spans is bold."""
        if (family, name) not in self._bold:
            self._bold[family, name] = self.property(family, name, f"{FO}font-weight") in _BOLD
        return self._bold[family, name]

    def masters(self) -> Iterator[str]:
        """Yield the names of the master pages that styles of paragraphs and tables begin."""
        for style in self._styles.values():
            if name := style.get(f"{STYLE}master-page-name"):
                yield name

    def _chain(self, family: str, name: str) -> Iterator[Element]:
        for _ in range(_MAX_PARENTS):
            style = self._styles.get((family, name))
            if style is None:
                return
            yield style
            name = style.get(f"{STYLE}parent-style-name", "")

    def _text_of(self, family: str, name: str) -> TextStyle:
        raised = is_hidden = None
        for style in self._chain(family, name):
            properties = style.find(f"{STYLE}text-properties")
            if properties is None:
                continue
            place = properties.get(f"{STYLE}text-position", "")
            if raised is None and place and not place.startswith(("0%", "0 ")):
                raised = not place.startswith(("sub", "-"))
            shown = properties.get(f"{TEXT}display")
            if is_hidden is None and shown is not None:
                is_hidden = shown == "none"
        return TextStyle(raised, is_hidden)

    def _paragraph(self, name: str) -> ParagraphStyle:
        role, level, list_style = "", 0, None
        for style in self._chain("paragraph", name):
            stated = style.get(f"{STYLE}name", "")
            shown = style.get(f"{STYLE}display-name") or stated.replace("_20_", " ")
            if not role:
                role = shown.lower() if shown in ("Title", "Subtitle") else "code" if shown in _CODE else ""
            level = level or count(style, f"{STYLE}default-outline-level", 0, 10)
            if not level and (named := _HEADING.fullmatch(shown)):  # a style that another program has made
                level = int(named[1])
            if list_style is None:
                list_style = style.get(f"{STYLE}list-style-name")
        if name in ("Title", "Subtitle") and not role:
            role = name.lower()  # a style that the file does not hold
        return ParagraphStyle(role, level, list_style or "", self._text_of("paragraph", name))


def _levels(style: Element) -> dict[int, Element]:
    return {count(each, f"{TEXT}level"): each for each in style if each.get(f"{TEXT}level")}
