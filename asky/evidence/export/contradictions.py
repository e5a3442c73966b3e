"""Statements that contradict each other, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from asky.evidence.export.citing import as_written
from asky.text.scrub import one_line
from asky.values import Contradiction

TITLE = "Where sources contradict each other"


def contradiction_lines(found: Iterable[Contradiction], cited: Callable[[Sequence[int]], str]) -> Iterator[str]:
    """Yield the lines of a numbered list of contradictions; `cited` returns the signs of citations, after a space."""
    for number, each in enumerate(found, start=1):
        explanation = f" ({_written(each.explanation)})" if each.explanation else ""
        yield f"{number}. These cannot both hold{explanation}:"
        for side in each.sides:
            source = f" {_written(side.source)}" if side.source else ""
            yield f"   - “{_written(side.statement)}”{cited(side.citations)}{source}"


def _written(text: str) -> str:
    return as_written(one_line(text, None))
