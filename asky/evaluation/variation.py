"""Variants of a configuration: `KEY=VALUE,VALUE`, several of which make a grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from asky.errors import UsageError

MAX_VARIANTS = 32
_EXAMPLE = "for example: --vary retrieval.dense_weight=0.5,0.75"

Setting = tuple[str, str]
"""A key of the configuration and its value as text."""


def grid(options: Sequence[str]) -> tuple[tuple[Setting, ...], ...]:
    """Return every combination of the values in `options`, the last option varying fastest; one empty one without any.

    Raises `UsageError` for a malformed option, a key that comes twice, and more than `MAX_VARIANTS` combinations.
    """
    parsed = [_parse(each) for each in options]
    keys = [key for key, _ in parsed]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise UsageError(f"--vary {twice} is given twice", hint=f"list its values in one: {twice}=A,B")
    variants = tuple(product(*([(key, value) for value in values] for key, values in parsed)))
    if len(variants) > MAX_VARIANTS:
        raise UsageError(f"--vary makes {len(variants):,} variants; the limit is {MAX_VARIANTS}")
    return variants


def _parse(option: str) -> tuple[str, list[str]]:
    key, equals, text = option.partition("=")
    values = _split(text)
    if not equals or not key.strip() or not all(values):
        raise UsageError(f"--vary {option}: not KEY=VALUE,VALUE", hint=_EXAMPLE)
    if len(set(values)) < len(values):
        raise UsageError(f"--vary {option}: a value comes twice")
    return key.strip(), values


def _split(text: str) -> list[str]:
    """Return the values in `text`; commas within brackets and quotes do not split them."""
    values, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character in "[{") - (character in "]}")
        if character == "," and not depth and not quote:
            values.append("")
        else:
            values[-1] += character
    return [each.strip() for each in values]


def variant_name(settings: Sequence[Setting]) -> str:
    """Return the name of a variant: its settings, or `as configured`."""
    return ", ".join(f"{key}={value}" for key, value in settings) or "as configured"
