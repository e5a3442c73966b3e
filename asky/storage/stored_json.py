"""JSON in the store: a template for each column, and the one way to read it.

A template is JSON with types in place of values. An object may have more fields than its template, and may lack those
whose name ends in `?`; a tuple stands for a list of exactly these members, a list for one of any length. A function is
a predicate on the value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType, UnionType
from typing import Any

from asky.errors import StoreDamaged
from asky.values import Unreadable as Unreadable

SEE_DOCTOR = "`asky doctor` shows what is damaged and how to repair it; nothing was deleted"


_TYPES = (type, UnionType)


def stored_json(text: object, template: Any, what: str) -> Any:
    """Return the content of a JSON column. Raises `StoreDamaged`, which names `what`, if it does not match."""
    try:
        return _read(text, template)
    except ValueError as error:
        raise StoreDamaged(f"the store is damaged: {what}: {error}", hint=SEE_DOCTOR) from error


def json_fault(text: object, template: Any) -> str | None:
    """Return the fault of a value that should be JSON matching the template, or `None`."""
    try:
        _read(text, template)
    except ValueError as error:
        return str(error)
    return None


def _read(text: object, template: Any) -> Any:
    if not isinstance(text, str):
        raise ValueError("it is not text")  # noqa: TRY004 - the data is wrong, not the code
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not JSON") from error
    if not fits(value, template):
        raise ValueError("it is not what asky writes there")
    return value


def fits(value: object, template: Any) -> bool:
    """Return whether a JSON value matches the template."""
    if isinstance(template, _TYPES):
        return isinstance(value, template)
    if isinstance(template, dict):
        return isinstance(value, dict) and all(
            fits(value[key], each) if (key := name.removesuffix("?")) in value else key != name
            for name, each in template.items()
        )
    if isinstance(template, list):
        return isinstance(value, list) and all(fits(each, template[0]) for each in value)
    if isinstance(template, tuple):
        return isinstance(value, list) and len(value) == len(template) and all(map(fits, value, template))
    return bool(template(value))


def _exactly(template: Mapping[str, Any]) -> Callable[[object], bool]:
    """Return a predicate for an object without other fields, from which a class is constructed."""
    names = {each.removesuffix("?") for each in template}
    return lambda value: fits(value, template) and isinstance(value, dict) and value.keys() <= names


def _is_citation(value: Any) -> bool:
    return fits(value, _CITATION) and 0 <= value["start"] <= value["end"]


def _is_quotation(value: Any) -> bool:
    return value is None or fits(value, {"n": int, "start": int, "end": int})


def _is_section(value: Any) -> bool:
    """Return whether a value is a section: heading, level, start and end, and its metadata, if it has any."""
    return isinstance(value, list) and fits(value[:4], (str, int, int, int)) and all(map(_is_texts, value[4:5]))


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


NUMBER = int | float
TEXT = str | None
_WORK = {"authors?": [str], "published?": TEXT, "published_in?": TEXT, "doi?": TEXT}
_CITATION = {
    "n": int, "source_id": str, "kind": str, "url": TEXT, "path": TEXT, "title": str, "page": int | None,
    "page_label": TEXT, "line?": int | None, "section": TEXT, "columns?": TEXT, "start": int, "end": int,
    "quote": str, "sha256": str, "fetched_at": TEXT, **_WORK,
}  # fmt: skip
_CLAIM = {
    "text": str, "start": int, "end": int, "citations": [int], "verdict": str, "score": NUMBER,
    "checks": {
        "missing_numbers?": list, "missing_quotes?": list, "contradicted_by?": TEXT,
        "quotation?": _is_quotation, "values?": [{"name": str, "value": str}], "missing_names?": [str], "better?": str,
        "says?": {"n": int, "text": str}, "meaning?": {"entailed": NUMBER, "contradicted": NUMBER}, "unread?": str,
        "doubted_number?": str,
    },
}  # fmt: skip
_USAGE = {
    "llm_calls": int, "prompt_tokens": int, "completion_tokens": int, "cost_usd": NUMBER | None, "searches": int,
    "fetches": int, "cache_hits": int, "seconds": NUMBER,
}  # fmt: skip
CONTRADICTION = {
    "sides": [{"statement": str, "citations?": [int], "source?": str}], "explanation?": str, "stated_by?": str,
    "kind?": str,
}  # fmt: skip
ANSWER = {
    "run": str, "session": TEXT, "mode": str, "question": str, "model": str, "answer": str,
    "citations": [_is_citation], "claims": [_CLAIM],
    "sources": [{"source_id": str, "url": TEXT, "title": str, "used": bool}],
    "rejected": [{"url": str, "reason": str}], "usage": _USAGE, "stopped_by": TEXT, "warnings": [str],
    "relevance?": NUMBER | None, "confidence?": NUMBER | None, "contradictions?": [CONTRADICTION],
    "noted?": [{"id": int, "text": str, "trust": str, "created_at": str, "passages": list}],
    "unread?": [{"path": str, "verdict": str, "message": str, "part?": str}], "unread_count?": int,
}  # fmt: skip
SOURCE = _exactly(
    {
        "id": str, "kind": str, "uri": str, "title": str, "url?": TEXT, "path?": TEXT,
        "external_id?": str | int | None, "fetched_at?": TEXT, **_WORK,
    }
)  # fmt: skip
OF_THE_WORK = "of_the_work"
"""The key in a source's metadata for bibliographic data from elsewhere; reading the source again keeps it."""
SOURCE_METADATA = {f"{OF_THE_WORK}?": _WORK}
SETTINGS = {
    "web?": bool, "model?": TEXT, "sites?": [str], "since?": TEXT, "shortlist?": bool | str | None, "papers?": dict,
}  # fmt: skip
LINKS = [(str, str, int)]
SUMMARY = {"document": int, "text": str}
_CANDIDATE = _exactly(
    {
        "url": str, "found": [_exactly({"provider": str, "rank": int, "query": str})], "authors": [str],
        "title?": str, "snippet?": str, "published?": TEXT, "origin?": str, "kind?": str, "parent?": TEXT,
        "doi?": TEXT, "venue?": TEXT, "pdf_url?": TEXT, "citations?": int | None, "is_retracted?": bool,
    }
)  # fmt: skip
_IDENTIFIER = _exactly({"kind": str, "value": str, "version": int | None})
_NOTICE = _exactly(
    {
        "kind": lambda value: value in ("retraction", "withdrawal", "concern", "correction", "newer_version"),
        "date": TEXT, "source": str, "identifier": lambda value: value is None or _IDENTIFIER(value),
    }
)  # fmt: skip
RESULTS = [_CANDIDATE]
FOUND_PAPERS = [
    _exactly(
        {
            "candidate": _CANDIDATE, "ids": [_IDENTIFIER], "same_as": [_IDENTIFIER], "is_notice": bool,
            "unchecked": [str], "notices": [_NOTICE],
        }
    )
]  # fmt: skip
"""The answer of a registry to a lookup: a paper, or none."""
FAILURE = _exactly({"subject": str, "code": str, "message": str, "hint?": TEXT, "retryable?": bool})

