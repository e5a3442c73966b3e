"""The configuration and the check-up as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from asky.app.schemas.model import origin_object

if TYPE_CHECKING:
    from asky.config.listing import ConfigEntry
    from asky.health.check import Check


def config_object(entries: Sequence[ConfigEntry]) -> dict[str, Any]:
    """Return all values of the configuration as an `asky.config/1` object."""
    default = {"layer": "default", "source": None, "line": None}
    values = [
        {"key": each.key, "value": each.value, "origin": origin_object(each.origin) if each.origin else default}
        for each in entries
    ]
    return {"schema": "asky.config/1", "values": values}


def doctor_object(checks: Sequence[Check]) -> dict[str, Any]:
    """Return the checks as an `asky.doctor/1` object."""
    problems, notes = (sum(each.state == state for each in checks) for state in ("problem", "note"))
    found = [{"name": c.name, "state": c.state, "message": c.message, "hint": c.hint} for c in checks]
    return {"schema": "asky.doctor/1", "problems": problems, "notes": notes, "checks": found}
