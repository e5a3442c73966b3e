"""PDF: the text layer, page by page, with page labels and the outline's sections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.mupdf import (
    TextBlock,
    mark_outline,
    mupdf_errors,
    open_document,
    outline,
    page_blocks,
    refuse_memory_errors,
)
from asky.reading.text_builder import TextBuilder
from asky.text.counting import counted
from asky.text.scrub import scrub_counted
from asky.values import Document

if TYPE_CHECKING:
    import pymupdf

_PAGE_BREAK = "\f"
_UTF16_HEX = re.compile(r"<FEFF((?:[0-9A-F]{4})*)>", re.IGNORECASE)
_READABLE_SHARE = 0.5
_SENTENCE_ENDS = (".", "?", "!", ":", "…", "。", "！", "？", '."', ".”", ".)", ".]")
_BULLETS = tuple("•‣◦▪●–—*-")
# A line that ends this near (in widths of the next) to the right edge of the next was wrapped.
_WRAPPED_WITHIN = 0.1
_ALIGNED_POINTS = 2.0


def read(data: bytes, name: str) -> Document:
    """Return the text of a PDF. The pages tile it; all but the last end with a form feed.

    A page contains the lines of the file in file order, including hyphens at their ends, with a blank line where a
    paragraph seems to end. Sections are the outline's: from the position of the title on its page, else from the page's
    start. `metadata["pages_without_text"]` is set, as in `3 of 12`, if some pages have none. Raises SourceUnreadable:
    encrypted, no_text_layer (scans; fonts that give no characters), empty (no page), failed.
    """
    with open_document(data, "pdf", name) as document:
        count = document.page_count
        if count == 0:
            raise SourceUnreadable(f"{name}: a PDF without pages", verdict="empty")
        read_pages = [_page_text(document, number) for number in range(count)]
        pages = [text for text, _ in read_pages]
        bare = sum(1 for page in pages if not page)
        _require_text("".join(pages), count, name)
        builder = TextBuilder(sum(invisible for _, invisible in read_pages))
        starts = _add_pages(builder, pages, _labels(document))
        entries = list(outline(document))
        mark_outline(builder, entries, pages, starts)
        facts = document.metadata or {}
        return builder.build(
            "application/pdf",
            title=facts.get("title") or _outline_title(entries),
            metadata={"author": facts.get("author"), "pages_without_text": f"{bare} of {count}" if bare else None},
        )


def _page_text(document: pymupdf.Document, number: int) -> tuple[str, int]:
    try:
        return scrub_counted(join_blocks(page_blocks(document.load_page(number))))
    except mupdf_errors() as error:
        refuse_memory_errors(error)
        return "", 0  # a broken page among good ones counts as one without text


def _require_text(text: str, count: int, name: str) -> None:
    visible = len(text) - sum(map(text.count, " \n\t"))
    unknown = text.count("\ufffd")
    if visible - unknown > _READABLE_SHARE * visible:
        return
    pages = counted(count, "page")
    reason = "the fonts give no characters" if unknown else "no text layer"
    raise SourceUnreadable(
        f"{name}: {pages}, {reason}", verdict="no_text_layer", hint="run it through OCR, for example with ocrmypdf"
    )


def _labels(document: pymupdf.Document) -> list[str | None]:
    """Return the printed number of each page; `None` if the file defines none."""
    try:
        if document.get_page_labels():
            labels = (document.load_page(number).get_label() for number in range(document.page_count))
            return [decode_label(label) or None for label in labels]
    except mupdf_errors() as error:
        refuse_memory_errors(error)
    return [None] * document.page_count


def decode_label(label: str) -> str:
    """Return a page label with its UTF-16 part as text: MuPDF gives a prefix `3` as `<FEFF0033>`."""
    return _UTF16_HEX.sub(lambda match: bytes.fromhex(match[1]).decode("utf-16-be", "replace"), label)


def _add_pages(builder: TextBuilder, pages: Sequence[str], labels: Sequence[str | None]) -> list[int]:
    """Add the pages; return the offset at which each begins."""
    starts = []
    for number, (page, label) in enumerate(zip(pages, labels, strict=True), start=1):
        starts.append(len(builder))
        builder.start_page(label)
        builder.add(page)
        if number < len(pages):
            builder.add("\n" + _PAGE_BREAK if page else _PAGE_BREAK)
    return starts


def _outline_title(entries: Sequence[tuple[int, str, int]]) -> str | None:
    """Return the one outermost entry above all others, if it is on the first page."""
    outermost = [entry for entry in entries if entry[0] == 1]
    if len(outermost) == 1 and len(entries) > 1 and entries[0] == outermost[0] and entries[0][2] == 0:
        return outermost[0][1]
    return None


def join_blocks(blocks: Sequence[TextBlock]) -> str:
    """Join blocks to lines, with a blank line between two of them unless the second seems to continue the first.

    Files put one paragraph in one block or, with wide leading, each line in a separate one.
    """
    parts: list[str] = []
    for number, block in enumerate(blocks):
        if number:
            parts.append("\n" if _goes_on(blocks[number - 1], block) else "\n\n")
        parts.append(block.text)
    return "".join(parts)


def _goes_on(block: TextBlock, following: TextBlock) -> bool:
    ends, begins = block.text.rstrip(), following.text.lstrip()
    if begins[0].islower():
        return ends[-1] not in ".?!"
    if begins.startswith(_BULLETS) or ends.endswith(_SENTENCE_ENDS):
        return False
    if not begins[0].isupper():
        return True
    wrapped = block.x1 >= following.x1 - _WRAPPED_WITHIN * (following.x1 - following.x0)
    return wrapped and "\n" not in block.text and following.x0 <= block.x0 + _ALIGNED_POINTS
