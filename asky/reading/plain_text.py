"""Plain text: stored unchanged, but for what asky has written into a note."""

from __future__ import annotations

from asky.reading.charset import decode
from asky.reading.text_builder import invisible_metadata
from asky.text.marked_parts import marked_parts, without_parts
from asky.text.scrub import scrub_counted
from asky.values import Document


def read(data: bytes, name: str) -> Document:  # noqa: ARG001 - every reader has this signature
    """Return the text of a `.txt` file: decoded and scrubbed, without what asky has written into a note."""
    return _read(data, is_whole=False)


def read_whole(data: bytes, name: str) -> Document:  # noqa: ARG001 - as above
    """Return the text of a file as `read` does, with what asky has written."""
    return _read(data, is_whole=True)


def _read(data: bytes, *, is_whole: bool) -> Document:
    text, invisible = scrub_counted(decode(data))
    text = text if is_whole else without_parts(text, marked_parts(text))
    return Document(text=text, media_type="text/plain", metadata=invisible_metadata(invisible))
