"""Command-line arguments as text that can be searched for and stored."""

from __future__ import annotations


def as_utf8(argument: str) -> str:
    """Return `argument` with bytes that are not UTF-8, which Python passes as lone surrogates, replaced."""
    return argument.encode("utf-8", "replace").decode()
