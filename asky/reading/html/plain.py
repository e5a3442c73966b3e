"""The visible text of a page's elements as blocks, without distinguishing content."""

from __future__ import annotations

from collections.abc import Mapping
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
_OPENINGS = {tag: (gap, "- " if tag == "li" else "", _HEADINGS.get(tag, 0), tag == "pre") for tag, gap in _GAPS.items()}
_CELLS = frozenset({"td", "th"})
SHAPING = frozenset({*_GAPS, *_CELLS, "br"})
"""Tags that begin or end a block, a cell or a line. Most elements of a page have others."""


class PlainText:
    """Converts the tags and text of a page to blocks, in order.

    The caller leaves out what is not to be read: `SKIPPED` elements and hidden ones. With `rules`, a line stands below
    each row of `th`, which then has to name all the columns.
    """

    def __init__(self, *, rules: bool = False) -> None:
        self.builder = TextBuilder()
        self.writer = BlockWriter(self.builder)
        self._rules = rules
        self._names = 0  # cells of the open row if all are `th`

    def start(self, tag: str) -> None:
        """Handle the start of an element."""
        opening = _OPENINGS.get(tag)
        if opening is not None:
            self.writer.open(*opening)
            self._names = 0
        elif tag in _CELLS:
            self.writer.part_cells()
            self._names += tag == "th"
        elif tag == "br":
            self.writer.break_line()

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        gap = _GAPS.get(tag)
        if gap is not None:
            self.writer.close(gap)
            if tag == "tr" and self._rules and self._names > 1:
                self.writer.rule(self._names)
                self._names = 0


def write_tree(tree: HtmlElement) -> TextBuilder:
    """Return the text of a tree without hidden elements, whose tables are arranged; `SKIPPED` elements are left out."""
    from lxml import etree  # 25 ms: only if a page is read

    plain = PlainText(rules=True)
    writer = plain.writer
    walk = etree.iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        if event == "end":
            if tag in SHAPING:
                plain.end(tag)
            text = element.tail if element is not tree else None
        elif tag in SKIPPED:
            walk.skip_subtree()
            continue
        else:
            if tag in SHAPING:
                plain.start(tag)
            text = element.text
        if text:
            writer.write(text)
    writer.close(0)
    return plain.builder


def attribute(attributes: Mapping[str, str], name: str) -> str:
    """Return an attribute without surrounding white space; empty if it is missing or has no value."""
    return (attributes.get(name) or "").strip()
