"""Files of RTF as text: headings as sections, tables as rows, notes behind their paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from asky.errors import SourceUnreadable
from asky.reading.office.blocks import OfficeBlocks, numeral
from asky.reading.office.page_numbers import without_page_numbers
from asky.reading.rtf.content import RtfFlow, RtfNote, RtfParagraph, RtfTable
from asky.reading.rtf.reader import RtfReader
from asky.reading.tables.rows import add_table
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_MAGIC = b"{\\rtf"
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo|rubrik|overskrift) ?([1-9])", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|contents) \d", re.IGNORECASE)
# A bullet or a number that is written as text, with a tab after it.
_BULLET = re.compile(r"[•·◦▪●○–-]\t\s*")
_NUMBER = re.compile(r"(\(?[0-9A-Za-z]{1,4}[.)])\t\s*")


def read(data: bytes, name: str) -> Document:
    """Return what a file of RTF shows, with all changes accepted.

    Heads of pages come first; footnotes and boxes follow their paragraph, endnotes, feet of pages and comments the
    text. Hidden and deleted text, tables of contents and instructions of fields are left out; pictures show their
    descriptions. Raises SourceUnreadable: unsupported if it is no RTF.
    """
    if not data.lstrip()[:5].lower().startswith(_MAGIC):
        raise SourceUnreadable(f"{name}: its content does not match its name", verdict="unsupported")
    reader = RtfReader(data)
    writer = _RtfWriter(reader)
    writer.write()
    for each in reader.unread:
        writer.builder.skip(each, "an object of another program")
    facts = reader.facts
    return writer.builder.build(
        "application/rtf",
        title=facts.get("title") or writer.title,
        metadata={"author": facts.get("author"), "subject": facts.get("subject"), "published": _day(facts)},
    )


def _day(facts: dict[str, str]) -> str:
    for kind in ("revtim", "creatim"):
        day = [facts.get(f"{kind}.{part}", "00") for part in ("yr", "mo", "dy")]
        if day[0] > "0000" and len(day[0]) == 4:
            return "-".join(day) if "00" not in day[1:] else day[0]
    return ""


class _RtfWriter:
    """Writes what a reader has found."""

    def __init__(self, reader: RtfReader) -> None:
        self.builder = TextBuilder()
        self.title = ""
        self._reader = reader
        self._blocks = OfficeBlocks(self.builder)
        self._counts = {False: 0, True: 0}  # of footnotes, and of endnotes
        self._endnotes: list[str] = []

    def write(self) -> None:
        for line in _margins(self._reader.heads):
            self._blocks.paragraph(line)
        self._flow(self._reader.body)
        for line in self._endnotes:
            self._blocks.paragraph(line)
        for line in _margins(self._reader.feet):
            self._blocks.paragraph(line)
        for line in self._reader.remarks:
            self._blocks.item(line)
        self._blocks.close()

    def _flow(self, flow: RtfFlow) -> None:
        waiting: list[RtfParagraph | RtfTable] = flow.blocks[::-1]
        while waiting:
            block = waiting.pop()
            if isinstance(block, RtfTable):
                self._table(block)
            else:
                self._paragraph(block)
            for each in block.beside:
                if isinstance(each, RtfNote):
                    self._note(each)
                elif isinstance(each, str):
                    self._blocks.paragraph(each)
            boxes = [each for each in block.beside if isinstance(each, RtfFlow)]
            waiting += [inner for box in reversed(boxes) for inner in reversed(box.blocks)]

    def _table(self, table: RtfTable) -> None:
        rows, header_rows = table.grid(), table.header_rows()
        self._blocks.rows(lambda builder: add_table(builder, rows, header_rows=header_rows))
        self._blocks.close()

    def _paragraph(self, each: RtfParagraph) -> None:
        style = self._reader.style_names.get(each.style, "").strip()
        if not each.text or _CONTENTS.fullmatch(style):
            return
        named = _HEADING.match(style)
        level = each.level or (int(named[1]) if named else 0)
        is_title = style.lower() == "title"
        if is_title:
            self.title = self.title or " ".join(each.text.split())
        if level or is_title:
            label = each.label if each.label != "-" else ""
            self._blocks.heading(" ".join(f"{label} {each.text}".split()), level or 1)
            return
        label, text = each.label, each.text
        if not label and (sign := _BULLET.match(text) or _NUMBER.match(text)):
            label, text = sign[1] if sign.re is _NUMBER else "-", text[sign.end() :]
        if label:
            self._blocks.item(f"{'  ' * each.depth}{label} {text}")
        else:
            self._blocks.paragraph(text)

    def _note(self, note: RtfNote) -> None:
        text = " ".join(" ".join(note.flow.lines()).split())
        if not text:
            return
        self._counts[note.is_endnote] += 1
        mark = numeral(self._counts[note.is_endnote], self._reader.number_kinds["aftn" if note.is_endnote else "ftn"])
        if note.is_endnote:
            self._endnotes.append(f"Endnote {mark}: {text}")
        else:
            self._blocks.aside(f"Footnote {mark}: {text}")


def _margins(flows: Sequence[RtfFlow]) -> Iterator[str]:
    """Yield the lines of heads or feet, each once, without the numbers of pages."""
    seen: set[str] = set()
    for flow in flows:
        for each in flow.lines():
            line = without_page_numbers(each)
            if line and line not in seen:
                seen.add(line)
                yield line
