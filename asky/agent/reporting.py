"""The report of a run, put together from its record and its answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

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
from asky.research.writing.quoting import is_quoted_on
from asky.values import Contradiction, ContradictionSide

if TYPE_CHECKING:
    from asky.agent.findings import Findings
    from asky.agent.models import Fact
    from asky.agent.stopping import CycleRecord
    from asky.agent.task import AgentTask
    from asky.report.research_report import AnswerStatus
    from asky.runs.context import RunSpec
    from asky.storage.runs import Run

_NO_REASON = "The run was stopped before it had decided to"


def compose_report(
    run: Run, spec: RunSpec, task: AgentTask, findings: Findings, cited: Sequence[str]
) -> ResearchReport:
    """Return the report of a run that has an answer; `cited` are the keys of its citations, in their order."""
    assert run.answer is not None
    facts, number_of = findings.facts(), {key: number for number, key in enumerate(cited, start=1)}
    limits: dict[str, Any] = {"max_cycles": task.max_cycles, "max_fetches": task.max_fetches}
    return ResearchReport(
        run=run.id,
        query=run.question,
        refined_query=findings.refined_query or run.question,
        domain=findings.domain,
        privacy_mode=task.privacy_mode,
        started_at=run.started_at,
        finished_at=run.finished_at,
        stop_reason=findings.stop_reason or _NO_REASON,
        answer=run.answer,
        method=ReportedMethod(task.rule, run.model, spec.host, limits | _plain(spec.options)),
        confidence=_confidence(run.answer, facts, number_of),
        sub_questions=tuple(_sub_questions(findings, run.answer["answer"])),
        facts=tuple(_fact(each, findings, number_of) for each in facts),
        entities=tuple(
            ReportedEntity(each.name, each.entity_type, each.mention_count)
            for each in sorted(findings.entities(), key=lambda entity: -entity.mention_count)
        ),
        contradictions=tuple(_contradictions(facts, findings, number_of)),
        failures=tuple(ReportedFailure(**each) for each in findings.failures),
        sources_queried=tuple(findings.tried_addresses),
        unavailable_sources=tuple(ReportedUnavailableSource(name, why) for name, why in findings.unavailable),
        cycles=tuple(_cycle(each, findings) for each in findings.cycles),
    )


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if isinstance(value, (int, float, str))}


def _confidence(answer: Mapping[str, Any], facts: Iterable[Fact], number_of: Mapping[str, int]) -> float | None:
    """Return the mean confidence of the facts that the answer cites, times the share of its supported sentences.

    `None` for an answer that cites no fact. It orders reports; it is not calibrated.
    """
    cited = [each.confidence for each in facts if any(key in number_of for key in each.keys)]
    claims = answer["claims"]
    if not cited or not claims:
        return None
    supported = sum(each["verdict"] == "supported" for each in claims) / len(claims)
    return round(math.fsum(cited) / len(cited) * float(supported), 3)


def _sub_questions(findings: Findings, text: str) -> Iterator[ReportedSubQuestion]:
    """Yield each part; what the built-in model quotes on is answered, as it abstains from what is too far."""
    touched = findings.touched_parts()
    for number, each in enumerate(findings.sub_questions):
        is_answered = number in findings.answered or is_quoted_on(each.text, text)
        status: AnswerStatus = "partly" if number in touched else "unanswered"
        yield ReportedSubQuestion(each.text, "answered" if is_answered else status)


def _fact(fact: Fact, findings: Findings, number_of: Mapping[str, int]) -> ReportedFact:
    origins = {findings.same_as.get(each, each) for each in fact.sources}
    return ReportedFact(
        fact.statement,
        fact.confidence,
        fact.verified,
        len(origins),
        tuple(sorted(number_of[key] for key in fact.keys if key in number_of)),
        tuple(key for key in fact.keys if key not in number_of),
        fact.sources,
    )


def _contradictions(facts: Sequence[Fact], findings: Findings, number_of: Mapping[str, int]) -> Iterator[Contradiction]:
    by_text, told = {each.statement: each for each in facts}, set[frozenset[str]]()
    for fact in facts:
        for other in fact.contradictions:
            pair = frozenset((fact.statement, other))
            if pair not in told and other in by_text:
                told.add(pair)
                yield Contradiction(tuple(_side(each, findings, number_of) for each in (fact, by_text[other])))


def _side(fact: Fact, findings: Findings, number_of: Mapping[str, int]) -> ContradictionSide:
    titles = dict.fromkeys(findings.passages[key].title for key in fact.keys)
    cited = tuple(sorted(number_of[key] for key in fact.keys if key in number_of))
    return ContradictionSide(fact.statement, cited, "; ".join(titles))


def _cycle(record: CycleRecord, findings: Findings) -> ReportedCycle:
    read = {each.address for each in findings.passages_of(record.cycle) if each.origin != "snippet"}
    return ReportedCycle(
        record.cycle,
        tuple(findings.queries_of(record.cycle)),
        record.fetches,
        len(read),
        record.new_entities,
        record.new_facts,
        record.novelty,
        **asdict(record.metrics),
        reason=findings.reasons[record.cycle],
        held_back=tuple(findings.held_back_in(record.cycle)),
    )
