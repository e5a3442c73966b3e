"""The registry of readable formats: one row per format, with its reader module."""

from __future__ import annotations

from dataclasses import dataclass

from asky.reading.charset import has_mark

HEAD_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Format:
    """`module` holds `read(data: bytes, name: str) -> Document`; `magic` must occur near the start of the bytes.

    With `links`, `read` takes the address of the bytes as a third argument, `url: str | None`. Raise `version` when
    `read` makes something else of the same bytes: stored files are read again then.
    """

    media_type: str
    suffixes: tuple[str, ...]
    module: str
    magic: bytes = b""
    links: bool = False
    version: int = 1


FORMATS = (
    Format("text/plain", (".txt",), "asky.reading.plain_text"),
    Format("text/markdown", (".md", ".markdown"), "asky.reading.markdown"),
    Format("text/html", (".html", ".htm"), "asky.reading.html.page", links=True),
    Format("application/json", (".json",), "asky.reading.json_tree"),
    Format("text/csv", (".csv",), "asky.reading.csv_table"),
    Format("application/pdf", (".pdf",), "asky.reading.pdf", magic=b"%PDF-"),
    Format("application/epub+zip", (".epub",), "asky.reading.epub", magic=b"PK\x03\x04"),
    # Only from the web: no file suffix maps to them.
    Format("application/rss+xml", (), "asky.reading.feed", links=True),
    Format("application/atom+xml", (), "asky.reading.feed", links=True),
)

# Binary files whose first bytes may look like text; `_BINARY_SHARE` finds the others.
_BINARY_STARTS = (b"%PDF-", b"PK\x03\x04", b"PK\x05\x06")
# Viewers accept as many bytes before a PDF's signature (PDF Reference 1.7, appendix H.3, implementation note 13).
_MAGIC_WITHIN = 1024
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b"))
# Random bytes contain 10 % of these and text none; a few stray ones are scrubbed instead.
_BINARY_SHARE = 0.02


def format_of(name: str) -> Format | None:
    """Return the row for a file name, by its suffix in any case; `None` if there is no reader for it."""
    dot = name.rfind(".")
    suffix = name[dot:].lower() if dot > 0 else ""
    return next((row for row in FORMATS if suffix in row.suffixes), None)


def reader_version(media_type: str | None) -> int:
    """Return the version of the reader of a media type; 0 if there is none."""
    return next((row.version for row in FORMATS if row.media_type == media_type), 0)


def media_type_of(name: str, head: bytes) -> str | None:
    """Return the media type of a file, from its name and its first bytes (`HEAD_BYTES` are enough).

    `None` means that there is no reader: an unknown suffix, or bytes that do not match the suffix (a zip named `.txt`,
    a web page named `.pdf`). UTF-16 and UTF-32 count as text only with a byte order mark. An empty `head` is consistent
    with any suffix.
    """
    row = format_of(name)
    if row is None or not head:
        return row.media_type if row else None
    fits = _holds_magic(row, head) if row.magic else is_text(head)
    return row.media_type if fits else None


def _holds_magic(row: Format, head: bytes) -> bool:
    if row.media_type == "application/pdf":
        return row.magic in head[:_MAGIC_WITHIN]
    return head.startswith(row.magic)


def is_text(head: bytes) -> bool:
    """Return whether the first bytes of a file are text; UTF-16 and UTF-32 need a byte order mark."""
    if head.startswith(_BINARY_STARTS):
        return False
    if has_mark(head):
        return True
    head = head[:HEAD_BYTES]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls <= _BINARY_SHARE * len(head)
