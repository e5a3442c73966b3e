"""Markdown: stored without comments and without what asky has written into a note, with the offsets of its headings.

A text is stored once, and what is quoted, embedded and sent to a model are pieces of it, character for character. So
what its author has hidden in `%% comments %%` and `<!-- comments -->` is stored beside the text, as metadata `COMMENTS`
that nothing shows, and no later step has to remember to leave it out. Line ends stay, so that lines keep their numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from asky.reading.charset import decode
from asky.reading.front_matter import BETWEEN, PROPERTIES, front_matter
from asky.reading.limits import MAX_NOTE_LINKS
from asky.reading.text_builder import UNREAD_PARTS, Heading, invisible_metadata, nest
from asky.text.beside.hidden_comments import open_comment
from asky.text.beside.marked_parts import marked_parts, without_parts
from asky.text.headings import markdown_headings
from asky.text.plain import plain
from asky.text.scrub import one_line, scrub_counted, scrub_marked
from asky.text.wikilinks import find_comments, find_links, find_tags, visible
from asky.values import Document, Section

COMMENTS = "hidden_comments"
"""The metadata key with what a text hides: JSON, `[offset in the text without comments, comment]` of each, in order."""
_HEADING_CHARS = 2000


def read(data: bytes, name: str) -> Document:  # noqa: ARG001 - every reader has this signature
    """Return the text of a Markdown file, scrubbed and without comments, with a section for each heading.

    The title is the front matter's, else the first heading of level 1. The front matter is metadata, and a section of
    level 0: see `asky.reading.front_matter`. `#tags` of the text are added to its tags. What asky has written into a
    note is left out, see `asky.text.beside.marked_parts`.
    """
    return _read(data, is_whole=False)


def read_whole(data: bytes, name: str) -> Document:  # noqa: ARG001 - as above
    """Return the text of a Markdown file as `read` does, with what asky has written."""
    return _read(data, is_whole=True)


def _read(data: bytes, *, is_whole: bool) -> Document:
    source = decode(data)
    text, marked = scrub_marked(source)
    front = front_matter(marked)
    if not is_whole:
        parts = marked_parts(marked, front.end)
        text, marked = without_parts(text, parts), without_parts(marked, parts)
    comments = find_comments(marked, front.end)
    left_open = open_comment(marked, comments)
    kept = _kept(text, comments)
    text, marked = without_parts(text, comments), without_parts(marked, comments)
    shown = visible(marked, front.end)
    headings = list(find_headings(marked, front.end))
    title = front.title or next((heading.text for heading in headings if heading.level == 1), None)
    properties = (Section(PROPERTIES, 0, 0, front.end),) if text[: front.end].strip("-. \t\n") else ()
    return Document(
        text=text,
        media_type="text/markdown",
        title=(one_line(title) or None) if title else None,
        sections=properties + nest(headings, len(text)),
        note_links=tuple(islice(find_links(marked, front.end, shown=shown), MAX_NOTE_LINKS)),
        metadata={
            **_tagged(front.metadata, find_tags(marked, front.end, shown=shown)),
            **invisible_metadata(scrub_counted(source)[1]),
            **({UNREAD_PARTS: left_open} if left_open is not None else {}),
            **kept,
        },
    )


def _kept(text: str, comments: Sequence[tuple[int, int]]) -> dict[str, str]:
    """Return the metadata with the comments of a text that still has them, each at the offset where it is left out."""
    kept, gone = list[tuple[int, str]](), 0
    for start, end in comments:
        kept.append((start - gone, text[start:end]))
        gone += end - start - text.count("\n", start, end)
    return {COMMENTS: json.dumps(kept, ensure_ascii=False)} if kept else {}


def _tagged(metadata: Mapping[str, str], tags: list[str]) -> dict[str, str]:
    """Return the metadata with `tags` after those of the front matter, each once whatever its case."""
    known = dict.fromkeys(metadata["tags"].split(BETWEEN)) if "tags" in metadata else {}
    folded = {each.casefold() for each in known}
    known.update(dict.fromkeys(each for each in tags if each.casefold() not in folded))
    return {**metadata, "tags": BETWEEN.join(known)} if known else dict(metadata)


def find_headings(text: str, start: int = 0) -> Iterator[Heading]:
    """Yield the headings of Markdown from offset `start` on, in order, without their markup."""
    for heading in markdown_headings(text, start):
        yield Heading(heading.start, heading.level, plain(heading.source[:_HEADING_CHARS]))
