"""PDF: the text in reading order, page by page, with page labels, sections and the metadata of the first page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading import ocr
from asky.reading.mupdf import mupdf_errors, open_document, outline, refuse_memory_errors
from asky.reading.pages.beside.attachments import add_attachments, is_portfolio
from asky.reading.pages.beside.xfa import xfa_values
from asky.reading.pages.extraction import page_lines
from asky.reading.pages.front import front_matter
from asky.reading.pages.headings import PageHeading, add_page, page_headings
from asky.reading.pages.layout import lay_out
from asky.reading.pages.lines import PageLines
from asky.reading.pages.outline import outline_headings
from asky.reading.pages.paragraphs import body_size
from asky.reading.scanned_pages import SCANNED, ocr_hint
from asky.reading.text_builder import TextBuilder
from asky.text.counting import counted
from asky.values import Document

if TYPE_CHECKING:
    import pymupdf

_PAGE_BREAK = "\f"
_UTF16_HEX = re.compile(r"<FEFF((?:[0-9A-F]{4})*)>", re.IGNORECASE)
_READABLE_SHARE = 0.5


def read(data: bytes, name: str, *, recognise: bool = False) -> Document:
    """Return the text of a PDF. The pages tile it; all but the last end with a form feed.

    A paragraph is one line, in reading order, with a blank line after it; rows of a table, lines of code and other text
    that was not wrapped keep their lines. Words broken at line ends are joined, running heads and page numbers are left
    out, and a sentence that continues overleaf is on the page where it begins. Sections are the outline's, and those
    of headings on the pages. Title, authors, date, DOI and arXiv id are those of the first page, else the file's.
    `metadata["pages_without_text"]` is set, as in `3 of 12`, if some pages have none.

    Text that is in images, or in fonts that give no characters, is read with `recognise`, and
    `metadata["pages_recognised"]` is set, as in `3 of 12`; without, `metadata["pages_scanned"]` counts such pages.
    Raises SourceUnreadable: encrypted, no_text_layer (all pages are such), empty (no page), failed.
    """
    with open_document(data, "pdf", name) as document:
        count = document.page_count
        if count == 0:
            raise SourceUnreadable(f"{name}: a PDF without pages", verdict="empty")
        pages = [_page_lines(document, number) for number in range(count)]
        scans = [number for number, page in enumerate(pages) if _is_scan(document, number, page)]
        recognised = _recognise(document, pages, scans) if recognise and scans else 0
        left = 0 if recognise else len(scans)
        tried = len(scans) - left
        inner = TextBuilder()
        add_attachments(inner, document, [number for number, page in enumerate(pages) if page.has_files])
        values = xfa_values(document)
        if values or (len(inner) and is_portfolio(document)):
            pages = [PageLines(0, 0) for _ in pages]  # a notice of the program that made the file
        laid_out = lay_out(pages)
        texts = ["\n\n".join(part.text for part in page) for page in laid_out]
        bare = sum(1 for page in pages if not page.lines)
        if not values and not len(inner):
            _require_text("".join(texts), count, name, left, tried)
        builder = TextBuilder(sum(page.invisible for page in pages))
        entries = list(outline(document))
        facts = front_matter(pages, texts[0], document.metadata or {}, entries)
        body = body_size(line for page in pages for line in page.upright)
        headings: list[list[PageHeading]] = [[] for _ in pages]
        for each in [*outline_headings(laid_out, entries), *page_headings(laid_out, body, entries)]:
            headings[each.page].append(each)
        for number, (paragraphs, label) in enumerate(zip(laid_out, _labels(document), strict=True), start=1):
            builder.start_page(label)
            text = add_page(builder, paragraphs, headings[number - 1])
            if number < count:
                builder.add("\n" + _PAGE_BREAK if text else _PAGE_BREAK)
        for number, page in enumerate(pages, start=1):
            if page.unread_notes:
                builder.skip(f"page {number}", f"{page.unread_notes:,} of its notes and fields are too many")
        if values is not None:
            builder.skip("the form's pages", "an XFA form, which only Adobe's programs lay out")
            builder.add("".join(f"{value}\n" for value in values))
        if inner.unread or len(inner):
            builder.add("\n\n" if len(builder) else "")
            builder.add_document(inner.build(""), 0)
        return builder.build(
            "application/pdf",
            title=facts.title,
            metadata={
                **facts.metadata,
                "pages_without_text": f"{bare} of {count}" if bare else None,
                "pages_recognised": f"{recognised} of {count}" if recognised else None,
                SCANNED: str(left) if left else None,
            },
        )


def _page_lines(document: pymupdf.Document, number: int) -> PageLines:
    try:
        return page_lines(document.load_page(number))
    except mupdf_errors() as error:
        refuse_memory_errors(error)
        return PageLines(0, 0)  # a broken page among good ones counts as one without text


def _is_scan(document: pymupdf.Document, number: int, lines: PageLines) -> bool:
    try:
        return ocr.is_scan(document.load_page(number), lines)
    except mupdf_errors() as error:
        refuse_memory_errors(error)
        return False


def _recognise(document: pymupdf.Document, pages: list[PageLines], scans: Sequence[int]) -> int:
    """Put the lines that the images of `scans` show in the place of theirs, and return how many pages have some."""
    recognised = ocr.recogniser()
    count = 0
    for number in scans:
        try:
            lines = recognised(document.load_page(number))
        except mupdf_errors() as error:
            refuse_memory_errors(error)
            continue  # as for a broken page
        if _readable(lines) > 2 * _readable(pages[number]):
            pages[number] = lines
            count += 1
    return count


def _readable(page: PageLines) -> int:
    return sum(len(line.text) - line.text.count("\ufffd") for line in page.lines)


def _require_text(text: str, count: int, name: str, scans: int, tried: int) -> None:
    """Raise SourceUnreadable for no known characters; `scans` and `tried` count scans left out and recognised."""
    visible = len(text) - sum(map(text.count, " \n\t"))
    unknown = text.count("\ufffd")
    if visible - unknown > _READABLE_SHARE * visible:
        return
    pages = counted(count, "page")
    reason = "the fonts give no characters" if unknown else "no text layer"
    if tried:
        raise SourceUnreadable(f"{name}: {pages}, {reason}, and none was recognised", verdict="no_text_layer")
    raise SourceUnreadable(
        f"{name}: {pages}, {reason}",
        verdict="no_text_layer",
        hint=f"{ocr_hint()}; so does ocrmypdf" if scans else "run it through OCR, for example with ocrmypdf",
        scanned_pages=scans,
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
