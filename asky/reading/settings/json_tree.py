"""JSON: one line for each value, under its full path, so that any passage is self-explanatory.

The file's own text would do for small indented files, but not for the common ones: a line of 1 MB without a break, and
`\\u00e9` where a reader searches for é. One rule for all files keeps citations predictable.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from asky.errors import SourceUnreadable


class Pairs(list[tuple[str, Any]]):
    """The members of an object, repeated keys included."""


def parse_json(text: str, name: str) -> object:
    """Return the value in `text`: objects as `Pairs`, numbers as they are written. Raises SourceUnreadable."""
    try:
        # Numbers stay text: 1.10 is not 1.1, and an integer of 5,000 digits is a ValueError.
        return json.loads(text, object_pairs_hook=Pairs, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError:
        raise SourceUnreadable(f"{name}: JSON is nested too deeply") from None
    except ValueError as error:
        raise SourceUnreadable(f"{name}: not JSON ({error})") from None


def value_lines(root: object, comments: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield a line `path.to[3].key: value` for each value below `root`, and a blank line between members of a list.

    `comments` are added to the lines of their paths, as `path: value # comment`.
    """
    notes = comments or {}
    # An explicit stack: the depth of the file is untrusted.
    stack: list[Iterator[tuple[str, object]]] = [iter([("", root)])]
    while stack:
        path, value = next(stack[-1], (None, None))
        if path is None:
            stack.pop()
            if len(stack) == 2 and not isinstance(root, Pairs):
                yield "\n"
            continue
        note = f" # {notes[path]}" if path in notes else ""
        if isinstance(value, list):
            if note:
                yield f"{path}:{note}\n"
            stack.append(_members(path, value))
        else:
            yield f"{path}: {_scalar(value)}{note}\n" if path else f"{_scalar(value)}\n"


def _members(path: str, value: list[Any]) -> Iterator[tuple[str, object]]:
    if isinstance(value, Pairs):
        prefix = f"{path}." if path else ""
        return ((f"{prefix}{key}", member) for key, member in value)
    return ((f"{path}[{number}]", member) for number, member in enumerate(value))


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return value
    return "null" if value is None else str(value).lower()
