"""The recall of characters: how much of the passages that answer is among those that were found."""

from __future__ import annotations

from collections.abc import Iterable

from asky.values import Span


def span_recall(found: Iterable[tuple[str, Span]], gold: Iterable[tuple[str, Span]]) -> float:
    """Return the share of the gold characters that the found spans cover; pairs are (document, span).

    Characters that spans share count once. Raises `ValueError` if there is no gold character.
    """
    wanted = _characters(gold)
    if not wanted:
        raise ValueError("no gold character: the question belongs in no average")
    return len(wanted & _characters(found)) / len(wanted)


def _characters(spans: Iterable[tuple[str, Span]]) -> set[tuple[str, int]]:
    return {(document, at) for document, span in spans for at in range(span.start, span.end)}
