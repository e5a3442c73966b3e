"""Research that the agent does, over its steps, as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asky.agent.models import ResearchState
    from asky.agent.records import ResearchSummary


def research_runs_object(runs: Sequence[ResearchSummary]) -> dict[str, Any]:
    """Return runs of the research agent as an `asky.research_runs/1` object."""
    return {"schema": "asky.research_runs/1", "runs": [asdict(each) for each in runs]}


def research_state_object(state: ResearchState, status: str) -> dict[str, Any]:
    """Return the state of a run of the research agent as an `asky.research_state/1` object."""
    fields = dict(state) | {"started_at": state["started_at"].isoformat()}
    return {"schema": "asky.research_state/1", "status": status, **fields}
