"""Plain text: stored as it is."""

from __future__ import annotations

from asky.reading.charset import decode
from asky.reading.text_builder import tell_invisible
from asky.text.scrub import scrub_counted
from asky.values import Document


def read(data: bytes, name: str) -> Document:  # noqa: ARG001 - every reader has this signature
    """The text of a `.txt` file: decoded and scrubbed, otherwise untouched."""
    text, invisible = scrub_counted(decode(data))
    return Document(text=text, media_type="text/plain", metadata=tell_invisible(invisible))
