"""Conversion of a value from a file or a variable to the type of its key. No message repeats a value: it may be a
secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

from asky.config.documents import parse_toml
from asky.config.keys import Leaf

_NAMES: Mapping[type, str] = MappingProxyType(
    {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        Path: "a path",
        list: "a list",
        dict: "a table",
    }
)
_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})
_WHOLE = re.compile(r"[+-]?[0-9](?:_?[0-9]){0,17}\Z")

Expand = Callable[[str], Path]
"""Makes a written path absolute, or raises `WrongValue`."""


class WrongValue(Exception):
    """A value does not fit its key. Its `str()` says what was expected and what kind of value was found."""

    def __init__(self, expected: str, got: str, *, hint: str | None = None) -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.hint = hint


def expected(leaf: Leaf) -> str:
    """Describe the values that `leaf` takes."""
    if get_origin(leaf.type) is Literal:
        return "one of " + ", ".join(get_args(leaf.type))
    if get_origin(leaf.type) is tuple:
        if choices := _choices(leaf):
            return "a list of " + " or ".join(choices)
        return "a list of paths" if Path in get_args(leaf.type) else "a list of text"
    name = _NAMES[leaf.type]
    if leaf.low is not None and leaf.high is not None:
        return f"{name} from {_written(leaf.low)} to {_written(leaf.high)}"
    return name


def _written(number: float) -> str:
    return f"{int(number):_}" if number == int(number) else str(number)


def convert(leaf: Leaf, raw: object, expand: Expand) -> Any:
    """Convert `raw`, as parsed from TOML, to the type of `leaf`. Raises `WrongValue`."""
    if get_origin(leaf.type) is tuple:
        return _convert_list(leaf, raw, expand)
    if get_origin(leaf.type) is Literal:
        return _convert_choice(leaf, raw)
    if leaf.type is dict:
        return _convert_table(leaf, raw)
    if leaf.type is float and type(raw) is int:
        raw = float(raw)
    if leaf.type is Path and isinstance(raw, str):
        return expand(_check_text(leaf, raw))
    if type(raw) is not leaf.type:
        raise WrongValue(expected(leaf), _kind(raw))
    if isinstance(raw, str):
        return _check_text(leaf, raw)
    if leaf.low is not None and leaf.high is not None and not leaf.low <= raw <= leaf.high:  # type: ignore[operator]
        raise WrongValue(expected(leaf), "a number outside that range")
    return raw


def parse_text(leaf: Leaf, text: str) -> object:
    """Parse `text`, from a variable or an argument, to a TOML value: a list or table is written as JSON or TOML.

    Text that does not look like the type of `leaf` is returned unchanged, for `convert` to refuse.
    """
    if get_origin(leaf.type) is tuple or leaf.type is dict:
        return _parse_nested(text)
    if leaf.type is bool and text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    if leaf.type is int and _WHOLE.match(text):
        return int(text)
    if leaf.type is float:
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _parse_nested(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        parsed = parse_toml(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return parsed["value"] if len(parsed) == 1 else text


def _convert_list(leaf: Leaf, raw: object, expand: Expand) -> tuple[Any, ...]:
    paths, choices = Path in get_args(leaf.type), _choices(leaf)
    if isinstance(raw, str) and not paths and raw and not any(c.isspace() for c in raw):
        raw = [raw]  # one program without arguments
    if not isinstance(raw, list):
        hint = (
            'write each argument as an item of its own: ["program", "argument"]' if not paths else 'write it as ["..."]'
        )
        raise WrongValue(expected(leaf), _kind(raw), hint=hint)
    for item in raw:
        if not isinstance(item, str):
            raise WrongValue(expected(leaf), f"a list with {_kind(item)} in it")
        _check_text(leaf, item)
        if choices and item not in choices:
            raise WrongValue(expected(leaf), "a list with other text in it", hint=_nearest(item, choices))
    return tuple(expand(item) for item in raw) if paths else tuple(raw)


def _choices(leaf: Leaf) -> tuple[str, ...]:
    """Return the words that a list may contain; empty if there is no restriction."""
    item = get_args(leaf.type)[0]
    return get_args(item) if get_origin(item) is Literal else ()


def _convert_table(leaf: Leaf, raw: object) -> Mapping[str, Any]:
    """Convert a table whose values can be sent as JSON, so without dates and without numbers that are not finite."""
    if not isinstance(raw, dict):
        raise WrongValue(expected(leaf), _kind(raw))
    try:
        json.dumps(raw, allow_nan=False)
    except TypeError:
        raise WrongValue(expected(leaf), "one with a date or time in it") from None
    except (ValueError, RecursionError):
        raise WrongValue(expected(leaf), "one that cannot be written as JSON") from None
    return MappingProxyType(raw)


def _convert_choice(leaf: Leaf, raw: object) -> str:
    if not isinstance(raw, str):
        raise WrongValue(expected(leaf), _kind(raw))
    if raw not in get_args(leaf.type):
        raise WrongValue(expected(leaf), "other text", hint=_nearest(raw, get_args(leaf.type)))
    return raw


def _nearest(given: str, choices: tuple[str, ...]) -> str | None:
    from difflib import get_close_matches  # only if there is an error already

    close = get_close_matches(given.lower(), choices, n=1)
    return f"did you mean {close[0]}?" if close else None


def _check_text(leaf: Leaf, text: str) -> str:
    if not text.strip():
        raise WrongValue(expected(leaf), "empty text")
    if any(ord(c) < 32 or ord(c) == 127 for c in text):
        raise WrongValue(expected(leaf), "text with control characters")
    return text


def _kind(raw: object) -> str:
    return _NAMES.get(type(raw), "a date or time")
