"""Plain text: stored unchanged."""

from __future__ import annotations

from asky.reading.charset import decode
from asky.reading.text_builder import invisible_metadata
from asky.text.scrub import scrub_counted
from asky.values import Document


def read(data: bytes, name: str) -> Document:  # noqa: ARG001 - every reader has this signature
    """Return the text of a `.txt` file: decoded and scrubbed, otherwise unchanged."""
    text, invisible = scrub_counted(decode(data))
    return Document(text=text, media_type="text/plain", metadata=invisible_metadata(invisible))
