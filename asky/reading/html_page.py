"""HTML: the main text of a page, without its menus and footers, with its headings, lists and tables."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from asky.errors import SourceUnreadable
from asky.reading.charset import decode
from asky.reading.html_blocks import is_hidden
from asky.reading.html_plain import read_plain
from asky.reading.html_render import render
from asky.reading.text_builder import TextBuilder
from asky.text.scrub import scrub, strip_sequences
from asky.values import Document

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MEDIA_TYPE = "text/html"
_DECLARATION_WITHIN = 1024
_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
# The extractor reads about 1 MB a second: a manual on one page would use up its time, and is read plainly.
_EXTRACTED_CHARS = 4 * 1024 * 1024


def read(data: bytes, name: str) -> Document:
    """The main text of a page, one block a line; a heading's section starts with its text.

    Where the extractor finds nothing, fails, or would see only a part (nesting beyond 255, more than 4 Mi characters),
    the whole page's visible text is taken instead. Hidden elements are never read.
    Raises SourceUnreadable (empty) where there is no visible text at all.
    """
    declared = _DECLARED.search(data[:_DECLARATION_WITHIN])
    source = decode(data, declared[1].decode("ascii") if declared else None)
    if "\x1b" in source:  # a title would keep what is left of them; without ESC their 8-bit forms are a wrong encoding
        source = strip_sequences(source)
    html = scrub(source)
    document = _read_main(html) if len(html) <= _EXTRACTED_CHARS else None
    if document is None:
        document = read_plain(html, _MEDIA_TYPE)
    if not document.text.strip():
        raise SourceUnreadable(f"{name}: no visible text in the page", verdict="empty")
    return document


def _read_main(html: str) -> Document | None:
    """The page as the extractor sees it, `None` where it does not see it well enough."""
    tree = _parse(html)
    if tree is None:
        return None
    _drop_hidden(tree)
    body = _extract(tree)
    if body is None:
        return None
    builder = TextBuilder()
    render(body, builder)
    document = builder.build(_MEDIA_TYPE, title=_title(tree), metadata={"author": _meta(tree, "author")})
    return document if document.text.strip() else None


def _parse(text: str) -> HtmlElement | None:
    from lxml import etree, html  # 25 ms: only where a page is read

    # From bytes: a string with an XML declaration is refused.
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = html.document_fromstring(text.encode("utf-8"), parser=parser)
    except (etree.LxmlError, ValueError):
        return None
    # The tree parser drops what follows too deep an element, and reports it only here.
    cut = any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log)
    return None if cut else tree


def _drop_hidden(tree: HtmlElement) -> None:
    for element in tree.xpath(".//body//*[@hidden or @style]"):
        if is_hidden(element.attrib) and element.getparent() is not None:
            element.drop_tree()


def _extract(tree: HtmlElement) -> HtmlElement | None:
    from trafilatura import bare_extraction  # 0.13 s: only where a page is read

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    try:
        # Source for the defaults (no comments, not `fast`): the highest word F1 of five settings over 300 pages, .739
        # against .736 with comments, .704 fast, .704 recall; pages/CPU-s 23, 22, 34, 37.
        page = bare_extraction(tree, include_comments=False, include_formatting=False)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - whatever the extractor cannot digest, the plain reading still can
        return None
    return None if page is None else page.body


def _title(tree: HtmlElement) -> str | None:
    heading = next(tree.iter("h1"), None)
    title = next(tree.iter("title"), None)
    return (
        _meta(tree, "og:title")
        or (title.text_content().strip() if title is not None else None)
        or (heading.text_content().strip() if heading is not None else None)
    )


def _meta(tree: HtmlElement, name: str) -> str | None:
    for meta in tree.iter("meta"):
        if (meta.get("property") or meta.get("name") or "").strip().lower() == name:
            return (meta.get("content") or "").strip() or None
    return None
