"""An agent whose runs do what a script says: real runs of the store with real feeds, and nothing is researched."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial

import anyio

from asky.agent.models import USER_STOP, ResearchRequest, ResearchState
from asky.agent.modes import AGENT
from asky.app.asky import Asky
from asky.config.limits import RunLimits
from asky.errors import UsageError
from asky.events import CycleEvaluated, Event, Listener, PhaseStarted, TextStreamed, ignore
from asky.evidence.answer import answer_json
from asky.runs.access import Access
from asky.runs.context import LiveRun, RunContext, run_context, running
from asky.runs.feed import stored_events
from asky.storage.corpus import DEFAULT_COLLECTION
from asky.storage.scope import Scope
from asky.values import Answer, Approve, Citation, Claim, Clarify, Evidence, Span, Usage, decline
from asky.wiring import Services

MODEL = "scripted"


@dataclass
class Play:
    """What a script does in a run. `stopping` is set when the user ends it early."""

    run: RunContext
    request: ResearchRequest
    stopping: anyio.Event = field(default_factory=anyio.Event)
    text: str = "The moon raises two high tides a day."
    services: Services | None = None
    shown: list[Evidence] = field(default_factory=list)

    def find(self, query: str) -> None:
        """Have the text cite the best passage for a query under the next number, which it must hold."""
        assert self.services is not None
        collection = self.services.corpus.collection(DEFAULT_COLLECTION)
        hit = self.services.vectors.search_content_chunks(query, Scope((collection,)), limit=1)[0]
        sha256, _ = self.services.documents.digest(hit.document_id)
        key = f"P{len(self.shown) + 1:04x}"
        self.shown.append(Evidence(key, hit.source, hit.document_id, sha256, hit.span, hit.text, hit.location))
        self.services.runs.show(self.run.id, self.shown[-1:])

    def emit(self, event: Event) -> None:
        self.run.emit(event)

    def phase(self, name: str, cycle: int, sources: int, entities: int, facts: int = 0) -> None:
        """Enter a phase."""
        self.emit(PhaseStarted(name, cycle, sources, entities, facts, f"{name} in cycle {cycle}"))

    def evaluate(self, cycle: int, novelty: float, *, stops: bool = False) -> None:
        """End a cycle."""
        reason = "saturated" if stops else "not saturated yet"
        self.emit(CycleEvaluated(cycle, novelty, novelty, 0.1, 0.5, novelty, should_stop=stops, reason=reason))


Script = Callable[[Play], Awaitable[None]]


async def two_cycles(play: Play) -> None:
    """Research in two cycles."""
    play.phase("plan", 0, 0, 0)
    for cycle, novelty in ((1, 0.9), (2, 0.02)):
        play.phase("collect", cycle, 2 * cycle, 3 * cycle)
        play.evaluate(cycle, novelty, stops=cycle == 2)
    play.phase("synthesize", 2, 4, 6)
    for word in play.text.split(" "):
        play.emit(TextStreamed(f"{word} "))


async def until_stopped(play: Play) -> None:
    """Begin, and go on until the user ends it."""
    play.phase("collect", 1, 2, 3)
    await play.stopping.wait()
    play.phase("synthesize", 1, 2, 3)


@dataclass(frozen=True)
class ListedRun:
    """A run in the list."""

    id: str
    query: str
    status: str
    started_at: datetime
    cycle: int
    phase: str
    stop_reason: str | None


class ScriptedAgent:
    """Carries out `script` for every question, or that in `scripts` for a question."""

    def __init__(self, asky: Asky, script: Script = two_cycles) -> None:
        self.script = script
        self.scripts: dict[str, Script] = {}
        self.requests: list[ResearchRequest] = []
        self._services = asky.services
        self._plays: dict[str, Play] = {}

    @asynccontextmanager
    async def start(
        self,
        request: ResearchRequest,
        *,
        listen: Listener = ignore,
        notes: Callable[[], Sequence[str]] = tuple,
        approve: Approve = decline,
        clarify: Clarify | None = None,
    ) -> AsyncIterator[LiveRun]:
        if request.domain == "unknown":
            raise UsageError("there is no domain unknown")
        self.requests.append(request)
        run_id = self._services.runs.new_id()
        context = self._context(run_id, listen, notes, approve, clarify, after=0)
        async with running(context, partial(self._run, request, context, is_new=True)) as run:
            yield run

    @asynccontextmanager
    async def resume(
        self,
        run_id: str,
        *,
        listen: Listener = ignore,
        notes: Callable[[], Sequence[str]] = tuple,
        approve: Approve = decline,
        clarify: Clarify | None = None,
    ) -> AsyncIterator[LiveRun]:
        run = self._services.runs.find(run_id)
        if run.status in ("running", "finished"):
            raise UsageError(f"run {run_id} is {run.status}")
        last = self._services.events.last(run_id)
        context = self._context(run_id, listen, notes, approve, clarify, after=last)
        request = ResearchRequest(query=run.question)
        async with running(context, partial(self._run, request, context, is_new=False)) as live:
            yield live

    def _context(
        self,
        run_id: str,
        listen: Listener,
        notes: Callable[[], Sequence[str]],
        approve: Approve,
        clarify: Clarify | None,
        *,
        after: int,
    ) -> RunContext:
        services = self._services
        return run_context(
            services.events,
            services.mask,
            run_id,
            None,
            Access(),
            RunLimits(),
            listen,
            notes,
            approve,
            clarify,
            after=after,
        )

    async def _run(
        self, request: ResearchRequest, context: RunContext, on_answer: Callable[[Answer], None], *, is_new: bool
    ) -> None:
        runs, play = self._services.runs, Play(context, request, services=self._services)
        self._plays[context.id] = play
        if is_new:
            runs.start(question=request.query, mode=AGENT, model=MODEL, session_id=None, id_=context.id)
        else:
            runs.take_up(context.id)
        try:
            context.feed.start_writing()
            await self.scripts.get(request.query, self.script)(play)
            made = answer(play)
            context.feed.flush()
            runs.finish(context.id, "finished", answer_json(made))
            on_answer(made)
        except anyio.get_cancelled_exc_class():
            runs.finish(context.id, "cancelled", None)
            raise
        except Exception as error:
            runs.record(context.id, "failed", {"code": "error", "message": str(error)})
            runs.finish(context.id, "failed", None)
            raise
        finally:
            runs.release(context.id)

    # reading the store

    def state(self, run_id: str) -> ResearchState:
        run = self._services.runs.find(run_id)
        phases, evaluated = [], []
        for each in self._events(run_id):
            if isinstance(each, PhaseStarted):
                phases.append(each)
            elif isinstance(each, CycleEvaluated):
                evaluated.append(each)
        play = self._plays.get(run_id)
        reason = evaluated[-1].reason if evaluated and evaluated[-1].should_stop else None
        return ResearchState(
            session_id=run_id,
            original_query=run.question,
            privacy_mode=play.request.privacy_mode if play is not None else "cloud_allowed",
            started_at=_time(run.started_at),
            refined_query=run.question,
            domain="general",
            sources_queried=[f"source {n}" for n in range(phases[-1].sources_queried)] if phases else [],
            entities_found=[{"name": f"entity {n}"} for n in range(phases[-1].entities_found)] if phases else [],
            facts_extracted=[],
            access_failures=[],
            current_phase=phases[-1].phase if phases else "starting",  # type: ignore[typeddict-item] # as scripted
            saturation_metrics=_metrics(evaluated[-1]) if evaluated else None,
            should_stop=reason is not None,
            stop_reason=USER_STOP if play is not None and play.stopping.is_set() else reason,
            final_report=None,
            export_path=None,
        )

    def _events(self, run_id: str) -> list[Event]:
        async def read() -> list[Event]:
            return [each.event async for each in stored_events(self._services.events, run_id, 0)]

        return anyio.run(read)

    def list(self, *, limit: int = 20) -> Sequence[ListedRun]:
        found = [each for each in self._services.runs.recent(limit=limit) if each.mode == AGENT]
        return [
            ListedRun(each.id, each.question, each.status, _time(each.started_at), 0, "plan", None) for each in found
        ]

    def stop(self, run_id: str) -> None:
        play = self._plays.get(run_id)
        if play is not None:
            anyio.from_thread.run_sync(play.stopping.set)


def answer(play: Play) -> Answer:
    """The answer of a scripted run: each sentence is supported by what it cites."""
    cited = tuple(
        Citation(n, each.key, each.source, each.location, each.span, each.text, each.sha256)
        for n, each in enumerate(play.shown, 1)
    )
    sources = tuple((each.source, 0.9, True) for each in play.shown)
    claims = tuple(
        Claim(found[0], Span(*found.span()), (int(found[1]),), "supported", 0.9)
        for found in re.finditer(r"[^.\n]+\. \[(\d)\]", play.text)
    )
    run, query = play.run, play.request.query
    return Answer(
        run.id, None, AGENT, query, MODEL, play.text, cited, claims, sources, (), Usage(), warnings=tuple(run.warnings)
    )


def _metrics(event: CycleEvaluated) -> dict[str, float]:
    names = ("new_entities_ratio", "new_facts_ratio", "citation_circularity", "source_coverage")
    return {name: getattr(event, name) for name in names}


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)
