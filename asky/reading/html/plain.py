"""The visible text of a page's elements as blocks, without distinguishing content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asky.reading.html.blocks import BlockWriter
from asky.reading.text_builder import TextBuilder

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_SKIPPED_TAGS = (
    "audio button canvas datalist iframe math noembed noframes noscript object script select style svg template"
    " textarea video"
)
_PARTED_TAGS = "p blockquote pre ul ol dl table figure hr article section main header footer nav aside form"
_BLOCK_TAGS = (
    "address body caption center dd details dir div dt fieldset figcaption html legend li menu option summary tbody"
    " tfoot thead tr"
)
SKIPPED = frozenset(_SKIPPED_TAGS.split())
_PARTED = frozenset(_PARTED_TAGS.split())
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_GAPS = {**dict.fromkeys(_BLOCKS, 1), **dict.fromkeys((*_PARTED, *_HEADINGS), 2)}
_CELLS = frozenset({"td", "th"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_NAMING = frozenset({"li", "dt", "dd", "tr", "pre", "blockquote", "figcaption"})
_ASIDE = frozenset({"table", "pre", *_HEADINGS})  # apart from what is above them in lists too
_INNER_GAPS = {tag: gap if tag in _ASIDE else 1 for tag, gap in _GAPS.items()}
_SPECIAL = frozenset({*_LISTS, *_NAMING, "details", "summary"})
SHAPING = frozenset({*_GAPS, *_CELLS, "br", "del", "s", "strike", "input"})
"""Tags that begin or end a block, a cell or a line, or are shown in signs. Most elements of a page have others."""

_TERM_CHARS = 80  # a longer one is no name of what follows it
STRUCK = "~~"
"""The sign around struck out text, as in Markdown."""

_STRUCK_TAGS = frozenset({"del", "s", "strike"})
_FILLED = frozenset({"text", "number", "date", "time", "month", "week", "datetime-local", "email", "tel", "url", ""})
_TICKED = frozenset({"checkbox", "radio"})
_VALUE_CHARS = 1_000
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LARGEST_ROMAN = 3_999
_NUMBER_DIGITS = 9
_MAX_INDENTS = 12


@dataclass(slots=True)
class _List:
    """An open list: the number of its next item, `None` for bullets, by how much it changes, and its type."""

    number: int | None = None
    step: int = 1
    type: str = "1"

    def mark(self, own: int | None) -> str:
        """Return the mark of the next item, whose own number may be stated."""
        if self.number is None:
            return "- "
        number = self.number if own is None else own
        self.number = number + self.step
        return f"{_written(number, self.type)}. "


class PlainText:
    """Converts the tags and text of a page to blocks, in order.

    The caller leaves out what is not to be read: `SKIPPED` elements and hidden ones. An item of a numbered list has its
    number, a short term stands before its definition with a colon, the name of a folded part is a heading, struck out
    text is in `~~`, and the values of a form stand where its fields are. With `rules`, a line stands below each row of
    `th`, which then has to name all the columns.
    """

    def __init__(self, *, with_blocks: bool = False, rules: bool = False) -> None:
        self.builder = TextBuilder()
        self.writer = BlockWriter(self.builder, with_blocks=with_blocks)
        self._rules = rules
        self._names = 0  # cells of the open row if all are `th`
        self._lists: list[_List] = []
        self._kinds: list[str] = []
        self._level = 0  # of the last heading
        self._levels: list[int] = []  # per open folded part: that of the heading it is below
        self._is_term = False  # a term has ended, and its block is still open

    def text(self) -> str:
        """Return the text so far."""
        return self.builder.text()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""
        if tag in _GAPS:
            self._open(tag, attributes)
            self._names = 0
        elif tag in _CELLS:
            self.writer.part_cells()
            self._names += tag == "th"
        elif tag == "br":
            self.writer.break_line()
        elif tag == "input":
            self._fill(attributes)
        else:
            self.writer.write(STRUCK)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if tag not in _GAPS:
            if tag in _STRUCK_TAGS:
                self.writer.write(STRUCK)
        elif tag == "dt" and self.writer.is_short(_TERM_CHARS):
            self._is_term = True
        else:
            self._close(tag)
            if tag == "tr" and self._rules and self._names > 1:
                self.writer.rule(self._names)
                self._names = 0

    def _open(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in ("p", "div") and self.writer.is_joining:
            return
        level, mark = _HEADINGS.get(tag, 0), ""
        if tag in _SPECIAL:
            if tag == "dd" and self._is_term:
                self._is_term = False
                self._kinds.append(tag)
                self.writer.join(": ")
                return
            level, mark = self._open_special(tag, attributes)
        self._is_term = False
        self._level = level or self._level
        kind = self._kinds[-1] if self._kinds and not level else tag
        is_inner = len(self._lists) > (tag in _LISTS)
        self.writer.open((_INNER_GAPS if is_inner else _GAPS)[tag], mark, level, tag == "pre", kind)

    def _open_special(self, tag: str, attributes: Mapping[str, str]) -> tuple[int, str]:
        """Return the level of a heading or 0, and the mark of an item."""
        if tag in _NAMING:
            self._kinds.append(tag)
        if tag in _LISTS:
            self._lists.append(_opened(tag, attributes))
        elif tag == "li":
            own = _whole(attribute(attributes, "value"))
            mark = self._lists[-1].mark(own) if self._lists else "- "
            return 0, "  " * (min(len(self._lists), _MAX_INDENTS) - 1) + mark
        elif tag == "details":
            self._levels.append(self._level)
        elif tag == "summary":
            return min(6, max(2, (self._levels[-1] if self._levels else self._level) + 1)), ""
        return 0, ""

    def _close(self, tag: str) -> None:
        self._is_term = False
        if tag in _SPECIAL:
            if tag in _LISTS:
                del self._lists[-1:]
            elif tag in _NAMING:
                del self._kinds[-1:]
            elif tag == "details" and self._levels:
                self._level = self._levels.pop()
        kind = self._kinds[-1] if self._kinds else ""
        self.writer.close((_INNER_GAPS if self._lists else _GAPS)[tag], kind)
        if tag == "li":
            self.writer.drop_prefix()

    def _fill(self, attributes: Mapping[str, str]) -> None:
        kind = attribute(attributes, "type").lower()
        if kind in _TICKED:
            self.writer.write("[x] " if "checked" in attributes else "[ ] ")
        elif kind in _FILLED and (value := attribute(attributes, "value")):
            self.writer.join(": ")
            self.writer.write(f"{value[:_VALUE_CHARS]} ")


def write_tree(tree: HtmlElement) -> PlainText:
    """Return the text of a tree without hidden elements, whose tables are arranged, with its blocks.

    `SKIPPED` elements are left out.
    """
    from lxml import etree  # 25 ms: only if a page is read

    plain = PlainText(with_blocks=True, rules=True)
    writer = plain.writer
    links: list[bool] = []  # per open link: whether it leads to a place in the page
    walk = etree.iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        if event == "end":
            if tag in SHAPING:
                plain.end(tag)
            elif tag == "a" and links:
                links.pop()
            text = element.tail if element is not tree else None
        elif tag in SKIPPED:
            walk.skip_subtree()
            continue
        else:
            if tag in SHAPING:
                plain.start(tag, element.attrib)
            elif tag == "a":
                links.append(element.get("href", "#").startswith("#"))
            text = element.text
        if text:
            if links:
                writer.write_linked(text, is_own=links[-1])
            else:
                writer.write(text)
    writer.close(0)
    return plain


def empty(element: HtmlElement) -> None:
    """Remove the content of `element`, leaving the text after it in place.

    Removing the element would join that text to the preceding text, in quadratic time for many elements.
    """
    element.clear(keep_tail=True)
    element.tag = "span"


def attribute(attributes: Mapping[str, str], name: str) -> str:
    """Return an attribute without surrounding white space; empty if it is missing or has no value."""
    return (attributes.get(name) or "").strip()


def _opened(tag: str, attributes: Mapping[str, str]) -> _List:
    if tag != "ol":
        return _List()
    start = _whole(attribute(attributes, "start"))
    step = -1 if "reversed" in attributes else 1
    return _List(1 if start is None else start, step, attribute(attributes, "type") or "1")


def _whole(text: str) -> int | None:
    """Return a whole number of a reasonable size."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= _NUMBER_DIGITS else None


def _written(number: int, kind: str) -> str:
    """Return the number of an item as a list of that type shows it: `1`, `a`, `A`, `i` or `I`."""
    if number < 1 or kind not in ("a", "A", "i", "I") or (kind in "iI" and number > _LARGEST_ROMAN):
        return str(number)
    written = ""
    if kind in "iI":
        for value, sign in _ROMAN:
            times, number = divmod(number, value)
            written += sign * times
    else:
        while number:
            number, letter = divmod(number - 1, 26)
            written = chr(ord("a") + letter) + written
    return written.upper() if kind in "AI" else written
