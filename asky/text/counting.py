"""Formatting of counts and sizes."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return `1 page`, `2 pages`, `1,000 pages`; `plural` is for irregular nouns."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def format_bytes(count: int) -> str:
    """Format a number of bytes with a decimal unit that keeps it short: `512 B`, `1.5 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
