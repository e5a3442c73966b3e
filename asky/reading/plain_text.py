"""Plain text: stored as it is."""

from __future__ import annotations

from asky.reading.charset import decode
from asky.text.scrub import scrub
from asky.values import Document


def read(data: bytes, name: str) -> Document:  # noqa: ARG001 - every reader has this signature
    """The text of a `.txt` file: decoded and scrubbed, otherwise untouched."""
    return Document(text=scrub(decode(data)), media_type="text/plain")
