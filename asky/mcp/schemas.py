"""JSON Schemas of arguments and results, short: a host shows them to its model with every request.

They name the fields that a model needs. The contracts have more; fields are added to them, and never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

Schema = Mapping[str, Any]

TEXT: Schema = MappingProxyType({"type": "string"})
NUMBER: Schema = MappingProxyType({"type": "number"})
INTEGER: Schema = MappingProxyType({"type": "integer"})
FLAG: Schema = MappingProxyType({"type": "boolean"})
MAYBE_TEXT: Schema = MappingProxyType({"type": ["string", "null"]})
MAYBE_INTEGER: Schema = MappingProxyType({"type": ["integer", "null"]})
MAYBE_OBJECT: Schema = MappingProxyType({"type": ["object", "null"]})
TEXTS: Schema = MappingProxyType({"type": "array", "items": {"type": "string"}})


def described(schema: Schema, description: str, **more: Any) -> Schema:
    """Return `schema` with a description and more keywords."""
    return {**schema, **more, "description": description}


def arguments(required: str = "", /, **properties: Schema) -> Schema:
    """Return the schema of arguments; `required` are names with spaces between them."""
    made = {
        "type": "object",
        "properties": {name: dict(each) for name, each in properties.items()},
        "additionalProperties": False,
    }
    return made | ({"required": required.split()} if required else {})


def items(**properties: Schema) -> Schema:
    """Return the schema of a list of objects."""
    made = {name: dict(each) for name, each in properties.items()}
    return {"type": "array", "items": {"type": "object", "properties": made, "required": list(made)}}


def result(name: str, required: str, /, *others: str, **properties: Schema) -> Schema:
    """Return the schema of a contract by its name, or of one of several, all of which have the `required` fields."""
    named = {"enum": [name, *others]} if others else {"const": name}
    made = {"schema": named, **{key: dict(each) for key, each in properties.items()}}
    return {"type": "object", "properties": made, "required": ["schema", *required.split()]}


UNREAD: Mapping[str, Schema] = MappingProxyType(
    {
        "unread": described(
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {name: dict(TEXT) for name in ("path", "verdict", "part", "message")},
                    "required": ["path", "verdict", "message"],
                },
            },
            "Files that could not be read, and parts of files",
        ),
        "unread_count": INTEGER,
    }
)
"""The fields of every result that rests on documents."""

ANSWER = result(
    "asky.answer/1",
    "run answer",
    "asky.run_status/1",
    run=TEXT,
    answer={"type": ["string", "object", "null"]},
    citations=items(n=INTEGER, title=MAYBE_TEXT, url=MAYBE_TEXT, path=MAYBE_TEXT, quote=TEXT),
    claims=items(text=TEXT, citations={"type": "array"}, verdict=TEXT),
    stopped_by=MAYBE_TEXT,
    warnings=TEXTS,
    status=TEXT,
    next=MAYBE_INTEGER,
    **UNREAD,
)
HITS = result(
    "asky.hits/1",
    "hits next_offset unread",
    hits=items(rank=INTEGER, score=NUMBER, title=MAYBE_TEXT, url=MAYBE_TEXT, path=MAYBE_TEXT, text=TEXT),
    next_offset=MAYBE_INTEGER,
    **UNREAD,
)
PAGE = result(
    "asky.page/1",
    "url text links next_offset unread",
    url=TEXT,
    final_url=TEXT,
    text=TEXT,
    links=items(url=TEXT, text=TEXT),
    is_cut=FLAG,
    next_offset=MAYBE_INTEGER,
    **UNREAD,
)
WHY = result(
    "asky.why/1",
    "run citation passage checks",
    run=TEXT,
    citation={"type": "object"},
    passage=TEXT,
    before=TEXT,
    after=TEXT,
    checks={"type": "object"},
)
FINDINGS = result(
    "asky.findings/1",
    "findings next_offset",
    findings=items(id=INTEGER, text=TEXT, tags=TEXTS, trust=TEXT, score=NUMBER),
    next_offset=MAYBE_INTEGER,
)
FINDING = result("asky.finding/1", "id text", id=INTEGER, text=TEXT, tags=TEXTS, session=MAYBE_TEXT)
NOTE = result(
    "asky.note/1",
    "",
    "asky.run_status/1",
    success=FLAG,
    path=TEXT,
    topics_researched=INTEGER,
    preview=TEXT,
    written_to=MAYBE_TEXT,
    diff=MAYBE_TEXT,
    warnings=TEXTS,
    run=TEXT,
    status=TEXT,
    next=MAYBE_INTEGER,
    **UNREAD,
)
NOTE_HITS = result(
    "asky.note_hits/1",
    "hits unread",
    hits=items(path=TEXT, title=TEXT, heading=MAYBE_TEXT, snippet=TEXT, score=NUMBER),
    **UNREAD,
)
NOTE_TEXT = result(
    "asky.note_text/1", "path text next_offset unread", path=TEXT, text=TEXT, next_offset=MAYBE_INTEGER, **UNREAD
)
NOTES = result(
    "asky.notes/1",
    "notes next_offset unread",
    notes=items(path=TEXT, title=TEXT, aliases=TEXTS, tags=TEXTS),
    next_offset=MAYBE_INTEGER,
    **UNREAD,
)
RUN_STATUS = result(
    "asky.run_status/1",
    "run status events next answer error",
    run=TEXT,
    status=TEXT,
    events=items(seq=INTEGER, event=TEXT),
    next=MAYBE_INTEGER,
    answer=MAYBE_OBJECT,
    error=MAYBE_OBJECT,
    approval=MAYBE_OBJECT,
)
