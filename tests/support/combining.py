"""Combinations for parametrised tests, where two things may depend on each other and mostly do not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle, islice


def each_once(one: Iterable[str], other: Iterable[str], *, rounds: int = 1) -> list[tuple[str, str]]:
    """Pairs of names, with each of both at least `rounds` times, and no pair twice."""
    first, second = list(one), list(other)
    count = max(len(first), len(second))
    pairs = {
        pair: None
        for turn in range(rounds)
        for pair in zip(islice(cycle(first), count), islice(cycle(second), turn, turn + count), strict=True)
    }
    return list(pairs)
