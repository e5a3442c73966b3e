"""Merges the deltas of a message, including keys that asky does not know."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

_GROWING = frozenset(
    {"arguments", "content", "reasoning", "reasoning_content", "refusal", "text", "summary", "thinking", "data"}
)
"""Keys whose strings come in pieces; any other string is complete each time."""


class Growing:
    """A text being streamed. Appending to a string would copy it for every token."""

    def __init__(self, text: str) -> None:
        self.pieces = [text]

    def __str__(self) -> str:
        return "".join(self.pieces)


def merge(target: MutableMapping[str, Any], delta: Mapping[str, Any]) -> None:
    """Merge `delta` into `target`: texts grow, objects are merged, lists are extended.

    `None` and `""` overwrite nothing; any other value replaces one that cannot grow. Pass the content of `target` to
    `finalize` before any other use.
    """
    for key, value in delta.items():
        old = target.get(key)
        if old is None:
            target[key] = _opened(key, value)
        elif value is None or value == "":
            continue
        elif isinstance(old, Growing) and isinstance(value, str):
            old.pieces.append(value)
        elif isinstance(old, list) and isinstance(value, list):
            _extend(old, value)
        elif isinstance(old, dict) and isinstance(value, Mapping):
            merge(old, value)
        else:
            target[key] = _opened(key, value)


def finalize(value: Any) -> Any:
    """Return a copy of a merged value as plain JSON, with texts joined and encodable.

    Halves of a surrogate pair that came in two deltas are joined; a lone one becomes U+FFFD.
    """
    if isinstance(value, dict):
        return {finalize(key): finalize(each) for key, each in value.items()}
    if isinstance(value, list):
        return [finalize(each) for each in value]
    if isinstance(value, str | Growing):
        return _encodable(str(value))
    return value


def _encodable(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _extend(parts: list[Any], more: list[Any]) -> None:
    """Add parts; the first is merged into the last one if it continues it (same type, index and id)."""
    if parts and more and _continues(parts[-1], more[0]):
        merge(parts[-1], more[0])
        more = more[1:]
    parts.extend(_opened("", part) for part in more)


def _continues(last: Any, part: Any) -> bool:
    if not isinstance(last, dict) or not isinstance(part, Mapping) or "type" not in part:
        return False
    if last.get("type") != part["type"] or last.get("index") != part.get("index") or last.get("signature"):
        return False
    return not (last.get("id") and part.get("id") and last["id"] != part["id"])


def _opened(key: str, value: Any) -> Any:
    """Return a value that can be merged into: copied containers, and texts that can grow."""
    if isinstance(value, Mapping):
        return {name: _opened(name, each) for name, each in value.items()}
    if isinstance(value, list):
        return [_opened("", part) for part in value]
    return Growing(value) if isinstance(value, str) and key in _GROWING else value


class SurrogateJoiner:
    """Makes pieces of text encodable as they arrive: see `finalize`. Its results add up to the finalized text."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Return `text`, without a trailing surrogate half, which is kept for the next piece."""
        if not self._held and text.isascii():
            return text
        text = self._held + text
        self._held = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return _encodable(text[: len(text) - len(self._held)])

    def end(self) -> str:
        """Return what is kept."""
        rest, self._held = self._held, ""
        return _encodable(rest)
