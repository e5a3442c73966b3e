"""Runs with their evidence, citations and plans as JSON objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.app.schemas.damage import damaged_objects
from asky.app.schemas.event import event_object
from asky.evidence.answer import answer_json
from asky.evidence.export.run_export import describe_ledger, describe_run
from asky.text.printable import one_line
from asky.values import Unreadable

if TYPE_CHECKING:
    from asky.app.records import RunDetails, RunSummary
    from asky.chat.plan import Plan
    from asky.config.schema import BudgetSettings
    from asky.events import Envelope
    from asky.evidence.citation_lookup import BetterPassage, OpenedCitation
    from asky.evidence.export.bundle_check import CheckedBundle
    from asky.storage.runs import Run


answer_object = answer_json


def runs_object(listed: Sequence[RunSummary | Unreadable], session_names: Mapping[str, str | None]) -> dict[str, Any]:
    """Return runs as an `asky.runs/1` object; `session_names` are by run id."""
    found = [each for each in listed if not isinstance(each, Unreadable)]
    return {
        "schema": "asky.runs/1",
        "runs": [_listed_run(each, session_names.get(each.run.id)) for each in found],
        "damaged": damaged_objects([each for each in listed if isinstance(each, Unreadable)]),
    }


def _listed_run(summary: RunSummary, session: str | None) -> dict[str, Any]:
    answer = summary.run.answer or {}
    return describe_run(summary.run, session=session) | {
        "citations": len(answer.get("citations", ())),
        "stopped_by": answer.get("stopped_by"),
        "tokens": summary.tokens,
        "cost_usd": summary.cost_usd,
    }


def shown_run_object(details: RunDetails) -> dict[str, Any]:
    """Return a run with its ledger as an `asky.shown_run/1` object."""
    return {
        "schema": "asky.shown_run/1",
        "run": describe_run(details.run, session=details.session),
        "models": details.models,
        "hosts": details.hosts,
        "searches": details.searches,
        "answer": details.run.answer,
        "partial": details.partial,
        "ledger": describe_ledger(details.ledger),
    }


def run_status_object(
    run_id: str, details: RunDetails | None, events: Sequence[Envelope], mask: Callable[[str], str] = str
) -> dict[str, Any]:
    """Return how far a run is as an `asky.run_status/1` object; without `details`, it still reads its sources.

    `events` follow the number that the caller knows; `next` is the number of the last one, to go on after. `answer` is
    an `asky.answer/1` object once there is one, and `error` says why a run failed.
    """
    run = details.run if details is not None else None
    ledger = details.ledger if details is not None else ()
    failed = next((each.data for each in ledger if each.kind == "failed"), None)
    return {
        "schema": "asky.run_status/1",
        "run": run_id,
        "status": run.status if run is not None else "starting",
        "question": run.question if run is not None else None,
        "mode": run.mode if run is not None else None,
        "events": [event_object(each, mask) for each in events],
        "next": events[-1].seq if events else None,
        "answer": run.answer if run is not None else None,
        "error": None if failed is None else {"code": failed["code"], "message": one_line(str(failed["message"]))},
    }


def why_object(run: Run, opened: OpenedCitation) -> dict[str, Any]:
    """Return a citation of a run with its passage as an `asky.why/1` object."""
    context = opened.context
    return {
        "schema": "asky.why/1",
        "run": run.id,
        "question": run.question,
        "citation": opened.citation,
        "key": opened.key,
        "passage": opened.passage,
        "quoted": [{"start": each.start, "end": each.end} for each in opened.quoted],
        "before": context.before,
        "after": context.after,
        "sha256": opened.sha256,
        "checks": {"quote": opened.quote_matches, "sha256": opened.hash_matches},
        "source_now": opened.source_now,
        **({"better": [_better_object(each) for each in opened.better]} if opened.better else {}),
    }


def _better_object(better: BetterPassage) -> dict[str, Any]:
    return {
        "statement": better.claim,
        "key": better.key,
        "source_id": better.source.id,
        "title": better.source.title,
        "start": better.span.start,
        "end": better.span.end,
        "passage": better.text,
    }


def verified_object(checked: CheckedBundle) -> dict[str, Any]:
    """Return the verification of a bundle as an `asky.verified/1` object."""
    return {
        "schema": "asky.verified/1",
        "run": checked.run,
        "digest": checked.digest,
        "files": checked.files,
        "citations": checked.citations,
        "claims": checked.claims,
        "ok": not checked.faults,
        "faults": list(checked.faults),
    }


def plan_object(plan: Plan, limits: BudgetSettings) -> dict[str, Any]:
    """Return the plan of a question as an `asky.plan/1` object."""
    return {"schema": "asky.plan/1", **asdict(plan), "limits": asdict(limits)}
