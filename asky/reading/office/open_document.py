"""Files of OpenDocument: headings, slides and sheets as sections, tables as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.office.archive import UnreadableOffice
from asky.reading.office.blocks import OfficeBlocks
from asky.reading.office.charts import series_lines
from asky.reading.office.math import math_text
from asky.reading.office.odf.charts import ChartCells, read_chart
from asky.reading.office.odf.inline import Anchored
from asky.reading.office.odf.names import OFFICE, STYLE, local
from asky.reading.office.odf.sheets import write_sheets
from asky.reading.office.odf.slides import OpenSlides
from asky.reading.office.odf.source import OpenSource
from asky.reading.office.odf.styles import OpenStyles
from asky.reading.office.odf.text import OpenText
from asky.reading.office.workbook.layout import RowMarks
from asky.values import Document

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_TYPE = "application/vnd.oasis.opendocument"
_HEADS = ("header", "header-first", "header-left")
_FEET = ("footer", "footer-first", "footer-left")


def read(data: bytes, name: str) -> Document:
    """Return what a text, a workbook, a presentation or a drawing shows, with all changes accepted.

    Heads of pages come first; footnotes follow their paragraph, endnotes, feet of pages and comments the text; comments
    on a sheet or a slide follow it. Hidden sheets, rows, columns and slides are marked. Hidden text, tables of contents
    and texts of templates are left out. Raises SourceUnreadable: encrypted, unsupported, too_large, failed.
    """
    return _read(data, name, _TYPE, is_flat=False)


def read_flat(data: bytes, name: str) -> Document:
    """Return what a file shows that holds all in one XML text; see `read`."""
    return _read(data, name, f"{_TYPE}.flat", is_flat=True)


def _read(data: bytes, name: str, media_type: str, *, is_flat: bool) -> Document:
    builder = RowMarks()
    with UnreadableOffice(name):
        source = OpenSource(data, name, is_flat=is_flat)
        try:
            title = _write(source, OfficeBlocks(builder))
        except SourceUnreadable as error:
            raise SourceUnreadable(f"{name}: {error.message}", verdict=error.verdict) from None
        facts = source.facts()
    return builder.build(media_type, title=facts.pop("title", "") or title, metadata=facts)


def _write(source: OpenSource, blocks: OfficeBlocks) -> str:
    """Write the body of a file, and return the title that it shows."""
    anchored = Anchored()
    text = OpenText(source, OpenStyles(source.styles, source.content), blocks, anchored)
    body = source.body
    if body is None:
        blocks.paragraph(math_text(source.content))  # a formula has no body
        return ""
    kind = local(body)
    if kind == "spreadsheet":
        write_sheets(body, text)
        return ""
    if kind in ("presentation", "drawing"):
        slides = OpenSlides(body, text)
        slides.write()
        return slides.title
    if kind == "chart":
        for line in series_lines(*read_chart(body, ChartCells())):
            blocks.item(line)
        return ""
    _write_text(source, body, text, anchored)
    return text.title


def _write_text(source: OpenSource, body: Element, text: OpenText, anchored: Anchored) -> None:
    blocks = text.blocks
    margins = OpenText(source, OpenStyles(source.styles, source.styles), blocks, anchored)
    pages = list(_masters(source, text.styles))
    for line in _lines(pages, _HEADS, margins):
        blocks.paragraph(line)
    text.write(body)
    for mark, said in text.endnotes:
        blocks.paragraph(f"Endnote {mark}: {said}")
    for line in _lines(pages, _FEET, margins):
        blocks.paragraph(line)
    for line in text.remarks():
        blocks.item(line)
    blocks.close()


def _masters(source: OpenSource, styles: OpenStyles) -> Iterator[Element]:
    """Yield the master pages that a text uses: the first, and those that its styles begin or that follow them."""
    every = {
        each.get(f"{STYLE}name", ""): each
        for each in source.styles.iterfind(f"{OFFICE}master-styles/{STYLE}master-page")
    }
    waiting = [*every][:1] + list(styles.masters())
    seen: set[str] = set()
    while waiting:
        name = waiting.pop(0)
        if name in every and name not in seen:
            seen.add(name)
            yield every[name]
            waiting.append(every[name].get(f"{STYLE}next-style-name", ""))


def _lines(pages: list[Element], kinds: tuple[str, ...], margins: OpenText) -> Iterator[str]:
    """Yield the lines of the heads or the feet of pages, each once."""
    seen: set[str] = set()
    for page in pages:
        for kind in kinds:
            for part in page.iterchildren(f"{STYLE}{kind}"):
                for line in margins.margins(part) if part.get(f"{STYLE}display") != "false" else ():
                    if line not in seen:
                        seen.add(line)
                        yield line
