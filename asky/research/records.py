"""Records of a JSON Lines file: `{"id", "text", "title"?, "url"?, "metadata"?}`, one a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from asky.errors import UsageError
from asky.text.scrub import one_line, scrub, scrub_in_place
from asky.values import Document, Source, source_id

_MAX_INTEGER = 2**63 - 1  # of SQLite


def parse_record(line: bytes, collection: str) -> tuple[Source, Document]:
    """The source and document of one line. Raises `UsageError` saying what is wrong with it.

    The id keeps its type: 1 and "1" are the ids of two records.
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
            raise UsageError(f'"{key}" must be a text')
    metadata = record.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise UsageError('"metadata" must be an object')
    title = one_line(record.get("title") or "", None) or None
    uri = record_uri(collection, id_)
    url = scrub(record.get("url") or "").strip() or None
    name = title or one_line(str(id_), None) or "untitled"
    source = Source(source_id(uri), "file", uri, name, url=url, external_id=id_)
    plain = {
        scrub(str(key)): scrub(value if isinstance(value, str) else json.dumps(value))
        for key, value in metadata.items()
    }
    return source, Document(scrub_in_place(record["text"]), "text/plain", title, metadata=plain)


def record_uri(collection: str, id_: str | int) -> str:
    """The uri of a record: `jsonl:COLLECTION/TEXT` or `jsonl:COLLECTION/int:NUMBER`, percent-encoded."""
    # The colon of a text is encoded, so that no text looks like a number.
    return f"jsonl:{quote(collection)}/" + (f"int:{id_}" if isinstance(id_, int) else quote(id_, safe=""))


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[bytes]]:
    """The lines of a file, read as they are needed. Raises `UsageError` if it cannot be opened or read."""
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
        raise UsageError('"id" must be a text or a whole number')
    if isinstance(value, int) and not -_MAX_INTEGER - 1 <= value <= _MAX_INTEGER:
        raise UsageError('"id" is a number of more than 64 bits; as a text it can have any length')
    if isinstance(value, str) and re.search("[\ud800-\udfff]", value):
        raise UsageError('"id" holds half of a character (a lone surrogate)')
    return value
