"""Records of a JSON Lines file: `{"id", "text", "title"?, "url"?, "metadata"?}`, one per line.

Bibliographic data of a record is in its metadata: `author`, `published`, `published_in` and `doi`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from asky.errors import UsageError
from asky.text.scrub import one_line, scrub, scrub_in_place
from asky.values import Document, Source, source_id

_MAX_INTEGER = 2**63 - 1  # SQLite's limit
_OF_THE_WORK = frozenset(("author", "published", "published_in", "doi", "site_name"))
_BETWEEN = "; "  # separates the texts of a list, as the store separates authors


def parse_record(line: bytes, collection: str) -> tuple[Source, Document]:
    """Return the source and document of one line. Raises `UsageError` saying what is wrong with it.

    The id keeps its type: 1 and "1" identify two records. In the metadata, `null` counts as absent, and numbers and
    lists become text; bibliographic values of any other type are dropped.
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise UsageError('not an object with "id" and "text"')
    id_ = _checked_id(record.get("id"))
    for key in ("title", "url"):
        if not isinstance(record.get(key), str | None):
            raise UsageError(f'"{key}" must be a string')
    metadata = record.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise UsageError('"metadata" must be an object')
    title = one_line(record.get("title") or "", None) or None
    uri = record_uri(collection, id_)
    url = scrub(record.get("url") or "").strip() or None
    name = title or one_line(str(id_), None) or "untitled"
    source = Source(source_id(uri), "file", uri, name, url=url, external_id=id_)
    return source, Document(scrub_in_place(record["text"]), "text/plain", title, metadata=_plain(metadata))


def _plain(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the metadata as text, without empty values."""
    found = {scrub(key): _as_text(key, value) for key, value in metadata.items()}
    return {key: text for key, text in found.items() if text is not None}


def _as_text(key: str, value: object) -> str | None:
    """Return a value as text: list items joined, other types as JSON; `None` for an empty value."""
    parts = [_part(each) for each in (value if isinstance(value, list) else [value]) if each is not None]
    if None in parts:
        return None if key in _OF_THE_WORK else scrub(json.dumps(value, ensure_ascii=False))
    texts = [text.replace(";", " ") if isinstance(value, list) else text for text in parts if text]
    return _BETWEEN.join(texts) or None


def _part(value: object) -> str | None:
    """Return a string or number as text; `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return scrub(str(value)).strip()


def record_uri(collection: str, id_: str | int) -> str:
    """Return the URI of a record: `jsonl:COLLECTION/TEXT` or `jsonl:COLLECTION/int:NUMBER`, percent-encoded."""
    # The colon of a text id is encoded, so that no text id looks like a number.
    return f"jsonl:{quote(collection)}/" + (f"int:{id_}" if isinstance(id_, int) else quote(id_, safe=""))


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[bytes]]:
    """Open a file and yield its lines lazily. Raises `UsageError` if it cannot be opened or read."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    with file:
        yield _lines(file, path)


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    try:
        yield from file
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def _checked_id(value: object) -> str | int:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise UsageError('"id" must be a string or an integer')
    if isinstance(value, int) and not -_MAX_INTEGER - 1 <= value <= _MAX_INTEGER:
        raise UsageError('"id" is an integer of more than 64 bits; write it as a string')
    if isinstance(value, str) and re.search("[\ud800-\udfff]", value):
        raise UsageError('"id" contains a lone surrogate')
    return value
