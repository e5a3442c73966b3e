"""What was not right about a question, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asky.evaluation.scoring import CUT


def fault_of(outcome: Mapping[str, Any]) -> str | None:
    """Return what was not right about a question of an `asky.eval/1` object; `None` if nothing was, or none can say."""
    if "answered" not in outcome:
        is_lost = outcome["sources"] and outcome["answerable"] and (outcome["first_rank"] or CUT + 1) > CUT
        return f"{', '.join(outcome['sources'])}: {_rank(outcome)}" if is_lost else None
    if outcome["right"] is not False:
        return None
    if not outcome["answerable"]:
        return "answered, though it has no answer"
    if not outcome["answered"]:
        return f"not answered; its source: {_rank(outcome)}" if outcome["sources"] else "not answered"
    missing = ", ".join(" / ".join(f"“{form}”" for form in fact) for fact in outcome["missing"])
    parts = [f"lacks {missing}"] if missing else []
    if outcome["measures"].get("right_source") == 0:
        cited = ", ".join(each["title"] for each in outcome["cited"]) or "nothing"
        parts.append(f"cites {cited} instead of {' or '.join(outcome['sources'])}")
    return "; ".join(parts)


def _rank(outcome: Mapping[str, Any]) -> str:
    return f"rank {outcome['first_rank']}" if outcome["first_rank"] else "not found"
