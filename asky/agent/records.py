"""The runs of the agent as the store has them: how each stands, what it has found, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from asky.agent.entries import STOP_REQUESTED
from asky.agent.findings import STEP, Findings
from asky.agent.models import USER_STOP, Phase, ResearchState
from asky.agent.modes import AGENT
from asky.agent.reporting import compose_report
from asky.agent.task import decode_task
from asky.errors import UsageError
from asky.report.research_report import REPORTED
from asky.report.research_words import unread_pages
from asky.runs.journal.replay import recorded_spec
from asky.values import Unreadable

if TYPE_CHECKING:
    from asky.report.research_report import ResearchReport
    from asky.storage.runs import Run, RunStatus, RunStore


@dataclass(frozen=True, slots=True)
class ResearchSummary:
    """A run of the agent in a list; `cycle` is the last one that was begun."""

    id: str
    query: str
    status: RunStatus
    started_at: str
    cycle: int
    phase: Phase
    stop_reason: str | None


class AgentRecords:
    """Reads runs of the agent, and asks them to stop. Methods raise `UsageError` for an id of no such run."""

    def __init__(self, runs: RunStore) -> None:
        self._runs = runs

    def find(self, run_id: str | None = None) -> str:
        """Return the id of the run with that id or unique prefix, by default of the last one."""
        if run_id is not None:
            return self._run(run_id).id
        found = next(iter(self.list(limit=1)), None)
        if found is None:
            raise UsageError("no research yet", hint='`asky agent start "QUESTION"` begins one')
        return found.id

    def status(self, run_id: str) -> RunStatus:
        """Return how the run stands."""
        return self._run(run_id).status

    def list(self, *, limit: int | None = 20) -> Sequence[ResearchSummary]:
        """Return the runs of the agent, newest first; unreadable ones are left out."""
        listed = self._runs.listed()
        found = [each for each in listed if not isinstance(each, Unreadable) and each.mode == AGENT]
        return [self._summary(each) for each in found[:limit]]

    def state(self, run_id: str) -> ResearchState:
        """Return the state of a run, as its record says."""
        run = self._run(run_id)
        findings, task = self._findings(run), decode_task(recorded_spec(self._runs, run).question.task)
        is_stopping, has_ended = self._is_stopping(run), run.answer is not None
        return {
            "session_id": run.id,
            "original_query": run.question,
            "privacy_mode": task.privacy_mode,
            "started_at": datetime.fromisoformat(run.started_at.replace("Z", "+00:00")),
            "refined_query": findings.refined_query or run.question,
            "domain": findings.domain,
            "sources_queried": list(findings.tried_addresses),
            "entities_found": findings.encode_entities(),
            "facts_extracted": findings.encode_facts(),
            "access_failures": findings.failures,
            "current_phase": "finished" if has_ended else findings.phase,
            "saturation_metrics": findings.metrics,
            "should_stop": findings.should_stop or is_stopping,
            "stop_reason": findings.stop_reason or (USER_STOP if is_stopping else None),
            "final_report": self.report(run.id).encode() if has_ended else None,
            "export_path": task.export_path if has_ended else None,
        }

    def report(self, run_id: str) -> ResearchReport:
        """Return the report of a run. Raises `UsageError` before there is one."""
        run = self._run(run_id)
        if run.answer is None:
            raise UsageError(
                f"the research {run.id} has no report yet: its status is {run.status}",
                hint=f"`asky agent resume {run.id}` goes on with it" if run.status != "running" else None,
            )
        spec = recorded_spec(self._runs, run)
        entries = [each.data["keys"] for each in self._runs.ledger(run.id) if each.kind == "cited"]
        cited = entries[-1] if entries else ()  # a run that was cancelled before has several
        return compose_report(run, spec, decode_task(spec.question.task), self._findings(run), cited)

    def keep_report(self, run_id: str) -> ResearchReport:
        """Return the report of a run, which its ledger holds afterwards."""
        report = self.report(run_id)
        if not self._runs.has_entry(report.run, REPORTED):
            self._runs.record(report.run, REPORTED, report.encode())
        return report

    def is_over_budget(self, run_id: str) -> bool:
        """Return whether a budget ended the cycles of a run."""
        return self._findings(self._run(run_id)).is_over_budget

    def has_only_failed(self, run_id: str) -> bool:
        """Return whether a run tried pages and could read none, nor anything of the user's own sources."""
        return self._findings(self._run(run_id)).has_only_failed()

    def unread_pages(self, run_id: str) -> Sequence[str]:
        """Return in words how many pages could not be read and why, and what can be done about it; empty if none."""
        return list(unread_pages(self.report(run_id).failures))

    def stop(self, run_id: str) -> None:
        """Have a run end its cycle and write its report. Any process may; once more changes nothing.

        Raises `UsageError` for a run that is not in progress.
        """
        run = self._run(run_id)
        if run.status != "running":
            raise UsageError(f"the research {run.id} is not running: its status is {run.status}")
        if not self._is_stopping(run):
            self._runs.record(run.id, STOP_REQUESTED, {})

    def _is_stopping(self, run: Run) -> bool:
        return self._runs.has_entry(run.id, STOP_REQUESTED)

    def _findings(self, run: Run) -> Findings:
        return Findings.of_steps(self._runs.steps.of(run.id, STEP))

    def _summary(self, run: Run) -> ResearchSummary:
        findings = self._findings(run)
        phase: Phase = "finished" if run.answer is not None else findings.phase
        return ResearchSummary(
            run.id, run.question, run.status, run.started_at, findings.cycle, phase, findings.stop_reason
        )

    def _run(self, run_id: str) -> Run:
        run = self._runs.find(run_id)
        if run.mode != AGENT:
            raise UsageError(f"run {run.id} is no research of the agent", hint="`asky agent list` shows them")
        return run
