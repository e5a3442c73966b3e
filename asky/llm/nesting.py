"""JSON from outside, nested no deeper than what is done with it can bear."""

from __future__ import annotations

import json
from typing import Any

_MOST_LEVELS = 100


class NestedTooDeeply(ValueError):
    """JSON in which more than 100 arrays and objects lie within each other."""


def load_json(text: str) -> Any:
    """The value that `text` is. Raises `NestedTooDeeply`, or another `ValueError` where it is not JSON."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise NestedTooDeeply from None
    if text.count("{") + text.count("[") > _MOST_LEVELS:
        _check(value)
    return value


def _check(value: Any) -> None:
    level = [value]
    for _ in range(_MOST_LEVELS):
        level = [inner for each in level for inner in _inside(each) if isinstance(inner, dict | list)]
        if not level:
            return
    raise NestedTooDeeply


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
