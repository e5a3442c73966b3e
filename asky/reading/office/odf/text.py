"""The blocks of OpenDocument in their order: headings, paragraphs, lists, tables, frames, sections."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from asky.reading.embedded.file import add_file
from asky.reading.office.blocks import OfficeBlocks, picture
from asky.reading.office.charts import series_lines
from asky.reading.office.math import math_text
from asky.reading.office.odf.charts import ChartCells, read_chart
from asky.reading.office.odf.forms import shown_controls
from asky.reading.office.odf.inline import CHANGE_END, CHANGE_START, Anchored, Inline
from asky.reading.office.odf.lists import OpenList, OpenLists
from asky.reading.office.odf.names import DC, DRAW, OFFICE, SVG, TABLE, TEXT, count, local
from asky.reading.office.odf.source import OpenSource
from asky.reading.office.odf.styles import OpenStyles
from asky.reading.office.odf.tables import grid_rows, header_rows
from asky.reading.office.page_numbers import without_page_numbers
from asky.reading.tables.rows import add_table
from asky.reading.text_builder import TextBuilder
from asky.text.beside.remarks import remark

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_INDEXES = ("table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index")
_LEFT_OUT = frozenset(
    (
        *(f"{TEXT}{name}" for name in (*_INDEXES, "tracked-changes", "sequence-decls", "variable-decls")),
        *(f"{TEXT}{name}" for name in ("user-field-decls", "dde-connection-decls", "index-title-template", "number")),
        *(f"{OFFICE}{name}" for name in ("forms", "event-listeners", "scripts", "dde-source", "annotation-end")),
        f"{TABLE}calculation-settings",
        f"{SVG}title",
        f"{SVG}desc",
        f"{DRAW}enhanced-geometry",
        f"{DRAW}page-thumbnail",
        f"{DRAW}glue-point",
    )
)
_MAX_INDENT = 8


class OpenText:
    """Writes what a part of a document shows into `blocks`.

    `anchored` collects the remarks of the document; notes and frames are written after the block that they stand in.
    """

    def __init__(self, source: OpenSource, styles: OpenStyles, blocks: OfficeBlocks, anchored: Anchored) -> None:
        self.source = source
        self.styles = styles
        self.blocks = blocks
        self.anchored = anchored
        self.endnotes: list[tuple[str, str]] = []
        self.title = ""
        self._inline = Inline(source, styles, anchored)
        self._lists = OpenLists()
        self._controls = shown_controls(source.content)
        self._chart_cells = ChartCells(source.content)
        self._in_cells = 0
        self._writers: dict[str, Callable[[Element], None]] = {
            f"{TEXT}p": self._paragraph,
            f"{TEXT}h": self._paragraph,
            f"{TEXT}list": lambda element: self._list(element, None),
            f"{TEXT}section": self._section,
            f"{TABLE}table": self.table,
            f"{OFFICE}annotation": anchored.add_remark,
            CHANGE_START: self._inline.begin_change,
            CHANGE_END: self._inline.end_change,
            f"{DRAW}frame": self._frame,
            f"{DRAW}g": self._shape,
            f"{DRAW}control": self._control,
        }

    def write(self, element: Element) -> None:
        """Write the blocks in an element."""
        for child in element:
            tag = child.tag
            write = self._writers.get(tag)
            if write is not None:
                write(child)
            elif isinstance(tag, str) and tag not in _LEFT_OUT:
                if tag.startswith(DRAW):
                    self._shape(child)
                else:
                    self.write(child)

    def write_one(self, element: Element) -> None:
        """Write one shape or other block."""
        write = self._writers.get(element.tag)
        if write is not None:
            write(element)
        elif element.tag not in _LEFT_OUT:
            self._shape(element)

    def written(self, element: Element) -> str:
        """Return the blocks in an element as text of their own, one a line: of a cell, a note, a remark.

        The notes in it wait for the end of the block that it belongs to.
        """
        if len(element) == 1 and element[0].tag == f"{TEXT}p" and not len(element[0]):
            return self._inline.text(element[0]).strip()
        outer, self.blocks = self.blocks, OfficeBlocks(TextBuilder())
        self._in_cells += 1
        try:
            self.write(element)
            text = self.blocks.builder.text()
            outer.builder.invisible += self.blocks.builder.invisible
            outer.builder.unread += self.blocks.builder.unread
        finally:
            self.blocks = outer
            self._in_cells -= 1
        return text.strip().replace("\n\n", "\n")

    def margins(self, element: Element) -> list[str]:
        """Return the lines of the head or the foot of a page, without the numbers of pages."""
        self._inline.marks_pages = True
        lines = self.written(element).split("\n")
        self._inline.marks_pages = False
        return [line for each in lines if (line := without_page_numbers(each))]

    def remarks(self) -> Iterator[str]:
        """Yield the remarks so far as lines, each once; what they say of themselves is no remark."""
        found, self.anchored.remarks = self.anchored.remarks, []
        for element, words in found:
            about = words.text if words.has_end else ""
            text = " ".join(self.written(element).split())
            if line := remark(text, author=element.findtext(f"{DC}creator") or "", about=about):
                yield line

    def table(self, element: Element) -> None:
        """Write a table."""
        rows = grid_rows(element, self.written, self._is_bold)
        self.blocks.rows(lambda builder: add_table(builder, rows, header_rows=header_rows(element)))
        self.blocks.close()
        self._write_notes()

    def _is_bold(self, cell: Element) -> bool:
        """Return whether all text of a cell is bold."""
        for paragraph in cell.iter(f"{TEXT}p", f"{TEXT}h"):
            own = self.styles.is_bold("paragraph", paragraph.get(f"{TEXT}style-name", ""))
            if not own and (paragraph.text or "").strip():
                return False
            for part in paragraph:
                is_bold = own or self.styles.is_bold("text", part.get(f"{TEXT}style-name", ""))
                if ("".join(part.itertext()).strip() and not is_bold) or (not own and (part.tail or "").strip()):
                    return False
        return True

    def _paragraph(self, element: Element, mark: str = "", indent: str = "") -> None:
        """Write a paragraph or a heading, then what is anchored in it."""
        style = self.styles.paragraph(element.get(f"{TEXT}style-name", ""))
        waiting, self.anchored.frames = self.anchored.frames, []
        text = self._inline.text(element)
        is_code = style.role == "code"
        text = text.rstrip() if is_code else text.strip()
        level = count(element, f"{TEXT}outline-level", style.level or 1, 10) if local(element) == "h" else style.level
        if text and (level or style.role == "title"):
            self._heading(element, text, level, mark if mark != "-" else "", style.role)
        elif text and (mark or indent):
            self.blocks.item(f"{indent}{mark} {text}" if mark else f"{indent}{text}")
        elif text and is_code:
            self.blocks.item(text)
        elif text:
            self.blocks.paragraph(text)
        frames, self.anchored.frames = self.anchored.frames, waiting
        self._write_notes()
        for frame in frames:
            self.write_one(frame)

    def _heading(self, element: Element, text: str, level: int, mark: str, role: str) -> None:
        number = mark
        if local(element) == "h" and element.get(f"{TEXT}is-list-header") != "true" and not mark:
            start = count(element, f"{TEXT}start-value", -1)
            again = element.get(f"{TEXT}restart-numbering") == "true" and start >= 0
            number = self._lists.outline.step(level, self.styles.outline, start if again else None)
        number = " ".join((element.findtext(f"{TEXT}number") or number).split())
        if role == "title":
            self.title = self.title or " ".join(text.split())
        self.blocks.heading(" ".join(f"{number} {text}".split()), max(level, 1))

    def _list(self, element: Element, outer: OpenList | None) -> None:
        here = self._lists.open(element, outer)
        header = element.find(f"{TEXT}list-header")
        if header is not None:
            self._item(header, here, "")
        for item in element.iterchildren(f"{TEXT}list-item"):
            first = next((each for each in item if isinstance(each.tag, str) and each.tag != f"{TEXT}number"), None)
            if first is None or first.tag == f"{TEXT}list":
                self._item(item, here, "")
            else:
                stated = self.styles.paragraph(first.get(f"{TEXT}style-name", ""))
                self._item(item, here, here.mark(item, self.styles, stated.list_style))

    def _item(self, item: Element, here: OpenList, mark: str) -> None:
        """Write an item: its first paragraph with the mark, the others below it."""
        indent = "  " * min(here.level - 1, _MAX_INDENT)
        for child in item:
            if child.tag == f"{TEXT}list":
                self._list(child, here)
            elif child.tag in (f"{TEXT}p", f"{TEXT}h"):
                self._paragraph(child, mark, indent)
                mark, indent = "", "  " * min(here.level, _MAX_INDENT)
            elif child.tag in self._writers:
                self._writers[child.tag](child)

    def _section(self, element: Element) -> None:
        shown = element.get(f"{TEXT}display", "true")
        if shown == "none" or (shown == "condition" and element.get(f"{TEXT}is-hidden") == "true"):
            return
        self.write(element)

    def _write_notes(self) -> None:
        """Write the footnotes that stand in the last block, and keep its endnotes."""
        if self._in_cells:
            return
        notes, self.anchored.notes = self.anchored.notes, []
        for note in notes:
            body = note.find(f"{TEXT}note-body")
            citation = note.find(f"{TEXT}note-citation")
            mark = citation.get(f"{TEXT}label") or "".join(citation.itertext()) if citation is not None else ""
            text = " ".join(self.written(body).split()) if body is not None else ""
            if not text:
                continue
            if note.get(f"{TEXT}note-class") == "endnote":
                self.endnotes.append((mark.strip(), text))
            else:
                self.blocks.aside(f"Footnote {mark.strip()}: {text}")

    def _frame(self, frame: Element) -> None:
        """Write the first content of a frame that is understood: the others show the same."""
        self._describe(frame)
        for content in frame:
            kind = local(content)
            if kind in ("text-box", "image"):  # LibreOffice lets people write on a picture
                self.write(content)
            elif kind == "table":
                self.table(content)
            elif kind in ("object", "object-ole"):
                self._object(content, kind)
            elif kind not in ("plugin", "applet", "floating-frame"):
                continue
            break

    def _object(self, element: Element, kind: str) -> None:
        root = self.source.object_in(element) if kind == "object" else None
        if root is not None and local(root) == "math":
            self.blocks.paragraph(math_text(root))
            return
        chart = next(root.iter(f"{OFFICE}chart"), None) if root is not None else None
        if chart is not None:
            for line in series_lines(*read_chart(chart, self._chart_cells)):
                self.blocks.item(line)
            self.blocks.close()
            return
        path = self.source.folder_of(element)
        name = posixpath.basename(path) or "an object"
        data = self.source.file_at(path) if path and kind == "object" else None
        body = next(root.iter(f"{OFFICE}body"), None) if root is not None else None
        suffix = {"spreadsheet": ".ods", "text": ".odt", "presentation": ".odp", "drawing": ".odg"}.get(
            next((local(each) for each in body), "") if body is not None else "", ""
        )
        if data is not None and suffix:
            self.blocks.close()
            add_file(self.blocks.builder, data, f"{name}{suffix}", level=2, kind="Embedded file")
        else:
            self.blocks.builder.skip(name, "an object of another program")

    def _shape(self, shape: Element) -> None:
        self._describe(shape)
        self.write(shape)

    def _describe(self, shape: Element) -> None:
        title, description = (" ".join((shape.findtext(f"{SVG}{name}") or "").split()) for name in ("title", "desc"))
        both = f"{title}: {description}" if title and description and title not in description else description or title
        if line := picture(both):
            self.blocks.paragraph(line)

    def _control(self, element: Element) -> None:
        if text := self._controls.get(element.get(f"{DRAW}control", "")):
            self.blocks.paragraph(text)
