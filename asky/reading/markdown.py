"""Markdown: stored unchanged, with the offsets of its headings."""

from __future__ import annotations

from collections.abc import Iterator

from asky.reading.charset import decode
from asky.reading.front_matter import PROPERTIES, front_matter
from asky.reading.text_builder import Heading, invisible_metadata, nest
from asky.text.headings import markdown_headings
from asky.text.plain import plain
from asky.text.scrub import one_line, scrub_counted, scrub_marked
from asky.values import Document, Section

_HEADING_CHARS = 2000


def read(data: bytes, name: str) -> Document:  # noqa: ARG001 - every reader has this signature
    """Return the text of a Markdown file, only scrubbed, with a section for each heading of the document.

    The title is the front matter's, else the first heading of level 1. The front matter is metadata, and a section of
    level 0: see `asky.reading.front_matter`.
    """
    source = decode(data)
    text, marked = scrub_marked(source)
    front = front_matter(marked)
    headings = list(find_headings(marked, front.end))
    title = front.title or next((heading.text for heading in headings if heading.level == 1), None)
    properties = (Section(PROPERTIES, 0, 0, front.end),) if text[: front.end].strip("-. \t\n") else ()
    return Document(
        text=text,
        media_type="text/markdown",
        title=(one_line(title) or None) if title else None,
        sections=properties + nest(headings, len(text)),
        metadata={**front.metadata, **invisible_metadata(scrub_counted(source)[1])},
    )


def find_headings(text: str, start: int = 0) -> Iterator[Heading]:
    """Yield the headings of Markdown from offset `start` on, in order, without their markup."""
    for heading in markdown_headings(text, start):
        yield Heading(heading.start, heading.level, plain(heading.source[:_HEADING_CHARS]))
