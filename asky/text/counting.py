"""Formatting of counts."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return `1 page`, `2 pages`, `1,000 pages`; `plural` is for irregular nouns."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
