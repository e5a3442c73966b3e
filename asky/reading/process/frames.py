"""The protocol between the pool and its children: a JSON header and bytes, each with its length in front.

A child may be controlled by the file that it reads, so a reply is checked like any other input.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

from asky.reading.limits import MAX_LINKS, MAX_NOTE_LINKS, MAX_URL_CHARS
from asky.values import Document, Link, NoteLink, Page, Section

PREFIX = struct.Struct(">IQ")
# Far above any valid header: 1,000,000 sections take 60 MB.
MAX_HEADER_BYTES = 64 * 1024 * 1024


class BadFrame(Exception):
    """An invalid frame."""


def head_of(header: dict[str, Any], payload_bytes: int) -> bytes:
    """Return the bytes before the payload: both lengths and the header."""
    encoded = json.dumps(header).encode("ascii")
    return PREFIX.pack(len(encoded), payload_bytes) + encoded


def pack_document(document: Document) -> tuple[dict[str, Any], bytes]:
    """Encode `document` as a header and a payload."""
    header = {
        "media_type": document.media_type,
        "title": document.title,
        "sections": [
            (part.heading, part.level, part.start, part.end, dict(part.metadata)) for part in document.sections
        ],
        "pages": [(page.label, page.start, page.end) for page in document.pages],
        "links": [(link.url, link.text, link.start) for link in document.links],
        "note_links": [
            (link.target, link.part, link.alias, link.is_embed, link.start, link.end) for link in document.note_links
        ],
        "metadata": dict(document.metadata),
    }
    return header, document.text.encode("utf-8")


def unpack_document(header: dict[str, Any], payload: bytes) -> Document:
    """Decode a document from a header and a payload.

    Raises BadFrame if a type is wrong, if sections or pages are out of order or lie outside the text, and for links
    that are not http or https.
    """
    try:
        text = payload.decode("utf-8")
        document = Document(
            text=text,
            media_type=_text(header["media_type"]),
            title=None if header["title"] is None else _text(header["title"]),
            sections=tuple(
                Section(_text(heading), _number(level), _number(start), _number(end), _texts(metadata))
                for heading, level, start, end, metadata in header["sections"]
            ),
            pages=tuple(
                Page(index, None if label is None else _text(label), _number(start), _number(end))
                for index, (label, start, end) in enumerate(header["pages"], start=1)
            ),
            links=tuple(Link(_address(url), _text(label), _number(start)) for url, label, start in header["links"]),
            note_links=tuple(
                NoteLink(_text(target), _text(part), _text(alias), bool(is_embed), _number(start), _number(end))
                for target, part, alias, is_embed, start, end in header["note_links"]
            ),
            metadata=_texts(header["metadata"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFrame(f"not a document: {error}") from None
    _check_spans([(part.start, part.end) for part in document.sections], len(text), nested=True)
    _check_spans([(page.start, page.end) for page in document.pages], len(text), nested=False)
    _check_links(document.links, len(text))
    if len(document.note_links) > MAX_NOTE_LINKS:
        raise BadFrame("too many links to notes")
    _check_spans([(link.start, link.end) for link in document.note_links], len(text), nested=False)
    return document


def _check_links(links: tuple[Link, ...], length: int) -> None:
    if len(links) > MAX_LINKS or len({link.url for link in links}) < len(links):
        raise BadFrame("too many links, or one twice")
    if not all(0 <= link.start <= length for link in links):
        raise BadFrame("a link out of place")


def _address(value: object) -> str:
    url = _text(value)
    if not url.startswith(("http://", "https://")) or len(url) > MAX_URL_CHARS or not url.isprintable():
        raise ValueError("an address that no page may offer")
    return url


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} for text")
    value.encode("utf-8")  # JSON can carry lone surrogates; storage cannot
    return value


def _texts(values: Mapping[object, object]) -> dict[str, str]:
    return {_text(key): _text(value) for key, value in values.items()}


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{type(value).__name__} for a number")
    return value


def _check_spans(spans: list[tuple[int, int]], length: int, *, nested: bool) -> None:
    previous = (0, 0)
    for start, end in spans:
        if not (previous[0] if nested else previous[1]) <= start <= end <= length:
            raise BadFrame(f"a span out of place: [{start}, {end})")
        previous = (start, end)
