"""The shapes of a slide: their texts, tables, charts, diagrams and pictures, in the order in which they are drawn."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from asky.reading.office.archive import Package
from asky.reading.office.blocks import OfficeBlocks, picture
from asky.reading.office.charts import chart_lines
from asky.reading.office.diagrams import diagram_lines
from asky.reading.office.drawing import A, ShapeLine, chosen, paragraphs
from asky.reading.office.slide_styles import MARGINS, TITLES, P, SlideStyles, placeholder
from asky.reading.tables.cells import GridCell
from asky.reading.tables.rows import add_table

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_YES = ("1", "true")
_FIELDS = 2  # columns of a table that is a list of names and values
_NO_OUTLINE = ("dt", "hdr", "sldNum")


class Shapes:
    """The content of one slide.

    `title` is the text of the first title that has one, which may be that of a title slide; `margins` the footers and
    dates; `texts` what each shape says, by id; `files` the embedded files with their names; `unread` what cannot be
    read, and why.
    """

    def __init__(self, package: Package, path: str, styles: SlideStyles) -> None:
        self._package = package
        self._path = path
        self._styles = styles
        self._relations = package.relations(path)
        self._writes: list[Callable[[OfficeBlocks], None]] = []
        self.title = ""
        self.is_title_slide = False
        self.margins: list[str] = []
        self.texts: dict[str, str] = {}
        self.files: list[tuple[str, bytes]] = []
        self.unread: list[tuple[str, str]] = []

    def take(self, tree: Element) -> None:
        """Take what is shown of the shapes in a tree, those of groups in their places."""
        waiting = list(chosen(tree))[::-1]
        while waiting:
            shape = waiting.pop()
            if not isinstance(shape.tag, str) or _is_hidden(shape):
                continue
            if shape.tag == f"{P}grpSp":
                self._describe(shape)
                waiting += list(chosen(shape))[::-1]
            elif shape.tag == f"{P}sp":
                self._text(shape)
            elif shape.tag == f"{P}graphicFrame":
                self._frame(shape)
            elif shape.tag == f"{P}pic":
                self._describe(shape)

    def write(self, blocks: OfficeBlocks) -> None:
        """Write everything but the title and what stands on the margins."""
        for write in self._writes:
            write(blocks)

    def _text(self, shape: Element) -> None:
        kind, index = placeholder(shape)
        body = shape.find(f"{P}txBody")
        found = paragraphs(body, self._styles.of(self._path, kind, index)) if body is not None else []
        if not found:
            if kind not in _NO_OUTLINE:
                self._describe(shape)
            return
        text = " ".join(each.text for each in found)
        self.texts[_facts(shape).get("id", "")] = text
        if kind in TITLES and not self.title:
            self.title = " ".join(text.split())
            self.is_title_slide = kind == "ctrTitle"
        elif kind in MARGINS:
            self.margins += [each.text for each in found if kind != "sldNum"]
        else:
            self._writes.append(lambda blocks: _write_paragraphs(blocks, found))

    def _frame(self, frame: Element) -> None:
        """Take what a frame shows: a table, a chart, a diagram, or an object of another program."""
        self._describe(frame)
        for data in frame.iterfind(f"{A}graphic/{A}graphicData"):
            for shown in chosen(data):
                kind = shown.tag.rpartition("}")[2] if isinstance(shown.tag, str) else ""
                if kind == "tbl":
                    self._writes.append(partial(_write_table, shown))
                elif kind == "chart":
                    self._lines(chart_lines, shown.get(f"{R}id", ""), "a chart")
                elif kind == "relIds":
                    self._lines(diagram_lines, shown.get(f"{R}dm", ""), "a diagram")
                elif kind == "oleObj":
                    self._object(shown)

    def _lines(self, read: Callable[[Package, str], list[str]], relation: str, what: str) -> None:
        from lxml.etree import XMLSyntaxError

        target = self._relations.get(relation)
        try:
            lines = read(self._package, target.target) if target is not None and not target.is_external else []
        except XMLSyntaxError:
            self.unread.append((what, "damaged"))
            return
        if lines:
            self._writes.append(lambda blocks: _write_lines(blocks, lines))

    def _object(self, element: Element) -> None:
        relation = self._relations.get(element.get(f"{R}id", ""))
        if relation is None:
            return
        name = posixpath.basename(relation.target)
        data = self._package.raw(relation.target) if not relation.is_external else None
        if relation.is_external:
            self.unread.append((name, "linked, and not in this file"))
        elif data is None or name.lower().endswith(".bin"):
            self.unread.append((name, f"an object of {element.get('progId') or 'another program'}"))
        else:
            self.files.append((name, data))

    def _describe(self, shape: Element) -> None:
        text = picture(_facts(shape).get("descr", ""))
        if text:
            self._writes.append(lambda blocks: blocks.paragraph(text))


def _facts(shape: Element) -> dict[str, str]:
    """Return the name, the id and the description of a shape, and whether it is hidden."""
    for part in shape:
        found = part.find(f"{P}cNvPr") if isinstance(part.tag, str) else None
        if found is not None:
            return {str(name): str(value) for name, value in found.attrib.items()}
    return {}


def _is_hidden(shape: Element) -> bool:
    return _facts(shape).get("hidden") in _YES


def _write_paragraphs(blocks: OfficeBlocks, found: Iterable[ShapeLine]) -> None:
    for each in found:
        if each.mark:
            blocks.item(str(each))
        else:
            blocks.paragraph(each.text)
    blocks.close()


def _write_lines(blocks: OfficeBlocks, lines: Iterable[str]) -> None:
    blocks.close()
    for line in lines:
        blocks.item(line)
    blocks.close()


def _write_table(table: Element, blocks: OfficeBlocks) -> None:
    elements = list(table.iterchildren(f"{A}tr"))
    # Programs that draw tables themselves mark the names only so.
    is_bold = [bool(cells := list(row.iterchildren(f"{A}tc"))) and all(map(_is_bold, cells)) for row in elements[:2]]
    rows = [
        [
            GridCell(
                _cell_text(cell),
                rows=_count(cell, "rowSpan"),
                columns=_count(cell, "gridSpan"),
                is_head=not number and is_bold == [True, False],
            )
            for cell in row.iterchildren(f"{A}tc")
            if cell.get("hMerge") not in _YES and cell.get("vMerge") not in _YES
        ]
        for number, row in enumerate(elements)
    ]
    properties = table.find(f"{A}tblPr")
    is_named = properties is not None and properties.get("firstRow") in _YES
    has_spans = any(cell.rows > 1 or cell.columns > 1 for row in rows[:1] for cell in row)
    # PowerPoint marks the first row of every new table. Two columns are as often names and values: the cells tell.
    is_sure = is_named and not has_spans and any(len(row) > _FIELDS for row in rows[:1])
    blocks.rows(lambda builder: add_table(builder, rows, header_rows=1 if is_sure else None))
    blocks.close()


def _is_bold(cell: Element) -> bool:
    """Return whether all text of a cell is bold, if it has any."""
    runs = [run for run in cell.iter(f"{A}r") if "".join(run.itertext()).strip()]
    properties = [run.find(f"{A}rPr") for run in runs]
    return all(each is not None and each.get("b") in _YES for each in properties)


def _cell_text(cell: Element) -> str:
    body = cell.find(f"{A}txBody")
    return "\n".join(map(str, paragraphs(body))) if body is not None else ""


def _count(cell: Element, name: str) -> int:
    stated = cell.get(name, "1")
    return int(stated) if stated.isdecimal() and len(stated) < 7 else 1
