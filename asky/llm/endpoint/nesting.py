"""Untrusted JSON with limited nesting, so that it can be processed safely."""

from __future__ import annotations

import json
from typing import Any

_MAX_LEVELS = 100


class NestedTooDeeply(ValueError):
    """JSON with more than 100 nested arrays and objects."""


def load_json(text: str) -> Any:
    """Parse `text`. Raises `NestedTooDeeply`, or another `ValueError` if it is not JSON."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise NestedTooDeeply from None
    if text.count("{") + text.count("[") > _MAX_LEVELS:
        _check(value)
    return value


def _check(value: Any) -> None:
    level = [value]
    for _ in range(_MAX_LEVELS):
        level = [inner for each in level for inner in _inside(each) if isinstance(inner, dict | list)]
        if not level:
            return
    raise NestedTooDeeply


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
