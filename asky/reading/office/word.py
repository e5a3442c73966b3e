"""Word documents: paragraphs, lists and tables in order, headings as sections."""

from __future__ import annotations

import io
from typing import Any

from asky.reading.office.archive import UnreadableOffice, check_archive, file_facts, media_type
from asky.reading.raised.exponents import spelled_runs
from asky.reading.tables.rows import add_rows
from asky.reading.text_builder import TextBuilder
from asky.values import Document

_WORD = "word/document.xml"


def read(data: bytes, name: str) -> Document:
    """Return the text of a `.docx` file: paragraphs and tables in order, headings as sections."""
    check_word(data, name)
    import docx  # 60 ms: only if there is one to read
    from docx.table import Table

    with UnreadableOffice(name):
        document = docx.Document(io.BytesIO(data))
        builder = TextBuilder()
        for block in document.iter_inner_content():
            if isinstance(block, Table):
                add_rows(builder, [[_cell_text(cell) for cell in row.cells] for row in block.rows])
                builder.add("\n")
                continue
            text = _word_text(block).strip()
            if not text:
                continue
            style = (block.style.name or "") if block.style is not None else ""
            level = heading_level(style)
            if level:
                builder.mark_heading(text, level)
            item = "- " if style.startswith("List") else ""
            builder.add(f"{item}{text}\n" if item else f"{text}\n\n")
        facts = document.core_properties
        title = facts.title or next((p.text for p in document.paragraphs if p.style and p.style.name == "Title"), None)
        return builder.build(media_type("wordprocessingml.document"), title=title, metadata=file_facts(facts))


def check_word(data: bytes, name: str) -> None:
    """Raise SourceUnreadable if the bytes are no `.docx` file."""
    check_archive(data, name, _WORD)


def heading_level(style: str) -> int:
    """Return the level of the headings that have this style of Word, 0 for text."""
    if style == "Title":
        return 1
    return int(style[8:]) if style.startswith("Heading ") and style[8:].isdigit() else 0


def _word_text(paragraph: Any) -> str:
    """Return the text of a paragraph with its exponents as `^...`."""
    if not paragraph._p.xpath(".//w:vertAlign"):
        return str(paragraph.text)
    return spelled_runs((item.text, _vertical(item)) for item in paragraph.iter_inner_content())


def _vertical(item: Any) -> bool | None:
    font = getattr(item, "font", None)  # links have none
    return True if font is not None and font.superscript else False if font is not None and font.subscript else None


def _cell_text(cell: Any) -> str:
    return "\n".join(_word_text(each) for each in cell.paragraphs)
