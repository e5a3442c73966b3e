"""Word documents as Markdown, with their links, footnotes and endnotes: for a text whose citations are followed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from asky.errors import SourceUnreadable
from asky.reading.office.archive import UnreadableOffice
from asky.reading.office.word import check_word, heading_level
from asky.text.scrub import one_line, scrub
from asky.values import Document

if TYPE_CHECKING:
    from docx.document import Document as Word
    from docx.text.paragraph import Paragraph

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_NOTES = ("footnote", "endnote")


def read(data: bytes, name: str) -> Document:
    """Return a document as Markdown: headings, lists, tables, links, superscripts, and notes as `[^footnote1]`.

    Raises SourceUnreadable: encrypted, failed, or empty if there is no text.
    """
    check_word(data, name)
    import docx  # 60 ms: only if there is one to read
    from docx.table import Table

    with UnreadableOffice(name):
        document = docx.Document(io.BytesIO(data))
        blocks = []
        for block in document.iter_inner_content():
            made = _table(block.rows) if isinstance(block, Table) else _paragraph(block)
            if made:
                blocks.append(made)
        blocks += _notes(document)
        text, title = scrub("\n\n".join(blocks)), one_line(document.core_properties.title or "")
    if not text.strip():
        raise SourceUnreadable(f"{name}: no text in it", verdict="empty")
    return Document(f"{text}\n", "text/markdown", title=title or None)


def _paragraph(paragraph: Paragraph) -> str:
    text = "".join(_pieces(paragraph)).strip()
    style = (paragraph.style.name or "") if paragraph.style is not None else ""
    if not text:
        return ""
    if level := heading_level(style):
        return f"{'#' * min(level, 6)} {' '.join(text.split())}"
    if style.startswith("List"):
        return f"- {text}"
    return text


def _pieces(paragraph: Paragraph) -> Iterator[str]:
    for item in paragraph.iter_inner_content():
        address = getattr(item, "url", None)
        if address:
            yield f"[{item.text}](<{address}>)" if item.text.strip() else ""
            continue
        text = item.text
        raised = getattr(getattr(item, "font", None), "superscript", None)
        if raised and text.strip():
            text = f"<sup>{text.strip()}</sup>"
        yield text
        yield from _references(getattr(item, "_r", None))


def _references(run: Any) -> Iterator[str]:
    for kind in _NOTES if run is not None else ():
        for each in run.iter(f"{_W}{kind}Reference"):
            yield f"[^{kind}{each.get(f'{_W}id')}]"


def _table(rows: Sequence[Any]) -> str:
    lines = [f"| {' | '.join(' '.join(cell.text.split()).replace('|', '/') for cell in row.cells)} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0].cells)}", *lines[1:]]) if lines else ""


def _notes(document: Word) -> Iterator[str]:
    """Yield the footnotes and endnotes as definitions."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    for relation in document.part.rels.values():
        kind = relation.reltype.rpartition("/")[2].removesuffix("s")
        if kind not in _NOTES or relation.is_external:
            continue
        for note in etree.fromstring(relation.target_part.blob, parser).iter(f"{_W}{kind}"):
            text = " ".join("".join(each.text or "" for each in note.iter(f"{_W}t")).split())
            if text:
                yield f"[^{kind}{note.get(f'{_W}id')}]: {text}"
