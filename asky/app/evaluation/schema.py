"""The object `asky.eval/1`. Rule: as for every such object, fields are added to it, never changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from asky.app.evaluation.faults import fault_of
from asky.app.evaluation.result import EvalResult, MeasuredVariant, judge
from asky.evaluation.gate import Gate, GateCheck
from asky.evaluation.intervals import CONFIDENCE, SAMPLES, Interval, Ratio
from asky.evaluation.questions import EvalQuestion, QuestionSet
from asky.evaluation.scoring import CUT, MEASURES, Scored
from asky.evaluation.summary import VariantSummary
from asky.evidence.unread import unread_fields

EVAL = "asky.eval/1"
_DIGITS = 6
_CLAIMS = "claims_"
_SUMMED = ("llm_calls", "prompt_tokens", "completion_tokens", "seconds")


def eval_object(result: EvalResult, gate: Gate | None = None) -> dict[str, Any]:
    """Return a result as an `asky.eval/1` object, with the outcome of each limit of `gate` for each variant.

    Figures are averages over questions (of verdicts, over sentences) with bootstrap intervals. `differences` are those
    to the first variant over the same questions; `curve` is `null` where answers have no confidence.
    """
    summaries = result.summaries()
    checks = [(each.name, _checks(gate, scored, summary, result.questions)) for each, scored, summary in summaries]
    failed = any(not check.passed for _, found in checks for check in found)
    return {
        "schema": EVAL,
        "questions": _questions_object(result),
        "model": result.model,
        "mode": result.mode,
        "complete": result.complete,
        "interval": {"confidence": CONFIDENCE, "samples": SAMPLES},
        "variants": [_variant_object(result, *each) for each in summaries],
        "gate": None
        if gate is None
        else {
            "passed": not failed,
            "checks": [
                {"variant": name, "text": str(each), **asdict(each)} for name, found in checks for each in found
            ],
        },
        **unread_fields(result.unread),
    }


def _checks(
    gate: Gate | None, scored: Sequence[Scored], summary: VariantSummary, questions: QuestionSet
) -> tuple[GateCheck, ...]:
    if gate is None:
        return ()
    earlier = [] if gate.against is None else earlier_scores(gate.against, questions)
    return judge(gate, scored, summary, earlier)


def _questions_object(result: EvalResult) -> dict[str, Any]:
    chosen = result.questions
    return {
        "name": chosen.name,
        "format": chosen.format,
        "sha256": chosen.sha256,
        "count": len(chosen.questions),
        "answerable": sum(each.answerable for each in chosen.questions),
        "with_sources": sum(bool(each.sources) for each in chosen.questions),
        "with_facts": sum(bool(each.facts) for each in chosen.questions),
        "documents": len(result.documents),
        "problems": [{"place": each.place, "kind": each.kind, "message": each.message} for each in result.problems],
    }


def _variant_object(
    result: EvalResult, variant: MeasuredVariant, scored: Sequence[Scored], summary: VariantSummary
) -> dict[str, Any]:
    by_id = {each.id: each for each in scored}
    measured = [each for each in result.questions.questions if each.id in by_id]
    return {
        "name": variant.name,
        "settings": dict(variant.settings),
        "measured": len(measured),
        "measures": {
            name: interval_fields(each.interval) | {"questions": each.questions}
            for name, each in summary.figures.items()
        },
        "differences": {name: interval_fields(each) for name, each in summary.differences.items()},
        "precision_at_70": _rounded(summary.precision_at_70),
        "curve": [{name: _rounded(value) for name, value in asdict(each).items()} for each in summary.curve] or None,
        "usage": _usage(variant),
        "failures": [asdict(each) for each in variant.failures.values()],
        "results": [_outcome(result, each, by_id[each.id], variant.records[each.id]) for each in measured],
    }


def interval_fields(interval: Interval) -> dict[str, Any]:
    """Return a figure with its bounds."""
    return {"value": _rounded(interval.mean), "low": _rounded(interval.low), "high": _rounded(interval.high)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _usage(variant: MeasuredVariant) -> dict[str, Any] | None:
    """Return what the answers used in all; the cost is `null` if that of one is not known."""
    used = [each["answer"]["usage"] for each in variant.records.values() if each["answer"] is not None]
    if not used:
        return None
    costs = [each["cost_usd"] for each in used]
    total = {name: round(sum(each[name] for each in used), 3) for name in _SUMMED}
    return total | {"cost_usd": None if None in costs else round(sum(costs), _DIGITS)}


def _outcome(result: EvalResult, question: EvalQuestion, scored: Scored, record: Mapping[str, Any]) -> dict[str, Any]:
    answer = record["answer"]
    measures = {name: _rounded(ratio[0] / ratio[1]) for name, ratio in scored.ratios.items() if not _is_claim(name)}
    found = {
        "id": question.id,
        "question": question.text,
        "answerable": question.answerable,
        "facts": [list(each) for each in question.facts],
        "sources": list(question.sources),
        "ranking": [result.documents.get(each, each) for each in record["ranking"][:CUT]],
        "first_rank": scored.first_rank,
        "measures": measures,
    }
    if answer is not None:
        found |= _answer_fields(scored, answer, result.relevant[question.id].names)
    return found | {"fault": fault_of(found)}


def _answer_fields(scored: Scored, answer: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    cited = {each["source_id"]: each for each in answer["citations"]}
    return {
        "answered": scored.answered,
        "right": scored.right,
        "confidence": scored.confidence,
        "missing": [list(each) for each in scored.missing],
        "claims": dict(Counter(each["verdict"] for each in answer["claims"])) if scored.answered else {},
        "cited": [
            {
                "source_id": id_,
                "title": each["title"],
                "path": each["path"],
                "url": each["url"],
                "expected": id_ in names,
            }
            for id_, each in cited.items()
        ],
        "answer": answer["answer"],
        "stopped_by": answer["stopped_by"],
        "run": answer["run"],
    }


def earlier_scores(result: Mapping[str, Any], questions: QuestionSet) -> list[Scored]:
    """Return the questions of the first variant of an `asky.eval/1` object that `questions` asks too, word for word."""
    texts = {each.id: each.text for each in questions.questions}
    return [
        Scored(id=each["id"], ratios=_ratios(each))
        for each in result["variants"][0]["results"]
        if texts.get(each["id"]) == each["question"]
    ]


def _ratios(outcome: Mapping[str, Any]) -> dict[str, Ratio]:
    claims = outcome.get("claims") or {}
    total = float(sum(claims.values()))
    found: dict[str, Ratio] = {name: (value, 1.0) for name, value in outcome["measures"].items() if name in MEASURES}
    if total:
        found |= {
            name: (float(claims.get(name.removeprefix(_CLAIMS), 0)), total) for name in MEASURES if _is_claim(name)
        }
    return found


def _is_claim(name: str) -> bool:
    return name.startswith(_CLAIMS)
