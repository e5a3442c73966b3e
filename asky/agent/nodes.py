"""The nodes of one run: what each does, and what it records."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from asky.agent.collecting import Collector, Lookup
from asky.agent.domains import find_domain
from asky.agent.entries import EVALUATED, PLANNED
from asky.agent.extraction import Extracted, extract_by_model, extract_by_rules
from asky.agent.findings import STEP, Findings, SubQuestion, step_key
from asky.agent.items import origins
from asky.agent.models import USER_STOP
from asky.agent.planning import Clarity, judge_clarity, next_queries, plan_by_model, plan_by_rules
from asky.agent.saturation import SaturationMetrics, calculate_saturation
from asky.agent.stopping import Budgets, CycleRecord, Spending, stopping_rule
from asky.concurrency import in_thread
from asky.errors import AskyError, BudgetExceeded, Interrupted, StorageError
from asky.events import CycleEvaluated, PhaseStarted, ResearchPlanned
from asky.llm.structured import Structured
from asky.runs.journal.web import REPLAYED, JournaledSummaries
from asky.text.counting import counted
from asky.values import PRIVATE_KINDS

if TYPE_CHECKING:
    from asky.agent.graph import GraphState
    from asky.agent.models import Phase
    from asky.agent.parts import ResearchParts
    from asky.agent.task import AgentTask
    from asky.llm.port import ChatModel
    from asky.runs.driver import PromptContext
    from asky.values import Answer, Evidence

T = TypeVar("T")

MAX_CLARIFICATIONS = 2
GATHERING_SHARE = 0.7
"""The share of a budget that cycles may use; the rest is for the report. A report takes one call, and another to mend
it, each with at most two fifths of the context; a cycle takes one to four such calls."""

_MAX_BATCHES = 4
_NO_QUERIES = "No further queries: everything that could be asked for has been searched"
_NO_PAGES = "No page may be read, and the searches say little more"
_IN_CYCLES = ("collect", "process", "analyze", "evaluate")
_MESSAGES: Mapping[str, str] = {
    "clarify": "reading the question",
    "plan": "planning",
    "collect": "looking for sources",
    "process": "reading what was found",
    "analyze": "comparing facts",
    "evaluate": "deciding whether to go on",
    "synthesize": "writing the report",
    "export": "finishing the report",
}


class Nodes:
    """The nodes of the graph over one run; `write` writes the report and returns its answer."""

    def __init__(
        self,
        worker: ResearchParts,
        context: PromptContext,
        task: AgentTask,
        write: Callable[[], Awaitable[Answer]],
    ) -> None:
        self.findings = Findings.of_steps(context.journal.recorded(STEP))
        self.answer: Answer | None = None
        self._worker = worker
        self._context = context
        self._journal = context.journal
        self._research = context.journal.state.research
        self._task = task
        self._write = write
        self._model: ChatModel = JournaledSummaries(worker.model, context.journal)
        self._cycle = 0
        self._collector = Collector(worker, context, task, self.findings, self._time_left_s)

    # the nodes

    async def clarify(self, cycle: int) -> GraphState:
        """Find out what is meant, and ask the user at most twice if that cannot be told otherwise."""
        return await self._enter("clarify", cycle, self._clarify)

    async def plan(self, cycle: int) -> GraphState:
        """Break the question into what has to be found out."""
        return await self._enter("plan", cycle, self._plan)

    async def collect(self, cycle: int) -> GraphState:
        """Begin a cycle: search, and read what is new."""
        return await self._enter("collect", cycle + 1, self._collect)

    async def process(self, cycle: int) -> GraphState:
        """Take facts and entities from the passages of the cycle."""
        return await self._enter("process", cycle, self._process)

    async def analyze(self, cycle: int) -> GraphState:
        """Find reprints, so that facts and citations are counted once."""
        return await self._enter("analyze", cycle, self._analyze)

    async def evaluate(self, cycle: int) -> GraphState:
        """Decide whether another cycle follows."""
        return await self._enter("evaluate", cycle, self._evaluate)

    async def synthesize(self, cycle: int) -> GraphState:
        """Write the report and check it."""
        self._cycle = cycle
        self._announce("synthesize")
        if self.answer is None:
            self.answer = await self._write()
        return self._state("synthesize")

    async def export(self, cycle: int) -> GraphState:
        """Put the report together."""
        self._cycle = cycle
        self._announce("export")
        is_live = self._journal.is_live  # a replay leaves nothing behind
        report = await in_thread(self._worker.report, self._research.run_id) if is_live else {}
        return {**self._state("export"), "final_report": report}

    async def _enter(self, node: Phase, cycle: int, make: Callable[[], Awaitable[Mapping[str, Any]]]) -> GraphState:
        """Return what a node has changed: as recorded, or else from `make()`, which is recorded now."""
        self._cycle = cycle
        if not self.findings.is_done(node, cycle):
            self._announce(node)
            key = step_key(node, cycle)
            found = await self._journal.next_step(STEP, key)
            if found is None:
                found = await make()
                await self._journal.add(STEP, key, found)
            self.findings.apply(node, cycle, found)
        return self._state(node)

    def _state(self, node: Phase) -> GraphState:
        found = self.findings
        return {
            "current_phase": node,
            "cycle": self._cycle,
            "sources": len(found.tried_addresses),
            "entities": len(found.entities()),
            "facts": len(found.facts()),
            "should_stop": found.should_stop,
        }

    def _announce(self, node: Phase) -> None:
        found, cycle = self.findings, self._cycle
        message = f"cycle {cycle}: {_MESSAGES[node]}" if node in _IN_CYCLES else _MESSAGES[node]
        counts = len(found.tried_addresses), len(found.entities()), len(found.facts())
        self._context.run.emit(PhaseStarted(node, cycle, *counts, message))

    # clarify and plan

    async def _clarify(self) -> Mapping[str, Any]:
        query, asked = self._context.question.shown, list[tuple[str, str | None]]()
        ask, domain = self._context.run.clarify, find_domain(self._task.domain, self._worker.domains)
        if ask is not None and self._has_model:
            query = await self._ask_user(query, asked, ask)
        return {
            "refined_query": query,
            "domain": domain.domain,
            "threshold": domain.verification_threshold,
            "academic_required": domain.academic_required,
            "asked": asked,
        }

    async def _ask_user(
        self, query: str, asked: list[tuple[str, str | None]], ask: Callable[[str], Awaitable[str | None]]
    ) -> str:
        """Return the question with what the user has said; `asked` receives what was asked."""
        while True:
            judged = await self._by_model(partial(judge_clarity, self._model, query, tuple(asked), **self._asking))
            clarity = judged or Clarity("", query)
            if not clarity.question or len(asked) == MAX_CLARIFICATIONS:
                return clarity.refined or query
            answer = await ask(clarity.question)
            asked.append((clarity.question, answer))
            if answer is None:
                return query

    async def _plan(self) -> Mapping[str, Any]:
        query = self.findings.refined_query
        planned: Sequence[SubQuestion] | None = None
        if self._has_model:
            planned = await self._by_model(partial(plan_by_model, self._model, query, **self._asking))
        sub_questions = [asdict(each) for each in planned or plan_by_rules(query)]
        available, unavailable = [*self._task.services, *self._task.local], list(self._task.unavailable)
        entry = {"domain": self.findings.domain, "sub_questions": [each["text"] for each in sub_questions]}
        entry |= {"available": available, "unavailable": unavailable}
        await in_thread(self._worker.runs.record, self._research.run_id, PLANNED, entry)
        texts = tuple(each["text"] for each in sub_questions)
        self._context.run.emit(ResearchPlanned(texts, self.findings.domain))
        return {"sub_questions": sub_questions, "available": available, "unavailable": unavailable}

    @property
    def _asking(self) -> dict[str, Any]:
        return {"marker": self._research.marker, "budget": self._context.budget}

    @property
    def _has_model(self) -> bool:
        return self._worker.model.host is not None

    @property
    def _sees_private(self) -> bool:
        """Whether the model may see private passages."""
        may_see, model = self._context.run.access.may_see, self._worker.model
        return all(may_see(model, kind) for kind in PRIVATE_KINDS)

    def _next_queries(self) -> list[tuple[int, str]]:
        """Return the queries of the next cycle, which the model is shown once they were sent."""
        reads_on = self._task.max_fetches > 0
        return next_queries(self.findings, with_private=self._sees_private, reads_on=reads_on)

    async def _by_model(self, ask: Callable[[], Awaitable[Structured[T]]]) -> T | None:
        """Return what a model says, or `None` if it cannot be used: rules then do its work, which the user is told.

        Raises what would end the run anyway.
        """
        try:
            with anyio.fail_after(self._time_left_s()):
                asked = await ask()
        except (StorageError, Interrupted):
            raise
        except BudgetExceeded:
            return None  # `evaluate` says so
        except TimeoutError:
            return None
        except AskyError as error:
            self._context.warn(f"rules took the place of {self._worker.model.name}: {error.message}")
            return None
        for usage in asked.calls:
            if usage is not REPLAYED:
                self._context.count(usage)
        return asked.value

    # collect

    async def _collect(self) -> Mapping[str, Any]:
        notes = self._take_notes()
        self.findings.add_sub_questions(notes)
        lookups = [Lookup(query, about) for about, query in self._next_queries()]
        found = await self._collector.collect(lookups)
        return {"notes": notes, "queries": [each.label for each in lookups], **found}

    def _take_notes(self) -> list[str]:
        """Return what the user has said since; the words are the user's own, so queries may repeat them."""
        notes = self._context.run.notes.take()
        if notes:
            self._research.question = "\n".join([self._research.question, *notes])
        return notes

    # process and analyze

    async def _process(self) -> Mapping[str, Any]:
        passages = [self._research.shown[each.key] for each in self.findings.passages_of(self._cycle)]
        extracted = Extracted()
        by_model = passages if self._has_model else []
        with_private, may_see = self._sees_private, self._context.run.access.may_see
        by_model = [each for each in by_model if may_see(self._worker.model, each.source.kind)]
        done: set[str] = set()
        for batch in await in_thread(self._batches, by_model):
            ask = partial(
                extract_by_model,
                self._model,
                self.findings,
                batch,
                with_private=with_private,
                reader=self._worker.claim_reader,
                **self._asking,
            )
            found = await self._by_model(ask)
            if found is None:
                break
            extracted.add(found)
            done |= {each.key for each in batch}
        rest = [each for each in passages if each.key not in done]
        extracted.add(await in_thread(extract_by_rules, self.findings, rest, self._text_about))
        return {
            "facts": [asdict(each) for each in extracted.facts],
            "entities": [asdict(each) for each in extracted.entities],
            "answered": sorted(set(extracted.answered)),
            "next_queries": extracted.next_queries,
            "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }

    def _text_about(self, key: str) -> str:
        parts = self.findings.sub_questions
        return " ".join(parts[number].whole for number in self.findings.passages[key].about if number < len(parts))

    def _batches(self, passages: Sequence[Evidence]) -> list[list[Evidence]]:
        """Return the passages in groups that fit into two fifths of the model's context; at most four groups."""
        room, counter = self._worker.model.context_tokens * 2 // 5, self._worker.counter()
        batches: list[list[Evidence]] = []
        spent = room
        for each in passages:
            tokens = counter.count_text(each.text)
            if spent + tokens > room:
                batches.append([])
                spent = 0
            batches[-1].append(each)
            spent += tokens
        return batches[:_MAX_BATCHES]

    async def _analyze(self) -> Mapping[str, Any]:
        texts: dict[str, str] = {}
        for key, each in self.findings.passages.items():
            if each.origin == "page" and key in self._research.shown:
                texts[each.address] = f"{texts.get(each.address, '')}\n{self._research.shown[key].text}"
        same_as = await in_thread(origins, texts)
        return {"same_as": {address: first for address, first in same_as.items() if address != first}}

    # evaluate

    async def _evaluate(self) -> Mapping[str, Any]:
        is_stopping = await self._collector.is_stopping()
        found = self.findings
        record, metrics = self._cycle_record()
        history = [*found.cycles, record]
        decision = stopping_rule(self._task.rule).decide(history)
        exceeded = self._exceeded()
        should_stop, reason = decision.should_stop, decision.reason
        if exceeded is not None:
            should_stop, reason = True, exceeded
        elif is_stopping:
            should_stop, reason = True, USER_STOP
        elif not should_stop and not self._next_queries():
            should_stop, reason = True, _NO_QUERIES
        if should_stop and exceeded is None and not is_stopping:
            reason = self._reason_unread() or reason
        entry = {"cycle": self._cycle, "should_stop": should_stop, "reason": reason, "metrics": asdict(metrics)}
        await in_thread(self._worker.runs.record, self._research.run_id, EVALUATED, entry)
        if self._journal.is_live:
            await in_thread(self._collector.note_use, self._cycle)
        shares = asdict(metrics) | {"novelty": record.novelty}
        self._context.run.emit(CycleEvaluated(self._cycle, **shares, should_stop=should_stop, reason=reason))
        return {
            "metrics": asdict(metrics),
            "should_stop": should_stop,
            "reason": reason,
            "by_budget": exceeded is not None,
            "record": asdict(record),
        }

    def _reason_unread(self) -> str | None:
        """Return why a run ends that has read none of the pages that were found; `None` for any other."""
        failed = len(self.findings.failed_addresses())
        if self.findings.has_only_failed():
            return f"None of the {counted(failed, 'page')} that were tried could be read"
        return _NO_PAGES if not self._task.max_fetches and self.findings.rankings else None

    def _cycle_record(self) -> tuple[CycleRecord, SaturationMetrics]:
        found = self.findings
        before = found.cycles[-1] if found.cycles else None
        facts, entities = found.facts(), len(found.entities())
        support = [len({found.same_as.get(each, each) for each in fact.sources}) for fact in facts]
        circular, citations = found.circular()
        stating = {found.same_as.get(address, address) for fact in facts for address in fact.sources}
        failed, known = found.failed_addresses(), found.known_addresses | found.tried_addresses
        unread = [each for each in known if each not in found.tried_addresses] if self._task.max_fetches else []
        earlier_facts, earlier_entities = (before.facts, before.entities) if before else (0, 0)
        metrics = calculate_saturation(
            earlier_entities,
            max(entities, earlier_entities),
            earlier_facts,
            max(len(facts), earlier_facts),
            circular,
            citations,
            len([each for each in found.tried_addresses if each not in failed]),
            len([each for each in known if each not in failed]),
        )
        return CycleRecord(
            cycle=self._cycle,
            fetches=len(found.tried_addresses) - sum(each.fetches for each in found.cycles),
            new_entities=max(0, entities - earlier_entities),
            entities=max(entities, earlier_entities),
            new_facts=max(0, len(facts) - earlier_facts),
            facts=max(len(facts), earlier_facts),
            facts_seen_once=support.count(1),
            facts_seen_twice=support.count(2),
            sources=len(stating),
            unread=len(unread),
            metrics=metrics,
        ), metrics

    def _exceeded(self) -> str | None:
        """Return which budget the cycles have used up, in words; `None` if none is."""
        limits, calls = self._worker.limits(self._context.run), self._context.calls
        tokens = sum(each.prompt_tokens + each.completion_tokens for each in calls)
        spent = Spending(
            cycles=self._cycle,
            fetches=self._collector.fetches,
            time_s=self._journal.state.seconds / GATHERING_SHARE,
            tokens=int(tokens / GATHERING_SHARE),
            cost_usd=math.fsum(each.cost_usd or 0.0 for each in calls) / GATHERING_SHARE,
        )
        budgets = Budgets(
            cycles=self._task.max_cycles,
            fetches=self._task.max_fetches,
            time_s=limits.max_time_s,
            tokens=limits.max_tokens,
            cost_usd=limits.max_cost_usd,
        )
        reason = budgets.exceeded(spent)
        return f"{reason[:1].upper()}{reason[1:]}" if reason else None

    def _time_left_s(self) -> float:
        """Return the seconds that cycles may still take."""
        limit = self._worker.limits(self._context.run).max_time_s
        if not limit or not self._journal.is_live:
            return float("inf")
        return max(0.0, GATHERING_SHARE * limit - self._journal.state.seconds)
