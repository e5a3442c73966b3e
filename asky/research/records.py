"""Records of a JSON Lines file: `{"id", "text", "title"?, "url"?, "metadata"?}`, one a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from asky.errors import UsageError
from asky.reading.scrub import scrub, scrub_in_place
from asky.values import Document, Source, source_id


def parse_record(line: bytes, collection: str) -> tuple[Source, Document]:
    """The source and document of one line. Raises `UsageError` saying what is wrong with it."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise UsageError('not an object with "id" and "text"')
    external_id = record.get("id")
    if not isinstance(external_id, str | int) or isinstance(external_id, bool) or external_id == "":
        raise UsageError('"id" must be a text or a number')
    for key in ("title", "url"):
        if not isinstance(record.get(key), str | None):
            raise UsageError(f'"{key}" must be a text')
    metadata = record.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise UsageError('"metadata" must be an object')
    title = " ".join(scrub(record.get("title") or "").split()) or None
    uri = f"jsonl:{quote(collection)}/{quote(str(external_id), safe='')}"
    source = Source(
        source_id(uri), "file", uri, title or str(external_id), url=record.get("url"), external_id=str(external_id)
    )
    plain = {
        scrub(str(key)): scrub(value if isinstance(value, str) else json.dumps(value))
        for key, value in metadata.items()
    }
    return source, Document(scrub_in_place(record["text"]), "text/plain", title, metadata=plain)


def open_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, read as they are needed. Raises `UsageError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
