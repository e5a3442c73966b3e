"""What the store holds as JSON: the shape that readers of each column rely on, and the one way to read it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from types import MappingProxyType, UnionType
from typing import Any

from asky.errors import StoreDamaged
from asky.values import Span

SEE_DOCTOR = "`asky doctor` says what is damaged and what can be done; nothing was deleted"
WRITTEN_OTHERWISE = "it is not what asky writes there"


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with at least the fields `must`; those of `may` are of their shape where they are there.

    One that `is_closed` has no others.
    """

    must: Mapping[str, Any] = field(default_factory=dict)
    may: Mapping[str, Any] = field(default_factory=dict)
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """An object of any fields: each has the shape of its name's first word in `by_word`, or else the shape `other`."""

    other: Any
    by_word: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A value of one of these shapes."""

    shapes: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """A value of a shape of which `make` makes something, as its readers do: it refuses none that is whole."""

    shape: Any
    make: Callable[[Any], object]

    def can_be(self, value: object) -> bool:
        """Whether `make` takes the value; of what it raises, that is what Python says to a value that is none."""
        try:
            self.make(value)
        except (AttributeError, LookupError, TypeError, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class ByKind:
    """An object whose shape another `column` of its row says; one of a kind that is not named has any fields."""

    column: str
    shapes: Mapping[str, Any]

    def of(self, kind: object) -> Any:
        """The shape of an object in a row of that kind."""
        return self.shapes.get(kind, dict) if isinstance(kind, str) else dict


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that cannot be read, in a list of others: `name` is what is left of its name, `why` what is wrong."""

    name: str
    why: str


def fits(value: object, shape: Any) -> bool:
    """Whether a value of JSON has a shape.

    A shape is a type or union, `None`, a set of the texts that may be, `Fields`, `Named`, `AnyOf`, `Made`, a tuple of
    the shapes of a list's members in order, or a list of the one shape that all of them have.
    """
    if isinstance(shape, type | UnionType):
        return isinstance(value, shape) and (value.__class__ is not bool or bool in _types(shape))
    if isinstance(shape, tuple):
        return isinstance(value, list) and len(value) == len(shape) and all(map(fits, value, shape))
    if isinstance(shape, list):
        each_fits = _is_row if _is_row_of_types(shape[0]) else fits  # there are pages with 10,000 links
        return isinstance(value, list) and all(map(each_fits, value, repeat(shape[0])))
    if isinstance(shape, frozenset):
        return isinstance(value, str) and value in shape
    if shape is None:
        return value is None
    if isinstance(shape, AnyOf):
        return any(fits(value, each) for each in shape.shapes)
    if isinstance(shape, Made):
        return fits(value, shape.shape) and shape.can_be(value)
    if not isinstance(value, dict):
        return False
    if isinstance(shape, Named):
        return all(fits(each, shape.by_word.get(name.split(" ")[0], shape.other)) for name, each in value.items())
    return (
        all(name in value and fits(value[name], each) for name, each in shape.must.items())
        and all(fits(value[name], each) for name, each in shape.may.items() if name in value)
        and not (shape.is_closed and value.keys() - shape.must.keys() - shape.may.keys())
    )


def _is_row_of_types(shape: Any) -> bool:
    return isinstance(shape, tuple) and all(
        isinstance(each, type | UnionType) and bool not in _types(each) for each in shape
    )


def _is_row(value: object, shape: tuple[type | UnionType, ...]) -> bool:
    """What `fits` says of such a row, in a third of the time."""
    return (
        isinstance(value, list)
        and len(value) == len(shape)
        and all(map(isinstance, value, shape))
        and bool not in map(type, value)
    )


def _types(shape: type | UnionType) -> tuple[type, ...]:
    """The types that a shape names; to Python a truth value is a number too."""
    return shape.__args__ if isinstance(shape, UnionType) else (shape, bool) if shape is object else (shape,)


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
        raise ValueError(WRITTEN_OTHERWISE)
    return value


_NUMBER = int | float
_TEXT = str | None
_WORK = {"authors": [str], "published": _TEXT, "published_in": _TEXT, "doi": _TEXT}
_CITATION = Made(
    Fields(
        {
            "n": int, "source_id": str, "kind": str, "url": _TEXT, "path": _TEXT, "title": str, "page": int | None,
            "page_label": _TEXT, "section": _TEXT, "start": int, "end": int, "quote": str, "sha256": str,
            "fetched_at": _TEXT,
        },
        _WORK,
    ),
    lambda citation: Span(citation["start"], citation["end"]),
)  # fmt: skip
_CHECKS = Fields(
    may={"missing_numbers": list, "missing_quotes": list, "contradicted_by": _TEXT},
)
_CLAIM = Fields(
    {"text": str, "start": int, "end": int, "citations": [int], "verdict": str, "score": _NUMBER, "checks": _CHECKS}
)
_USAGE = Fields(
    {
        "llm_calls": int, "prompt_tokens": int, "completion_tokens": int, "cost_usd": _NUMBER | None, "searches": int,
        "fetches": int, "cache_hits": int, "seconds": _NUMBER,
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
        ("document", "metadata"): Named(str),
        ("source", "metadata"): SOURCE_METADATA,
        ("run", "answer"): ANSWER,
        ("session", "settings"): SETTINGS,
        ("passage", "source"): SOURCE,
        ("finding", "tags"): [str],
        ("finding", "passages"): [Fields({"source_id": str}, dict.fromkeys(("kind", "url", "path", "title"), _TEXT))],
        ("endpoint", "facts"): Fields(may={"max_tokens_name": str, "response_format": str, "reasoning_effort": str}),
        ("page", "links"): LINKS,
        ("page", "summary"): SUMMARY,
        ("page", "failure"): FAILURE,
        ("search", "results"): RESULTS,
    }
)
"""The shape of each column that holds JSON, by table and column; see `asky.storage.record_shapes` for the others."""
