"""Records that cannot be read, as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence

from asky.values import Unreadable


def damaged_objects(damaged: Sequence[Unreadable]) -> list[dict[str, str]]:
    """Return the unreadable rows of a list as they stand in other objects."""
    return [{"name": each.name, "message": each.why} for each in damaged]
