"""Iterative conversion of the extractor's tree to text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asky.reading.html.blocks import BlockWriter
from asky.reading.text_builder import TextBuilder

if TYPE_CHECKING:
    from lxml.etree import _Element

_INLINE = frozenset({"hi", "ref", "del", "graphic"})
_TEXT_BLOCKS = frozenset({"p", "head", "quote", "item"})


def render(body: _Element, builder: TextBuilder) -> None:
    """Write a tree of head, p, list, item, table, row, cell, quote, code and lb; other elements are plain blocks."""
    from lxml import etree  # 25 ms: only if a page is read

    writer = BlockWriter(builder)
    renderer = _Renderer(writer)
    for event, element in etree.iterwalk(body, events=("start", "end")):
        if event == "start":
            renderer.start(element)
            text = element.text
        else:
            renderer.end(element)
            text = element.tail if element is not body else None
        if text:
            writer.write(text)
    writer.close(0)


class _Renderer:
    def __init__(self, writer: BlockWriter) -> None:
        self._writer = writer
        self._lists: list[int | None] = []  # per open list: the number of its last item, `None` for bullets
        self._cells = 0
        self._names = 0  # cells of the open row that are marked as heads
        self._text_blocks = 0
        self._code = 0

    def start(self, element: _Element) -> None:
        tag = str(element.tag)
        if tag == "cell":
            self._cells += 1
            self._names += element.get("role") == "head"
            self._writer.part_cells()
        elif self._cells:
            self._space(tag)
        elif tag == "lb":
            self._writer.break_line()
        elif tag == "code":
            self._open_code()
        elif tag == "list":
            self._writer.close(1 if self._lists else 2)
            self._lists.append(0 if element.get("rend") == "ol" else None)
        elif tag not in _INLINE:
            self._text_blocks += tag in _TEXT_BLOCKS
            self._open_block(tag, element)

    def end(self, element: _Element) -> None:
        tag = str(element.tag)
        if tag == "cell":
            self._cells -= 1
        elif self._cells:
            self._space(tag)
        elif tag == "code":
            self._close_code()
        elif tag == "list":
            self._lists.pop()
            self._writer.close(1 if self._lists else 2)
        elif tag not in _INLINE and tag != "lb":
            self._text_blocks -= tag in _TEXT_BLOCKS
            self._writer.close(_gap(tag))
            if tag == "row":
                self._end_row(element)

    def _end_row(self, row: _Element) -> None:
        # A caption is a row of one head.
        if self._names > 1:
            self._writer.rule(len(row))
        self._names = 0

    def _space(self, tag: str) -> None:
        # A block within a cell must not end its row.
        if tag not in _INLINE:
            self._writer.write(" ")

    def _open_block(self, tag: str, element: _Element) -> None:
        if tag == "head":
            rend = element.get("rend") or ""
            self._writer.open(2, heading=int(rend[1]) if rend[1:2] in tuple("123456") else 2)
        elif tag == "item":
            self._writer.open(1, prefix=self._next_mark())
        else:
            self._writer.open(_gap(tag))

    def _next_mark(self) -> str:
        if not self._lists:
            return "- "
        indent = "  " * (len(self._lists) - 1)
        last = self._lists[-1]
        if last is None:
            return f"{indent}- "
        self._lists[-1] = last + 1
        return f"{indent}{last + 1}. "

    def _open_code(self) -> None:
        # Code within a paragraph is inline.
        if not self._code and not self._text_blocks:
            self._writer.open(2, preformatted=True)
        self._code += 1

    def _close_code(self) -> None:
        self._code -= 1
        if not self._code and not self._text_blocks:
            self._writer.close(2)


def _gap(tag: str) -> int:
    return 1 if tag in ("row", "item") else 2
