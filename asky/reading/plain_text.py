"""Plain text: stored unchanged, but for what asky has written into a note, with the offsets of underlined headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from asky.reading.charset import decode
from asky.reading.text_builder import Heading, invisible_metadata, nest
from asky.text.beside.marked_parts import marked_parts, without_parts
from asky.text.scrub import scrub_counted
from asky.values import Document

_WRITTEN = (".txt", ".text")  # by people; in logs and subtitles, lines of signs part what is said
_UNDERLINED = re.compile(
    r"(?:\A|(?<=\n\n)|(?<=\n\r\n))(?P<text>[^\W_][^|\n]{0,120})\n(?P<line>(?P<sign>[=~-])(?P=sign)+)[ \t\r]*$",
    re.MULTILINE,
)
_LONGER = 2  # characters by which the line may differ from its heading; other lines part paragraphs


def read(data: bytes, name: str) -> Document:
    """Return the text of a `.txt` file: decoded and scrubbed, without what asky has written into a note."""
    return _read(data, name, is_whole=False)


def read_whole(data: bytes, name: str) -> Document:
    """Return the text of a file as `read` does, with what asky has written."""
    return _read(data, name, is_whole=True)


def _read(data: bytes, name: str, *, is_whole: bool) -> Document:
    text, invisible = scrub_counted(decode(data))
    text = text if is_whole else without_parts(text, marked_parts(text))
    headings = list(_headings(text)) if name.lower().endswith(_WRITTEN) else []
    return Document(
        text=text,
        media_type="text/plain",
        sections=nest(headings, len(text)),
        metadata=invisible_metadata(invisible),
    )


def _headings(text: str) -> Iterator[Heading]:
    """Yield the underlined lines below an empty one; the sign that is used first is that of the outermost."""
    signs: list[str] = []
    for match in _UNDERLINED.finditer(text):
        heading = match["text"].rstrip()
        if abs(len(match["line"]) - len(heading)) <= _LONGER:
            if match["sign"] not in signs:
                signs.append(match["sign"])
            yield Heading(match.start("text"), signs.index(match["sign"]) + 1, heading)
