"""What an HTML report of research has beside the answer: how sure it is, what is missing, and how it was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from asky.evidence.answer import contradictions_of
from asky.report.contradictions import cited_links, contradictions_section
from asky.report.links import AllowedLinks, host_of, page_link
from asky.report.markup import Html, join, tag
from asky.report.research_report import ReportedCycle, ReportedFact, ResearchReport
from asky.report.research_words import (
    ALL_ANSWERED,
    CYCLE_COLUMNS,
    NOTHING_FOUND,
    NOTHING_SEARCHED,
    certainty,
    cycle_row,
    fact_note,
    failure_note,
    method,
    missing,
    searched,
    searched_in,
)
from asky.text.counting import counted
from asky.text.scrub import one_line

_ENTITIES_SHOWN = 60
_BAR_HEIGHT = 48


class ResearchSections:
    """Renders the parts of a report below headings of `level`; citations link to elements of the answer `prefix`."""

    def __init__(
        self, report: ResearchReport, answer: Mapping[str, Any], allowed: AllowedLinks, *, prefix: str, level: int
    ) -> None:
        self._report = report
        self._answer = answer
        self._allowed = allowed
        self._prefix = prefix
        self._level = level
        self._numbers = frozenset(each["n"] for each in answer["citations"])

    def nothing_found(self) -> Html:
        """Render what stands in place of an answer without text."""
        if self._answer["answer"].strip():
            return Html()
        if not self._report.cycles:
            return tag("p", NOTHING_SEARCHED)
        queries = self._report.queries
        searched = [tag("p", one_line(searched_in(self._report), None)), _list(queries)] if queries else []
        return join([tag("p", NOTHING_FOUND), *searched])

    def judged(self) -> Html:
        """Render how sure the answer is, where its sources contradict each other, and what is missing."""
        return join([self._certainty(), self._contradictions(), self._missing()])

    def found(self) -> Html:
        """Render how it was found: facts, entities, failures, cycles and method, folded where they are long."""
        return join([self._facts(), self._entities(), self._failures(), self._cycles(), self._method()])

    def _certainty(self) -> Html:
        return self._section("How sure is this", _list(certainty(self._report, self._answer)))

    def _contradictions(self) -> Html:
        found = [*self._report.contradictions, *contradictions_of(self._answer)]
        return contradictions_section(found, self._numbers, prefix=self._prefix, level=self._level)

    def _missing(self) -> Html:
        rows = list(missing(self._report))
        if not rows and not self._report.sub_questions:
            return Html()
        return self._section("What was not found", _list(rows) if rows else tag("p", ALL_ANSWERED))

    def _facts(self) -> Html:
        rows = [tag("li", *self._fact(each), dir="auto") for each in self._report.facts]
        return _folded(f"{counted(len(rows), 'fact')} found", tag("ol", *rows)) if rows else Html()

    def _fact(self, fact: ReportedFact) -> Iterator[str]:
        yield tag("bdi", one_line(fact.statement, None))
        yield from cited_links(fact.citations, self._numbers, self._prefix)
        yield tag("span", f" ({fact_note(fact)})", class_="why")
        for url in fact.sources:
            yield " "
            yield page_link(url, host_of(url)) if self._allowed.has(url) else tag("span", host_of(url), class_="host")

    def _entities(self) -> Html:
        entities = self._report.entities
        shown = (f"{one_line(each.name)} ({one_line(each.entity_type)}, {each.mention_count:,})" for each in entities)
        more = len(entities) - _ENTITIES_SHOWN
        texts = [*list(shown)[:_ENTITIES_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]
        title = f"{counted(len(entities), 'name')} found"
        return _folded(title, tag("p", ", ".join(texts), dir="auto")) if texts else Html()

    def _failures(self) -> Html:
        rows = [
            tag("li", tag("bdi", one_line(each.url, None)), f" ({one_line(failure_note(each))})")
            if each.url
            else tag("li", one_line(failure_note(each)))
            for each in self._report.failures
        ]
        return _folded(f"{counted(len(rows), 'source')} could not be read", tag("ul", *rows)) if rows else Html()

    def _cycles(self) -> Html:
        cycles = self._report.cycles
        if not cycles:
            return Html()
        head = tag("tr", *(tag("th", each) for each in CYCLE_COLUMNS))
        rows = (tag("tr", *(tag("td", each) for each in cycle_row(cycle))) for cycle in cycles)
        table = tag("table", tag("thead", head), tag("tbody", *rows))
        searched = tag("ul", *(tag("li", _searched(each), dir="auto") for each in cycles))
        content = join([_bars(cycles), tag("div", table, class_="wide", tabindex=0), searched])
        return _folded(f"Novelty in {counted(len(cycles), 'cycle')}", content)

    def _method(self) -> Html:
        rows = (
            join([tag("dt", name), tag("dd", tag("bdi", one_line(value, None)))])
            for name, value in method(self._report)
        )
        return _folded("Method", tag("dl", *rows))

    def _section(self, title: str, content: Html) -> Html:
        return tag("section", tag(f"h{self._level}", title), content, class_="judged")


def _searched(cycle: ReportedCycle) -> str:
    queries = one_line(searched(cycle), None)
    return f"Cycle {cycle.cycle}: {queries}" + (f" ({one_line(cycle.reason, None)})" if cycle.reason else "")


def _bars(cycles: Sequence[ReportedCycle]) -> Html:
    """Return a bar for the novelty of each cycle; the table says it in numbers."""
    heights = [max(1, round(min(1.0, max(0.0, each.novelty)) * _BAR_HEIGHT)) for each in cycles]
    bars = (
        tag("rect", x=number * 14, y=_BAR_HEIGHT - height, width=10, height=height)
        for number, height in enumerate(heights)
    )
    width = len(cycles) * 14
    return tag(
        "svg", *bars, viewBox=f"0 0 {width} {_BAR_HEIGHT}", width=width, height=_BAR_HEIGHT, class_="bars",
        aria_hidden="true",
    )  # fmt: skip


def _list(texts: Iterable[str]) -> Html:
    return tag("ul", *(tag("li", one_line(each, None), dir="auto") for each in texts))


def _folded(title: str, content: Html) -> Html:
    return tag("details", tag("summary", title), content, class_="more")
