"""Results that fit into the context of a model: lists and texts are cut, and say where they go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from asky.app.records import token_bound
from asky.text.printable import json_text

MAX_TOKENS = 20_000
"""The most tokens of one result, as JSON; the estimate is hardly ever too low."""
_TEXT_TOKENS = MAX_TOKENS * 3 // 4
_CHARS_PER_TOKEN = 6  # more than prose has
_SHORT_CHARS = 200  # a text that is not worth cutting


def count_tokens(value: object) -> int:
    """Return an estimate of the tokens of `value` as JSON."""
    return token_bound(json_text(value))


def page_of(value: Mapping[str, Any], key: str, *, offset: int, limit: int) -> dict[str, Any]:
    """Return `value` with at most `limit` items of the list `key`, of which it may hold one more.

    `next_offset` is where the next page starts; `None` after the last item. A page has at least one item.
    """
    items = list(value[key])
    kept = items[:limit]
    while len(kept) > 1 and count_tokens({**value, key: kept}) > MAX_TOKENS:
        kept = kept[: max(1, len(kept) * 3 // 4)]
    return {**value, key: kept, "next_offset": offset + len(kept) if len(kept) < len(items) else None}


def text_page(value: Mapping[str, Any], key: str, *, offset: int) -> dict[str, Any]:
    """Return `value` with the part of the text `key` from character `offset` on; `next_offset` as in `page_of`."""
    text = str(value[key] or "")
    part = cut_text(text[offset:], _TEXT_TOKENS)
    end = offset + len(part)
    return {**value, key: part, "next_offset": end if end < len(text) else None}


def cut_text(text: str, max_tokens: int) -> str:
    """Return the longest beginning of `text` that certainly has at most `max_tokens` tokens, within a tenth."""
    part = text[: max_tokens * _CHARS_PER_TOKEN]
    while part and count_tokens(part) > max_tokens:
        part = part[: len(part) * 9 // 10]
    return part


def shortened(value: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return `value` with the last items of its lists left out until it fits; those of the first of `keys` go first.

    `left_out` counts what is missing, by key; it is absent if nothing is.
    """
    kept = dict(value)
    excess = count_tokens(kept) - MAX_TOKENS
    left_out: dict[str, int] = {}
    for key in keys:
        items = list(kept.get(key) or ())
        while items and excess > 0:
            excess -= count_tokens(items.pop())
            left_out[key] = left_out.get(key, 0) + 1
            kept[key] = items
    return {**kept, "left_out": left_out} if left_out else kept


def within_limit(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return `value` with its longest texts cut to half until it fits; `left_out` counts their missing characters."""
    kept = dict(value)
    left_out: dict[str, int] = dict(kept.get("left_out", {}))
    while count_tokens(kept) > MAX_TOKENS:
        key = max((name for name, each in kept.items() if isinstance(each, str)), key=lambda name: len(kept[name]))
        text = kept[key]
        if len(text) < _SHORT_CHARS:
            break
        kept[key] = text[: len(text) // 2]
        left_out[key] = left_out.get(key, 0) + len(text) - len(kept[key])
        kept["left_out"] = left_out
    return kept
