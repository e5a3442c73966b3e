"""The ledger entries of the agent: their templates, see `asky.storage.stored_json`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from asky.report.research_report import REPORTED, RESEARCH
from asky.storage.stored_json import NUMBER

STOP_REQUESTED = "stop_requested"
"""The kind of the entry that ends a run early; any process may add it."""
PLANNED, EVALUATED = "planned", "evaluated"
"""The kinds of entries with the plan, and with the decision after a cycle."""

AGENT_ENTRIES: Mapping[str, Any] = MappingProxyType(
    {
        STOP_REQUESTED: {},
        PLANNED: {"domain": str, "sub_questions": [str], "available": [str], "unavailable": [(str, str)]},
        EVALUATED: {"cycle": int, "should_stop": bool, "reason": str, "metrics": {"new_facts_ratio": NUMBER}},
        REPORTED: dict(RESEARCH),
    }
)
