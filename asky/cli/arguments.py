"""What a user typed, as text that can be looked up and stored."""

from __future__ import annotations


def as_utf8(argument: str) -> str:
    """`argument` with the bytes that are not UTF-8 replaced: Python hands them on as lone surrogates."""
    return argument.encode("utf-8", "replace").decode()
