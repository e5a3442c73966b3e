"""The ledger entries that the runs of every product write, and what their stages do.

These are their templates, see `asky.storage.stored_json`; the store is opened with those of all products.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from asky.storage.stored_json import NUMBER, TEXT

RUN_ENTRIES: Mapping[str, Any] = MappingProxyType(
    {
        "asked": {"sources": int, "model?": str, "host?": TEXT},
        "source_policy": {"wanted": [str]},
        "web_searched": {
            "queries": [str], "services": [{"name": str, "host": TEXT}], "found": [str],
            "failures": [(str, str, str)], "hints?": dict,
        },
        "shortlisted": {
            "selected": [{"url": str, "score": NUMBER, "reasons": [str]}], "rejected": [(str, str)],
            "read": int, "origins": int,
        },
        "read": {"url": str, "verdict": str, "why": TEXT, "hosts": [str], "unseen?": dict},
        "searched": {"hits": list, "queries?": [str]},
        "failed": {"code?": str, "message?": str, "partial?": str},
        "called": {"prompt_tokens?": int, "completion_tokens?": int, "cost_usd?": NUMBER | None},
    }
)  # fmt: skip
