"""The section of a page on statements that contradict each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from asky.evidence.export.contradictions import TITLE
from asky.report.markup import Html, join, tag
from asky.text.scrub import one_line
from asky.values import Contradiction


def contradictions_section(
    found: Sequence[Contradiction], numbers: Collection[int], *, prefix: str, level: int
) -> Html:
    """Render contradictions with both sides below a heading of `level`; nothing without any.

    `numbers` are those of the citations on the page, whose elements begin with `prefix`.
    """
    if not found:
        return Html()
    rows = [tag("li", *_contradiction(each, numbers, prefix)) for each in found]
    return tag("section", tag(f"h{level}", TITLE), tag("ol", *rows), class_="judged")


def cited_links(cited: Sequence[int], numbers: Collection[int], prefix: str) -> Iterator[Html]:
    """Yield a link to each of the citations `cited` that is on the page, after a space."""
    for n in cited:
        if n in numbers:
            yield join([" ", tag("a", f"[{n}]", class_="cite", href=f"#{prefix}-c{n}")])


def _contradiction(found: Contradiction, numbers: Collection[int], prefix: str) -> Iterator[Html]:
    for side in found.sides:
        source = [" ", tag("span", tag("bdi", one_line(side.source)), class_="host")] if side.source else []
        statement = tag("q", one_line(side.statement, None), lang="")
        yield tag("p", statement, *cited_links(side.citations, numbers, prefix), *source, dir="auto")
    if found.explanation:
        yield tag("p", one_line(found.explanation, None), class_="why", dir="auto")
