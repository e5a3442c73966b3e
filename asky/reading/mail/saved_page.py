"""Web pages that a browser saved in one file (MHTML): the page, and the frames in it.

Source: RFC 2557. Chrome and Edge, Internet Explorer and Word write such files.
"""

from __future__ import annotations

from dataclasses import replace

from asky.errors import SourceUnreadable
from asky.reading.html import page
from asky.reading.mail.charsets import Charsets
from asky.reading.mail.headers import decoded
from asky.reading.mail.mime import MimePart, PartBudget, leaves, parse
from asky.reading.text_builder import TextBuilder
from asky.values import Document

MEDIA_TYPE = "multipart/related"
_MAX_FRAMES = 50
_PAGES = ("text/html", "application/xhtml+xml")


def read(data: bytes, name: str) -> Document:
    """Return the text of a saved page as its HTML is read, then that of the frames in it, each below its title.

    Links are relative to the address that the page was saved from. Raises SourceUnreadable if no part is HTML.
    """
    charsets, budget = Charsets(), PartBudget()
    whole = parse(data, charsets, budget)
    pages = [part for part in leaves(whole) if part.media_type in _PAGES]
    if not pages:
        raise SourceUnreadable(f"{name}: no page in it", verdict="empty")
    root = _root(whole, pages)
    address = root.value("content-location") or whole.value("snapshot-content-location")
    frames = [part for part in pages if part is not root]
    main = _document(root, name, address, charsets)
    builder = TextBuilder()
    if main is not None:
        builder.add_document(main, 0)
    for part in frames[:_MAX_FRAMES]:
        document = _document(part, name, part.value("content-location"), charsets)
        if document is None or document.text.strip() in builder.text():
            continue
        if len(builder):
            builder.add("\n\n")
        builder.mark_heading(document.title or "Frame", 1)
        builder.add_document(document, 1)
    for what, reason in budget.unread:
        builder.skip(what, reason)
    if len(frames) > _MAX_FRAMES:
        builder.skip(f"{len(frames) - _MAX_FRAMES} more frames", f"only {_MAX_FRAMES} are read")
    if not builder.text().strip():
        raise SourceUnreadable(f"{name}: no visible text in the page", verdict="empty")
    title = (main.title if main is not None else None) or decoded(whole.value("subject"), charsets)
    document = builder.build(MEDIA_TYPE, title=title, metadata=dict(main.metadata) if main is not None else None)
    return replace(document, links=main.links) if main is not None else document


def _root(whole: MimePart, pages: list[MimePart]) -> MimePart:
    """Return the page itself: the part that the file names as its start or its address, else the first page."""
    start = whole.parameter("start").strip("<> ")
    address = whole.value("snapshot-content-location")
    for part in pages:
        if (start and part.value("content-id").strip("<> ") == start) or (
            address and part.value("content-location") == address
        ):
            return part
    return pages[0]


def _document(part: MimePart, name: str, address: str, charsets: Charsets) -> Document | None:
    """Return a page of the file; `None` if it shows no text."""
    data = part.data()
    if part.charset:
        data = charsets.text(data, part.charset).encode("utf-8", "replace")
    url = address if address.lower().startswith(("http://", "https://")) else None
    for each in dict.fromkeys((url, None)):  # with its address, a page that only asks for consent is refused
        try:
            return page.read(data, name, each)
        except SourceUnreadable:
            continue
    return None
