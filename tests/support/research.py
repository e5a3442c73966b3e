"""Reports of research, made up: one that found something, one that found nothing, and one of hostile strings."""

from __future__ import annotations

from typing import Any

from asky.report.research_report import (
    ReportedCycle,
    ReportedEntity,
    ReportedFact,
    ReportedFailure,
    ReportedMethod,
    ReportedSubQuestion,
    ReportedUnavailableSource,
    ResearchReport,
)
from asky.values import Contradiction, ContradictionSide
from tests.support.reports import RUN, answer_of, citation, claim

QUERY = "Why are there tides?"
TEXT = (
    "The moon raises two high tides a day [1], and the sun helps [2].\n\n"
    "At new moon the range is three times as large [1] ⚠ unsupported.\n"
)
_QUOTED_SUN = "The sun helps a little."


def research_answer(text: str = TEXT, **changed: Any) -> dict[str, Any]:
    """The answer of a run of the agent."""
    cited = [
        citation(authors=["Ann Marsh"], published="2021-02-03", published_in="Sea Letters"),
        citation(2, quote=_QUOTED_SUN, url=None, path="/home/you/sun.pdf", title="The sun", page=3),
    ]
    claims = [
        claim("The moon raises two high tides a day [1], and the sun helps [2].", TEXT, "supported", (1, 2)),
        claim("At new moon the range is three times as large [1]", TEXT, "unsupported"),
    ]
    answer = answer_of(text, mode="agent", question=QUERY, citations=cited, claims=claims if text == TEXT else [])
    answer["usage"] |= {"cost_usd": 0.0213, "searches": 7, "fetches": 11, "cache_hits": 3, "seconds": 42.1}
    return answer | changed


def cycle_of(number: int, novelty: float, **changed: Any) -> ReportedCycle:
    values: dict[str, Any] = {
        "cycle": number,
        "queries": (f"tides moon {number}",),
        "fetches": 6 - number,
        "sources_read": 5 - number,
        "new_entities": 9 - 4 * number,
        "new_facts": 8 - 3 * number,
        "novelty": novelty,
        "new_entities_ratio": novelty,
        "new_facts_ratio": novelty,
        "citation_circularity": 0.25,
        "source_coverage": 0.5,
    }
    return ReportedCycle(**values | changed)


def research_report(**changed: Any) -> ResearchReport:
    """A report with something in every part, unless it is `changed`."""
    values: dict[str, Any] = {
        "run": RUN,
        "query": QUERY,
        "refined_query": "What raises the tides of the sea?",
        "domain": "general",
        "privacy_mode": "hybrid",
        "started_at": "2026-03-14T09:15:02.000000Z",
        "finished_at": "2026-03-14T09:15:44.000000Z",
        "stop_reason": "new facts below 5 % for two cycles",
        "answer": research_answer(),
        "confidence": 0.72,
        "sub_questions": (
            ReportedSubQuestion("What does the moon do?", "answered"),
            ReportedSubQuestion("What does the sun do?", "partly"),
            ReportedSubQuestion("What did Laplace add?", "unanswered"),
        ),
        "facts": (
            ReportedFact(
                "The moon raises two high tides a day.", 0.9, True, 3, (1,), (), ("https://tides.example/daily",)
            ),
            ReportedFact("The sun raises a tide of its own.", 0.4, False, 1, (), ("P7f3a",), ("https://sun.example/",)),
        ),
        "entities": (ReportedEntity("Laplace", "person", 4), ReportedEntity("moon", "body", 1)),
        "contradictions": (
            Contradiction(
                (
                    ContradictionSide("Tides come twice a day.", (1,), "Tides"),
                    ContradictionSide("Tides come once a day.", (), "Gulf almanac"),
                ),
                "they count for different coasts",
            ),
        ),
        "failures": (
            ReportedFailure("https://paywall.example/tides", "brave", "paywall", "HTTP 402 without open copy"),
        ),
        "sources_queried": ("brave", "documents"),
        "unavailable_sources": (ReportedUnavailableSource("news_api", "asky does not know it"),),
        "cycles": (
            cycle_of(1, 1.0, reason="much is new"),
            cycle_of(2, 0.04, queries=("tides sun", "tides moon 1"), reason="new facts below 5 %"),
        ),
        "method": ReportedMethod("windowed", "small", "api.example", {"max_cycles": 5, "max_cost_usd": None}),
    }
    return ResearchReport(**values | changed)


def empty_report(**changed: Any) -> ResearchReport:
    """The report of a run that searched and found nothing."""
    answer = research_answer("", citations=[], stopped_by="no_evidence", sources=[])
    values: dict[str, Any] = {
        "answer": answer,
        "confidence": None,
        "facts": (),
        "entities": (),
        "contradictions": (),
        "sub_questions": (ReportedSubQuestion("What does the moon do?", "unanswered"),),
        "stop_reason": "nothing new in two cycles",
    }
    return research_report(**values | changed)


def hostile_report(attack: str, answer: dict[str, Any]) -> ResearchReport:
    """A report of `answer` in which every text is the `attack`."""
    side = ContradictionSide(attack, (1, 99), attack)
    return research_report(
        query=attack,
        refined_query=f"refined {attack}",
        domain=attack,
        privacy_mode=attack,
        started_at=attack,
        finished_at=attack,
        stop_reason=attack,
        answer=answer,
        sub_questions=(ReportedSubQuestion(attack, "partly"),),
        facts=(ReportedFact(attack, 0.5, True, 1, (1, 99), (attack,), (attack, "https://evil.example/")),),
        entities=(ReportedEntity(attack, attack, 1),),
        contradictions=(Contradiction((side, side), attack, attack),),
        failures=(ReportedFailure(attack, attack, attack, attack),),
        sources_queried=(attack,),
        unavailable_sources=(ReportedUnavailableSource(attack, attack),),
        cycles=(cycle_of(1, 7.5, queries=(attack,), reason=attack),),
        method=ReportedMethod(attack, attack, attack, {attack: attack}),
    )
