"""What the store holds as JSON: the shape that readers of each column rely on, and the one way to read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from types import MappingProxyType
from typing import Any

from asky.errors import StoreDamaged

SEE_DOCTOR = "`asky doctor` says what is damaged and what can be done; nothing was deleted"


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with at least the fields `must`; those of `may` are of their shape where they are there.

    One that `is_closed` has no others.
    """

    must: Mapping[str, Any] = field(default_factory=dict)
    may: Mapping[str, Any] = field(default_factory=dict)
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that cannot be read, in a list of others: `name` is what is left of its name, `why` what is wrong."""

    name: str
    why: str


def fits(value: object, shape: Any) -> bool:
    """Whether a value of JSON has a shape: `Fields`, a type or union, a tuple of the types of a list's members in
    order, or a list of the one shape that all of them have."""
    if isinstance(shape, Fields):
        return (
            isinstance(value, dict)
            and all(name in value and fits(value[name], each) for name, each in shape.must.items())
            and all(fits(value[name], each) for name, each in shape.may.items() if name in value)
            and not (shape.is_closed and value.keys() - shape.must.keys() - shape.may.keys())
        )
    if isinstance(shape, list):
        return isinstance(value, list) and all(map(fits, value, repeat(shape[0])))
    if isinstance(shape, tuple):
        return isinstance(value, list) and len(value) == len(shape) and all(map(isinstance, value, shape))
    return isinstance(value, shape)


def stored_json(text: object, shape: Any, what: str) -> Any:
    """What a column holds as JSON of that shape; only asky writes there.

    Raises `StoreDamaged`, which says of `what`, where it is no JSON or of another shape.
    """
    try:
        return _read(text, shape)
    except ValueError as error:
        raise StoreDamaged(f"the store is damaged: {what}: {error}", hint=SEE_DOCTOR) from error


def json_fault(text: object, shape: Any) -> str | None:
    """What is wrong with a value that should be JSON of that shape, or `None`."""
    try:
        _read(text, shape)
    except ValueError as error:
        return str(error)
    return None


def _read(text: object, shape: Any) -> Any:
    """Raises `ValueError`, which says what is wrong."""
    if not isinstance(text, str):
        raise ValueError("it is no text")  # noqa: TRY004 - the data is wrong, not the code
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("it is no JSON") from error
    if not fits(value, shape):
        raise ValueError("it is not what asky writes there")
    return value


_NUMBER = int | float
_TEXT = str | None
_WORK = {"authors": [str], "published": _TEXT, "published_in": _TEXT, "doi": _TEXT}
_CITATION = Fields(
    {
        "n": int, "source_id": str, "kind": str, "url": _TEXT, "path": _TEXT, "title": str, "page": int | None,
        "page_label": _TEXT, "section": _TEXT, "start": int, "end": int, "quote": str, "sha256": str,
        "fetched_at": _TEXT,
    },
    _WORK,
)  # fmt: skip
_CLAIM = Fields(
    {"text": str, "start": int, "end": int, "citations": [int], "verdict": str, "score": _NUMBER, "checks": dict}
)
_USAGE = Fields(
    {
        "llm_calls": int, "prompt_tokens": int, "completion_tokens": int, "cost_usd": _NUMBER | None, "searches": int,
        "fetches": int, "seconds": _NUMBER,
    }
)  # fmt: skip
ANSWER = Fields(
    {
        "run": str, "session": _TEXT, "mode": str, "question": str, "model": str, "answer": str,
        "citations": [_CITATION], "claims": [_CLAIM],
        "sources": [Fields({"source_id": str, "url": _TEXT, "title": str, "used": bool})],
        "rejected": [Fields({"url": str, "reason": str})], "usage": _USAGE, "stopped_by": _TEXT, "warnings": [str],
    }
)  # fmt: skip
SOURCE = Fields(
    {"id": str, "kind": str, "uri": str, "title": str},
    {"url": _TEXT, "path": _TEXT, "external_id": str | int | None, "fetched_at": _TEXT, **_WORK},
    is_closed=True,
)
OF_THE_WORK = "of_the_work"
"""Where the metadata of a source hold what others say of the work; reading the source again leaves it."""
SOURCE_METADATA = Fields(may={OF_THE_WORK: Fields(may=_WORK)})
SETTINGS = Fields(
    may={"web": bool, "model": _TEXT, "sites": [str], "since": _TEXT, "shortlist": bool | str | None},
)
SECTIONS = [(str, int, int, int)]
PAGES = [(int, _TEXT, int, int)]
LINKS = [(str, str, int)]
SUMMARY = Fields({"document": int, "text": str})
RESULTS = [
    Fields(
        {"url": str, "found": [Fields({"provider": str, "rank": int, "query": str}, is_closed=True)], "authors": [str]},
        {
            "title": str, "snippet": str, "published": _TEXT, "origin": str, "kind": str, "parent": _TEXT, "doi": _TEXT,
            "venue": _TEXT, "pdf_url": _TEXT, "citations": int | None, "is_retracted": bool,
        },
        is_closed=True,
    )
]  # fmt: skip
FAILURE = Fields({"subject": str, "code": str, "message": str}, {"hint": _TEXT, "retryable": bool}, is_closed=True)

SHAPES: Mapping[tuple[str, str], Any] = MappingProxyType(
    {
        ("document", "sections"): SECTIONS,
        ("document", "pages"): PAGES,
        ("document", "metadata"): dict,
        ("source", "metadata"): SOURCE_METADATA,
        ("run", "answer"): ANSWER,
        ("session", "settings"): SETTINGS,
        ("message", "data"): dict,
        ("ledger", "data"): dict,
        ("passage", "source"): SOURCE,
        ("finding", "tags"): [str],
        ("finding", "passages"): [Fields({"source_id": str})],
        ("endpoint", "facts"): dict,
        ("page", "links"): LINKS,
        ("page", "summary"): SUMMARY,
        ("page", "failure"): FAILURE,
        ("search", "results"): RESULTS,
    }
)
"""The shape of each column that holds JSON, by table and column."""
