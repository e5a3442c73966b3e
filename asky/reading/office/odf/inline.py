"""The text of a paragraph of OpenDocument as it is shown, and what is anchored in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.reading.office.math import math_text
from asky.reading.office.odf.names import DRAW, MATH, OFFICE, TEXT, count, local
from asky.reading.office.odf.source import OpenSource
from asky.reading.office.odf.styles import OpenStyles
from asky.reading.office.page_numbers import PAGE_SIGN
from asky.reading.raised.exponents import spelled_runs

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_MAX_SPACES = 80  # that an element can stand for; a file can state any number
_MAX_ABOUT = 400
_MAX_OPEN = 50  # ranges that have begun
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_SPACE = re.compile(r"[ \t\r\n]+")
_SPAN = f"{TEXT}span"
_S, _TAB, _BREAK = f"{TEXT}s", f"{TEXT}tab", f"{TEXT}line-break"
_NOTE, _REMARK, _REMARK_END = f"{TEXT}note", f"{OFFICE}annotation", f"{OFFICE}annotation-end"
CHANGE_START, CHANGE_END = f"{TEXT}change-start", f"{TEXT}change-end"
"""Where a change begins and ends in the text."""

_PAGES = frozenset((f"{TEXT}page-number", f"{TEXT}page-count"))
_NOTHING = frozenset(
    f"{TEXT}{name}"
    for name in (
        "placeholder",
        "script",
        "ruby-text",
        "number",
        "tracked-changes",
        "deletion",
        "toc-mark",
        "user-index-mark",
        "alphabetical-index-mark",
        "note-citation",
    )
) | {f"{OFFICE}event-listeners", f"{OFFICE}script", f"{OFFICE}binary-data"}


@dataclass(slots=True)
class RemarkWords:
    """The words that a remark is on, which hold once their end has come."""

    text: str = ""
    has_end: bool = False


class Anchored:
    """What stands in paragraphs and is no text of theirs, until it is taken: frames, notes, and remarks.

    `remarks` are all so far, each with the words that it is on.
    """

    def __init__(self) -> None:
        self.frames: list[Element] = []
        self.notes: list[Element] = []
        self.remarks: list[tuple[Element, RemarkWords]] = []
        self._open: dict[str, RemarkWords] = {}

    def add_remark(self, element: Element) -> None:
        """Add a remark; the words that follow are those that it is on, if it has an end."""
        words = RemarkWords()
        self.remarks.append((element, words))
        name = element.get(f"{OFFICE}name")
        if name and len(self._open) < _MAX_OPEN:
            self._open[name] = words

    def end_remark(self, name: str) -> None:
        """End the words that a remark is on."""
        words = self._open.pop(name, None)
        if words is not None:
            words.has_end = True

    def hear(self, text: str) -> None:
        """Add text to the words of the remarks that have begun."""
        for words in self._open.values():
            if len(words.text) < _MAX_ABOUT:
                words.text += text


class Inline:
    """Reads the text of paragraphs; frames, notes and remarks in them go to `anchored`.

    With `marks_pages`, the number of a page is PAGE_SIGN.
    """

    def __init__(self, source: OpenSource, styles: OpenStyles, anchored: Anchored) -> None:
        self._source = source
        self._styles = styles
        self._anchored = anchored
        self._runs: list[tuple[str, bool | None]] = []
        self._deletions = _deletions_in_place(source.content)
        self._deleting: set[str] = set()  # the deletions that have begun, in whose words the text is
        self.marks_pages = False
        self._is_raised = self._is_hidden = False
        self._after_space = True
        self._elements: dict[str, Callable[[Element, bool | None], None]] = {
            _SPAN: self._span,
            _S: lambda element, raised: self._put(" " * count(element, f"{TEXT}c", 1, _MAX_SPACES), raised),
            _TAB: lambda _, raised: self._put("\t", raised),
            _BREAK: lambda _, raised: self._put("\n", raised),
            _NOTE: lambda element, _: self._anchored.notes.append(element),
            _REMARK: lambda element, _: self._anchored.add_remark(element),
            _REMARK_END: lambda element, _: self._anchored.end_remark(element.get(f"{OFFICE}name", "")),
            f"{TEXT}ruby": self._ruby,
            f"{TEXT}hidden-text": self._hidden_field,
            f"{TEXT}hidden-paragraph": self._hide,
            CHANGE_START: lambda element, _: self.begin_change(element),
            CHANGE_END: lambda element, _: self.end_change(element),
            MATH: lambda element, raised: self._put(math_text(element), raised),
        }

    def begin_change(self, element: Element) -> None:
        """Begin a change; of a deletion, the words up to its end are not shown."""
        name = element.get(f"{TEXT}change-id", "")
        if name in self._deletions:
            self._deleting.add(name)

    def end_change(self, element: Element) -> None:
        """End a change."""
        self._deleting.discard(element.get(f"{TEXT}change-id", ""))

    def text(self, paragraph: Element) -> str:
        """Return the text of a paragraph, with its exponents as `^...`; "" if it is hidden."""
        stated = paragraph.get(f"{TEXT}style-name", "")
        if self._styles.paragraph(stated).text.is_hidden:
            return ""
        if not len(paragraph) and not self._deleting:
            text = _SPACE.sub(" ", paragraph.text or "").lstrip(" ")
            self._anchored.hear(text)
            return text
        self._runs, self._is_raised, self._after_space = [], False, True
        self._is_hidden = False
        self._walk(paragraph, None)
        if self._is_hidden:
            return ""
        self._anchored.hear(" ")
        if self._is_raised:
            return spelled_runs(self._runs)
        return "".join(text for text, _ in self._runs)

    def _walk(self, element: Element, raised: bool | None) -> None:
        if element.text:
            self._chars(element.text, raised)
        for child in element:
            tag = child.tag
            read = self._elements.get(tag)
            if self._deleting and tag != CHANGE_END:
                self._walk(child, raised)
            elif read is not None:
                read(child, raised)
            elif isinstance(tag, str) and tag not in _NOTHING:
                if self.marks_pages and tag in _PAGES:
                    self._put(PAGE_SIGN, raised)
                elif tag.startswith(DRAW) and tag != f"{DRAW}a":
                    self._frame(child, raised)
                else:
                    self._walk(child, raised)
            if child.tail:
                self._chars(child.tail, raised)

    def _chars(self, text: str, raised: bool | None) -> None:
        """Add characters of the file, in which white space is one space."""
        shown = _SPACE.sub(" ", text)
        if self._after_space and shown[:1] == " ":
            shown = shown[1:]
        if shown:
            self._put(shown, raised)
            self._after_space = shown[-1] == " "

    def _put(self, text: str, raised: bool | None) -> None:
        if self._deleting:
            return
        self._runs.append((text, raised))
        self._is_raised = self._is_raised or raised is not None
        self._after_space = False
        self._anchored.hear(text)

    def _span(self, element: Element, raised: bool | None) -> None:
        style = self._styles.text(element.get(f"{TEXT}style-name", ""))
        if not style.is_hidden:
            self._walk(element, raised if style.raised is None else style.raised)

    def _ruby(self, element: Element, raised: bool | None) -> None:
        for base in element.iterchildren(f"{TEXT}ruby-base"):
            self._walk(base, raised)
        reading = " ".join("".join(each.itertext()) for each in element.iterchildren(f"{TEXT}ruby-text")).strip()
        if reading:
            self._put(f" ({reading})", raised)

    def _hidden_field(self, element: Element, raised: bool | None) -> None:
        if element.get(f"{TEXT}is-hidden") == "false":
            self._walk(element, raised)

    def _hide(self, element: Element, _: bool | None) -> None:
        self._is_hidden = self._is_hidden or element.get(f"{TEXT}is-hidden") == "true"

    def _frame(self, element: Element, raised: bool | None) -> None:
        """Add a formula in its place; other frames wait."""
        for shown in element.iterchildren(f"{DRAW}object"):
            root = self._source.object_in(shown)
            if root is not None and local(root) == "math":
                self._put(math_text(root), raised)
                return
        self._anchored.frames.append(element)


def _deletions_in_place(content: Element) -> frozenset[str]:
    """Return the ids of the deletions whose words stand in the text.

    OpenDocument keeps them apart, but LibreOffice leaves them in their places if it shows the changes.
    """
    found = set()
    for region in content.iter(f"{TEXT}changed-region"):
        deletion = region.find(f"{TEXT}deletion")
        if deletion is not None and not any(each.tag != f"{OFFICE}change-info" for each in deletion):
            found |= {region.get(f"{TEXT}id", ""), region.get(_XML_ID, "")}
    return frozenset(found - {""})
