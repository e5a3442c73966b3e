"""What a report of research says in words, the same in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from asky.net.reasons import common_reasons, reason_without_address
from asky.report.research_report import AnswerStatus, ReportedCycle, ReportedFact, ReportedFailure, ResearchReport
from asky.report.words import day_and_time
from asky.text.counting import counted

NOTHING_FOUND = "Nothing was found that answers this question."
NOTHING_SEARCHED = "Nothing was searched: the run ended before its first cycle."
ALL_ANSWERED = "Every part of the question has an answer."
STATUSES: Mapping[AnswerStatus, str] = MappingProxyType(
    {"answered": "answered", "partly": "partly answered", "unanswered": "not answered"}
)
CYCLE_COLUMNS = (
    "cycle", "queries", "fetched", "read", "new entities", "new facts", "novelty", "coverage", "circularity",
)  # fmt: skip
_PRIVACY: Mapping[str, str] = MappingProxyType(
    {
        "local_only": "nothing left this machine",
        "cloud_allowed": "services and models elsewhere were allowed",
        "hybrid": "services and models elsewhere were allowed, but got no private passages",
    }
)


def certainty(report: ResearchReport, answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield how far the answer, an `asky.answer/1` object, is supported, a measure each."""
    yield "confidence: not estimated" if report.confidence is None else f"confidence: {report.confidence:.2f} of 1"
    if claims := answer["claims"]:
        supported = sum(each["verdict"] == "supported" for each in claims)
        yield f"statements supported by the passages they cite: {supported:,} of {len(claims):,}"
    if report.facts:
        verified = sum(each.verified for each in report.facts)
        yield f"facts on which independent sources agree: {verified:,} of {len(report.facts):,}"
    if parts := report.sub_questions:
        answered, partly = (sum(each.status == status for each in parts) for status in ("answered", "partly"))
        yield f"parts of the question answered: {answered:,} of {len(parts):,}" + (
            f", {partly:,} partly" * bool(partly)
        )
    if report.contradictions:
        yield f"points in which sources contradict each other: {len(report.contradictions):,}"
    yield f"the search ended after {counted(len(report.cycles), 'cycle')}: {report.stop_reason}"


def searched_in(report: ResearchReport) -> str:
    """Introduce the list of what was searched for."""
    return f"Searched in {', '.join(report.sources_queried) or 'no source'}:"


def missing(report: ResearchReport) -> Iterator[str]:
    """Yield what was not found, or could not be searched."""
    open_parts = [each for each in report.sub_questions if each.status != "answered"]
    for each in open_parts:
        yield f"{STATUSES[each.status]}: {each.text}"
    for source in report.unavailable_sources:
        yield f"not searched: {source.name} ({source.reason})"
    yield from unread_pages(report.failures)


def unread_pages(failures: Sequence[ReportedFailure]) -> Iterator[str]:
    """Yield how many pages could not be read, with the commonest reasons, and what can be done about the first."""
    pages = {each.url: each for each in failures if each.url}
    if not pages:
        return
    yield (
        f"{counted(len(pages), 'page')} could not be read: "
        + common_reasons({url: each.error_message for url, each in pages.items()})
    )
    advised = [(reason_without_address(each.error_message, url), each.hint) for url, each in pages.items()]
    commonest = Counter(reason for reason, _ in advised).most_common(1)[0][0]
    if hint := next((hint for reason, hint in advised if hint and reason == commonest), None):
        yield hint


def fact_note(fact: ReportedFact) -> str:
    """Return how well a fact is supported, as in `verified, 3 independent sources, confidence 0.90`."""
    sources = counted(fact.source_count, "independent source")
    return f"{'verified' if fact.verified else 'not verified'}, {sources}, confidence {fact.confidence:.2f}"


def searched(cycle: ReportedCycle) -> str:
    """Return what a cycle searched for."""
    marked = (f"{each} (held back: not sent)" if each in cycle.held_back else each for each in cycle.queries)
    return "; ".join(marked) or "nothing searched"


def failure_note(failure: ReportedFailure) -> str:
    """Return why an address could not be read."""
    return f"{failure.source_name}, {failure.error_type}: {failure.error_message}"


def method(report: ResearchReport) -> Iterator[tuple[str, str]]:
    """Yield how the run worked, as names and values."""
    how = report.method
    began = day_and_time(report.started_at)
    yield "run", report.run
    yield "time", f"{began} to {day_and_time(report.finished_at)}" if report.finished_at else began
    if report.refined_query and report.refined_query != report.query:
        yield "question as researched", report.refined_query
    yield "domain", report.domain
    yield "privacy", f"{report.privacy_mode}: {_PRIVACY.get(report.privacy_mode, 'not known')}"
    yield "model", f"{how.model}, at {how.host}" if how.host else f"{how.model}, on this machine"
    yield "sources queried", ", ".join(report.sources_queried) or "none"
    yield "rule for stopping", how.rule
    yield "limits", ", ".join(f"{name} {value}" for name, value in how.limits.items() if value is not None) or "none"


def cycle_row(cycle: ReportedCycle) -> Sequence[str]:
    """Return the cells of a cycle below `CYCLE_COLUMNS`."""
    return (
        str(cycle.cycle),
        f"{len(cycle.queries):,}",
        f"{cycle.fetches:,}",
        f"{cycle.sources_read:,}",
        f"{cycle.new_entities:,} ({cycle.new_entities_ratio:.0%})",
        f"{cycle.new_facts:,} ({cycle.new_facts_ratio:.0%})",
        f"{cycle.novelty:.2f}",
        f"{cycle.source_coverage:.2f}",
        f"{cycle.citation_circularity:.2f}",
    )


def spending(answer: Mapping[str, Any]) -> str:
    """Return what an `asky.answer/1` object says on calls, tokens, money, searches, pages and time."""
    usage = answer["usage"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    parts = [
        counted(usage["llm_calls"], "model call"),
        counted(tokens, "token") if tokens else "",
        f"{usage['cost_usd']:.4f} USD" if usage["cost_usd"] is not None else "",
        counted(usage["searches"], "search", "searches"),
        counted(usage["fetches"], "page") + " fetched" if usage["fetches"] else "",
        f"{usage['cache_hits']:,} from the cache" if usage["cache_hits"] else "",
        f"{usage['seconds']:.1f} s",
    ]
    return " · ".join(part for part in parts if part)