_MESSAGE: Mapping[str, Any] = MappingProxyType(
    {
        "user": {"shown?": str, "withdrawn?": bool},
        "call": {"calls": [(str, str, str)], "withdrawn?": bool},
        "tool": {"id": str, "withdrawn?": bool},
        "assistant": {"keys?": [str], "failed?": str, "withdrawn?": bool},
    }
)
NO_ENTRIES: Mapping[str, Any] = MappingProxyType({})
COLUMNS: Mapping[tuple[str, str], Any] = MappingProxyType(
    {
        ("document", "sections"): [_is_section],
        ("document", "pages"): [(int, TEXT, int, int)],
        ("document", "metadata"): dict,
        ("source", "metadata"): SOURCE_METADATA,
        ("run", "answer"): ANSWER,
        ("session", "settings"): SETTINGS,
        ("passage", "source"): SOURCE,
        ("finding", "tags"): [str],
        ("finding", "passages"): [{"source_id": str, "kind?": TEXT, "url?": TEXT, "path?": TEXT, "title?": TEXT}],
        ("endpoint", "facts"): {"max_tokens_name?": str, "response_format?": str, "reasoning_effort?": str},
        ("page", "links"): LINKS,
        ("page", "summary"): SUMMARY,
        ("page", "failure"): FAILURE,
        ("search", "results"): lambda value: fits(value, RESULTS) or fits(value, FOUND_PAPERS),
        ("event", "data"): dict,
    }
)


def template_of(table: str, column: str, kind: object = None, ledger_entries: Mapping[str, Any] = NO_ENTRIES) -> Any:
    """Return the template of a JSON column, `None` for any other column.

    In transcripts it depends on the role of the row, and in the ledger on its `kind`: `ledger_entries` has the
    templates by kind, of those who write the entries. Of other kinds it is only known that they are objects.
    """
    if (table, column) == ("ledger", "data"):
        return ledger_entries.get(str(kind), dict)
    if (table, column) == ("message", "data"):
        return _MESSAGE.get(str(kind), dict)
    return COLUMNS.get((table, column))
