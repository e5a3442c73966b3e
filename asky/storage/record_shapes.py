"""The shapes of what the store holds of runs and transcripts as JSON: each kind of entry, message and step has its own.

A field is in `must` where its readers cannot do without it, and in `may` where an earlier asky did not write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

from asky.config.tool_parameters import check_schema
from asky.storage.stored_json import FAILURE, RESULTS, SHAPES, SOURCE, AnyOf, ByKind, Fields, Made, Named
from asky.values import Span

_NUMBER = int | float
_TEXT = str | None
_CALLS = [(str, str, str)]
_REASONS = [(str, str)]
_MODES = frozenset({"research", "standard", "lean"})

# the ledger

_PROGRAM = {"tool": str, "argv": [str]}
LEDGER = ByKind(
    "kind",
    {
        "asked": Fields({"sources": int}, {"model": str, "host": _TEXT}),
        "source_policy": Fields({"wanted": [str]}),
        "web_searched": Fields(
            {
                "queries": [str], "services": [Fields({"name": str, "host": _TEXT})], "found": [str],
                "failures": [(str, str, str)],
            },
            {"hints": Named(str)},
        ),
        "shortlisted": Fields(
            {
                "selected": [Fields({"url": str, "score": _NUMBER, "reasons": [str]})], "rejected": _REASONS,
                "read": int, "origins": int,
            }
        ),
        "read": Fields({"url": str, "verdict": str, "why": _TEXT, "hosts": [str]}, {"unseen": Named(int)}),
        "searched": Fields({"hits": list}, {"queries": [str]}),
        "ran": AnyOf(
            (
                Fields({**_PROGRAM, "ended": frozenset({"not_started"})}),
                Fields({**_PROGRAM, "ended": str, "status": int | None, "output_bytes": int, "seconds": _NUMBER}),
            )
        ),
        "failed": Fields(may={"code": str, "message": str, "partial": str}),
        "called": Fields(may={"prompt_tokens": int, "completion_tokens": int, "cost_usd": _NUMBER | None}),
    },
)  # fmt: skip

# the transcript of a session

_WITHDRAWN = {"withdrawn": bool}
MESSAGE = ByKind(
    "role",
    {
        "user": Fields(may={"shown": str, **_WITHDRAWN}),
        "call": Fields({"calls": _CALLS}, _WITHDRAWN),
        "tool": Fields({"id": str}, _WITHDRAWN),
        "assistant": Fields(may={"keys": [str], "failed": str, **_WITHDRAWN}),
    },
)

# the steps of a run

_USAGE = Fields(
    {"prompt_tokens": int, "completion_tokens": int, "cost_usd": _NUMBER | None, "estimated": bool},
    {"cached_tokens": int},
    is_closed=True,
)
_MESSAGE = Fields(
    {"role": frozenset({"system", "user", "assistant", "tool"}), "content": str},
    {"calls": _CALLS, "answers": str, "raw": dict},
)
_TOOL = Fields(
    {"name": str, "description": str, "parameters": Made(Fields({"type": frozenset({"object"})}), check_schema)},
    {"system_prompt_guideline": _TEXT},
    is_closed=True,
)
_REPLY = Fields({"message": _MESSAGE, "finish": str, "usage": _USAGE, "warnings": [str]})
_ERROR = Fields(
    {
        "code": str, "message": str, "hint": _TEXT, "retryable": bool, "reason": _TEXT, "limit_tokens": int | None,
    }
)  # fmt: skip
_RESULT = Fields({"content": str, "summary": str, "failure": AnyOf((FAILURE, None))})
_PLACE = Fields(may={"section": _TEXT, "page": int | None, "page_label": _TEXT}, is_closed=True)
_PASSAGE = Fields(
    {
        "key": str, "source": SOURCE, "document_id": int, "sha256": str, "location": _PLACE,
        "span": Made((int, int), lambda span: Span(*span)), "score": _NUMBER | None,
    }
)  # fmt: skip
_SCOPE = {"collections": AnyOf(([int], None)), "sources": AnyOf(([str], None))}
_USE = Fields({"searches": int, "fetches": int, "cache_hits": int}, is_closed=True)
_STATE = Fields(
    {
        "seconds": _NUMBER, "has_sources": bool, "question": str, **_SCOPE, "use": AnyOf((_USE, None)),
        "shown": [_PASSAGE], "queries": [str], "private_notes": [str], "warned": [str], "rejected": _REASONS,
        "offers": [(str, [str])],
    },
    {"sent": [str]},
)  # fmt: skip
_LIMIT = AnyOf((bool, Fields({"message": str, "hint": _TEXT}), None))
_ALL = {"state": _STATE, "met": Named(object, {"notes": [str], "limit": _LIMIT})}
_POLICY = Fields(
    {
        "allow_domains": [str],
        "deny_domains": [str],
        "kinds": [str],
        "since": AnyOf((Made(str, date.fromisoformat), None)),
        "recency": _TEXT,
    }
)
_WEB = Fields(
    {
        "collection_id": int, "named": [str], "shortlist": bool, "policy": AnyOf((_POLICY, None)),
        "queries": [str],
    }
)  # fmt: skip
_BEGUN = Fields(
    {
        "text": str, "shown": str, "mode": _MODES, **_SCOPE, "rejected": _REASONS,
        "web": AnyOf((_WEB, None)), "memory": frozenset({"session", "all"}), "session": str, "model": str,
        "host": _TEXT, "context_tokens": int, "offers_tools": bool,
        "limits": Fields({"max_turns": int, "max_passages": int, "passage_tokens": int}), "given": dict, "marker": str,
    }
)  # fmt: skip
_PREPARED = {**_ALL, "unread": _REASONS}
_BROKEN_OFF = {"text": str, "usage": AnyOf((_USAGE, None)), "is_estimated": bool}
STEP = ByKind(
    "kind",
    {
        "begun": _BEGUN,
        "prepared": Fields({"messages": [_MESSAGE], "tools": [_TOOL], "is_short": bool, "warnings": [str]}, _PREPARED),
        "called": AnyOf(
            (
                Fields({"reply": _REPLY, "usage": _USAGE}, _ALL),
                Fields({**_BROKEN_OFF, "error": _ERROR}, _ALL),
                Fields({**_BROKEN_OFF, "cut": bool}, _ALL),
            )
        ),
        "summarised": Fields({"reply": _REPLY, "usage": _USAGE}, _ALL),
        "ran": AnyOf((Fields({"result": _RESULT}, _ALL), Fields({"error": _ERROR}, _ALL))),
        "searched": Fields({"service": str, "host": _TEXT, "query": str, "found": RESULTS, "notes": [str]}, _ALL),
        "counted": Fields({"chunks": int, "sources": int, "missing": _TEXT}, _ALL),
        "compared": Fields({"warnings": [str]}, _ALL),
        "finished": Fields(
            may={
                "seconds": _NUMBER, "allowed_s": _NUMBER | None, "mended_late": bool, "changed_files": [str],
                "cancelled_in": _TEXT, **_ALL,
            }
        ),
        "set aside": Fields(may={"usage": AnyOf((_USAGE, None)), **_ALL}),
    },
)  # fmt: skip

RECORDS: Mapping[tuple[str, str], ByKind] = MappingProxyType(
    {("ledger", "data"): LEDGER, ("message", "data"): MESSAGE, ("step", "data"): STEP}
)
"""The shapes of the columns whose rows are of several kinds, by table and column."""


def shape_of(table: str, column: str, row: Mapping[str, Any]) -> Any:
    """The shape of what a column of that row holds as JSON, `None` for one that holds none."""
    by_kind = RECORDS.get((table, column))
    return SHAPES.get((table, column)) if by_kind is None else by_kind.of(row.get(by_kind.column))
