"""XML that holds a text: paragraphs, headings, lists, tables and code, by what stands in a line with words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.reading.html.blocks import BlockWriter
from asky.reading.tables.cells import GridCell
from asky.reading.tables.rows import add_table
from asky.reading.text_builder import TextBuilder
from asky.text.beside.remarks import remark
from asky.text.scrub import one_line
from asky.values import Document

if TYPE_CHECKING:
    from lxml.etree import _Element

# The roots of DocBook, TEI, DITA, JATS and FictionBook.
_ROOTS = frozenset(
    {"book", "article", "chapter", "section", "refentry", "TEI", "TEI.2", "teiCorpus", "topic", "concept", "task",
     "reference", "glossentry", "FictionBook", "part", "preface", "appendix", "set"}
)  # fmt: skip
_PARAGRAPHS = frozenset({"para", "p", "simpara", "title", "head", "body", "text", "sec", "abstract", "shortdesc"})
_MIXED_SHARE = 0.2  # of the characters that stand beside elements: 0 in data, more than half in most texts
_HEADINGS = frozenset({"title", "head", "heading", "article-title"})
_NESTING = frozenset(
    {"section", "sect1", "sect2", "sect3", "sect4", "sect5", "sec", "chapter", "part", "appendix", "div", "div1",
     "div2", "div3", "div4", "topic", "concept", "task", "reference", "refsect1", "refsect2", "preface", "glossary"}
)  # fmt: skip
_ITEMS = frozenset({"listitem", "item", "li", "step", "list-item", "member", "cmd"})
_NUMBERED = frozenset({"orderedlist", "procedure", "ol", "steps"})
_LISTS = frozenset({"itemizedlist", "simplelist", "list", "ul", "substeps", "variablelist", *_NUMBERED})
_CODE = frozenset(
    {"programlisting", "screen", "literallayout", "codeblock", "pre", "eg", "verbatim", "preformat", "synopsis"}
)
_TABLES = frozenset({"table", "informaltable", "simpletable"})
_ROWS = frozenset({"row", "tr", "strow", "sthead"})
_CELLS = frozenset({"entry", "cell", "td", "th", "stentry"})
_HEADS = frozenset({"thead", "sthead"})
_NOTES = frozenset({"footnote", "note", "fn"})
_UNSEEN = frozenset({"indexterm", "binary", "prolog", "processing-meta", "graphic", "xref", "colspec"})
_REMARKS = frozenset({"remark", "draft-comment"})
_LEFT_OUT = _UNSEEN | _REMARKS
_LINE = 1
_APART = 2


def is_prose(root: _Element) -> bool:
    """Return whether an XML text is written for readers: by its root, or by words beside elements."""
    if _local(root) in _ROOTS and any(_local(each) in _PARAGRAPHS for each in root.iterdescendants()):
        return True
    mixed = total = 0
    for element in root.iter():
        if isinstance(element.tag, str):
            own = len((element.text or "").strip()) + sum(len((child.tail or "").strip()) for child in element)
            total += own
            mixed += own if len(element) else 0
    return mixed > _MIXED_SHARE * total > 0


def write_prose(root: _Element, builder: TextBuilder) -> Document:
    """Return the text of a document; remarks of its editors stand at the end, a note in brackets where it is set."""
    writer = _Writer(builder)
    writer.write(root)
    for each in writer.remarks:
        builder.add(f"\n\n{each}")
    title = writer.title
    return builder.build("application/xml", title=title)


class _Writer:
    """Writes the elements of a document as blocks, without recursion."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._blocks = BlockWriter(builder)
        self._level = 0
        self._lists: list[int | None] = []
        self.title: str | None = None
        self.remarks: list[str] = []

    def write(self, root: _Element) -> None:
        from lxml import etree

        walk = etree.iterwalk(root, events=("start", "end"))
        inline: set[_Element] = set()
        lines: dict[_Element, bool] = {}  # whether words stand beside an element's members
        for event, element in walk:
            tag = _local(element)
            if event == "end":
                if element in inline:
                    self._blocks.write("]" if tag in _NOTES else "")
                elif tag not in _LEFT_OUT and tag not in _TABLES:
                    self._close(tag)
                self._blocks.write((element.tail or "") if element is not root else "")
                continue
            parent = element.getparent()
            if tag in _REMARKS:
                self.remarks.append(remark(" ".join("".join(element.itertext()).split())))
            if tag in _LEFT_OUT:
                walk.skip_subtree()
                continue
            if element is not root and parent not in lines:
                lines[parent] = _has_words(parent)
            if element is not root and (parent in inline or lines[parent]) and tag not in _LISTS | _CODE:
                inline.add(element)
                self._blocks.write(" [" if tag in _NOTES else "")
            elif tag in _TABLES and any(_local(each) in _ROWS for each in element.iterdescendants()):
                self._table(element)
                walk.skip_subtree()
                continue
            else:
                self._open(tag, element)
            self._blocks.write(element.text or "")
        self._blocks.close(0)

    def _open(self, tag: str, element: _Element) -> None:
        self._level += tag in _NESTING
        if tag in _HEADINGS:
            text = one_line(" ".join("".join(element.itertext()).split()))
            self.title = self.title or text or None
            self._blocks.open(_APART, heading=min(6, self._level + 1))
        elif tag in _LISTS:
            self._blocks.close(_LINE if self._lists else _APART)
            kind = element.get("list-type") or element.get("type") or element.get("rend") or ""
            self._lists.append(0 if tag in _NUMBERED or kind in ("order", "ordered", "numbered", "gloss") else None)
        elif tag in _ITEMS and self._lists:
            number = self._lists[-1]
            mark = "- " if number is None else f"{number + 1}. "
            if number is not None:
                self._lists[-1] = number + 1
            self._blocks.open(_LINE, prefix="  " * (min(len(self._lists), 8) - 1) + mark)
        else:
            self._blocks.open(_LINE if self._lists else _APART, preformatted=tag in _CODE)

    def _close(self, tag: str) -> None:
        self._level -= tag in _NESTING
        if tag in _LISTS and self._lists:
            self._lists.pop()
        self._blocks.close(_LINE if self._lists else _APART)

    def _table(self, table: _Element) -> None:
        self._blocks.close(_APART)
        rows, heads = [], 0
        for element in table.iterdescendants():
            tag = _local(element)
            if tag in ("title", "caption") and element.getparent() is table:
                self._blocks.open(_APART)
                self._blocks.write(" ".join("".join(element.itertext()).split()))
                self._blocks.close(_LINE)
            elif tag in _ROWS:
                cells = [each for each in element if _local(each) in _CELLS]
                is_head = tag in _HEADS or any(_local(each) in _HEADS for each in element.iterancestors())
                rows.append([_cell(each, is_head or _local(each) == "th") for each in cells])
                heads += is_head
        self._builder.add("\n\n" if len(self._builder) else "")
        add_table(self._builder, rows, header_rows=heads or None)
        self._blocks.close(_APART)


def _cell(element: _Element, is_head: bool) -> GridCell:
    rows = int(more) + 1 if (more := element.get("morerows", "")).isdigit() else 1
    rows = int(own) if (own := element.get("rowspan", "")).isdigit() else rows
    columns = int(own) if (own := element.get("colspan", "") or element.get("cols", "")).isdigit() else 1
    return GridCell(" ".join("".join(element.itertext()).split()), rows, columns, is_head)


def _has_words(element: _Element) -> bool:
    """Return whether words stand in an element beside its members."""
    return bool((element.text or "").strip()) or any((child.tail or "").strip() for child in element)


def _local(element: _Element) -> str:
    return str(element.tag).rpartition("}")[2]
