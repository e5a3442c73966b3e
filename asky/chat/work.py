"""One run on its way from question to answer: gather and write in the loop, then what `asky.chat.ending` does.

What the run gets from outside it gets through its record, see `asky.chat.recording`; all else follows from that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from asky.chat.ending import Ending, Written
from asky.chat.loop import LoopResult, LoopSettings, run_loop
from asky.chat.prepared import Prepared, pack_prepared, unpack_prepared
from asky.chat.preparing import Preparation
from asky.chat.recorded import PLAYED, RecordedBudget, RecordedModel, RecordedSummaries, recorded_tool
from asky.chat.recording import Record
from asky.chat.registry import ToolRegistry
from asky.chat.run_state import RunState
from asky.chat.transcript import Transcript
from asky.concurrency import in_thread
from asky.events import Event, TextDiscarded, TextStreamed
from asky.evidence.markers import CitationStream
from asky.llm.port import ModelUsage
from asky.research.tools import ResearchRun

if TYPE_CHECKING:
    from asky.chat.answering import Answerer
    from asky.chat.begun import Begun
    from asky.research.web_summaries import Summaries
    from asky.storage.runs import Run
    from asky.storage.sessions import Session
    from asky.storage.steps import Step
    from asky.values import Answer, StoppedBy


class Work:
    """One run on its way from question to answer."""

    def __init__(
        self,
        owner: Answerer,
        begun: Begun,
        session: Session,
        run: Run,
        keep: Callable[[Answer], None],
        steps: Sequence[Step],
        *,
        is_live: bool,
    ) -> None:
        self._owner = owner
        self._question = begun.question
        self._run = run
        self._is_taken_up = bool(steps)
        self._stopped_by: StoppedBy | None = None
        self._text = ""
        self._research = ResearchRun(
            run.id,
            session.id,
            begun.question.scope,
            min(owner.settings.passage_tokens, begun.context_tokens * 2 // 5),
            owner.settings.max_passages,
            marker=begun.marker,
            question=begun.question.shown,
            memory=begun.question.memory,
        )
        self._state = RunState(self._research, owner.warned if is_live else ())
        self._spending = owner.budget(run.id)
        self._record = Record(owner.runs, run.id, self._state, steps, is_live=is_live, on_stale=self._add_beside)
        self._budget = RecordedBudget(self._spending, self._record)
        self._model = RecordedModel(owner.model, self._record, self._spending, begun.context_tokens)
        self._beside: list[ModelUsage] = []  # the calls that are not the loop's
        self._counter = owner.counter()
        self._transcript = Transcript([])
        self._tools = ToolRegistry([])
        self._ending = Ending(
            owner,
            begun.question,
            session,
            run,
            keep,
            state=self._state,
            record=self._record,
            transcript=self._transcript,
            beside=self._beside,
            model=self._model,
            budget=self._budget,
            counter=self._counter,
            is_taken_up=self._is_taken_up,
        )
        self._warn = self._ending.warn
        self._preparation = Preparation(owner, begun.question, self._research, self._spending, self._warn)
        self._stream = CitationStream(self._research.shown)
        self._takes = 0

    def on_cancelled(self, cancel: Callable[[], None]) -> None:
        """Have `cancel` called where a run that is played again was cancelled."""
        self._record.on_cut("cancelled", cancel)

    async def gather_and_write(self) -> None:
        """Come to an answer, and hand it over."""
        await self._begin()
        result: LoopResult | None = None
        allowed_s = self._budget.deadline_s()
        with anyio.move_on_after(allowed_s) as scope:
            self._record.on_cut("time", scope.cancel)
            async with self._prepared() as prepared:
                self._tools, self._stopped_by = prepared.tools, "budget" if prepared.is_short else None
                self._ending.unread = prepared.unread
                self._transcript.begin(prepared.messages)
                self._transcript.warnings += self._ending.warnings  # which the loop need not say again
                written = await run_loop(
                    self._model,
                    self._transcript,
                    self._tools,
                    settings=LoopSettings(max_turns=self._owner.settings.max_turns),
                    listener=self._hear,
                    on_text=self._show,
                    budget=self._budget,
                    counter=self._counter,
                    notes=self._take_notes,
                )
                await self._record.pass_on()
                result = written
        self._text = result.reply_text if result is not None else self._transcript.partial_text
        self._say(self._stream.close())
        if result is None:
            stopped_s = self._record.ending.get("allowed_s") or (allowed_s or 0.0) + self._state.earlier_s
            self._ending.allowed_s = stopped_s
            self._warn(f"stopped after {stopped_s:.3g} s")
            await self._ending.finish(Written(self._text, self._tools, "budget", is_complete=False))
            return
        stopped_by = result.stopped_by or self._stopped_by
        await self._ending.finish(Written(self._text, self._tools, stopped_by, is_complete=result.complete))

    async def _begin(self) -> None:
        if self._is_taken_up:
            await in_thread(lambda: self._record.restore(self._owner.store().tables.documents))
            self._spending.add_time(self._state.earlier_s)
            for used in self._record.spent_beside():
                self._add_beside(used)
            return
        sources = await in_thread(self._owner.corpus.count_sources, self._question.scope)
        asked = {"model": self._owner.model.name, "host": self._owner.model.host, "sources": sources}
        await in_thread(self._owner.runs.record, self._run.id, "asked", asked)

    @asynccontextmanager
    async def _prepared(self) -> AsyncIterator[Prepared]:
        """The first messages, and the tools with what they need while the loop goes on."""
        record = self._record
        step = await record.take("prepared")
        if record.is_live:
            await self._preparation.read_context()
            await self._preparation.open_web(self._state, record, again=step is not None)
        if step is None:
            sources = await in_thread(self._owner.corpus.count_sources, self._question.scope)
            self._state.has_sources = sources > 0 or self._preparation.web is not None
        async with self._summaries() as summaries:
            if step is None:
                made = await self._preparation.prepare(summaries)
                await record.add("prepared", "", pack_prepared(made, self._ending.warnings))
            else:
                for warning in step["warnings"]:
                    self._warn(warning)
                made = unpack_prepared(step)
                if record.is_live:
                    made.tools = self._preparation.reopened(made.tools.specs(), summaries)
            made.tools = made.tools.wrapped(lambda tool: recorded_tool(tool, record))
            yield made

    @asynccontextmanager
    async def _summaries(self) -> AsyncIterator[Summaries | None]:
        """The summaries of pages that are made beside the loop: all are done when it ends."""
        if self._owner.web is None or self._preparation.web is None:
            yield None
            return
        from asky.chat.summarising import summariser  # for questions to the web only

        model = RecordedSummaries(self._owner.model, self._record)
        write = summariser(model, self._spending, self._research.marker, self._count_beside)
        async with self._owner.web().summaries(write) as summaries:
            yield summaries

    def _add_beside(self, usage: ModelUsage) -> None:
        self._beside.append(usage)
        self._spending.add(usage)

    def _count_beside(self, usage: ModelUsage) -> None:
        if usage is not PLAYED:
            self._beside.append(usage)

    def finish_cancelled(self) -> None:
        """Keep what there is of an answer that was interrupted."""
        self._ending.finish_cancelled(self._text)

    def finish_failed(self, error: Exception) -> None:
        """Keep why the run ended, and what had been written of an answer."""
        self._ending.finish_failed(error)

    # while it writes

    def _take_notes(self) -> Sequence[str]:
        """What the user has said meanwhile: their own words, so what may be searched for like the question."""
        self._takes += 1
        name = f"notes {self._takes}"
        notes: list[str] = list(self._record.met(name) or ())
        if not self._record.is_playing and (new := self._owner.notes()):
            self._research.question = "\n".join([self._research.question, *new])
            notes += new
            self._record.meet(name, notes)
        return notes

    def _show(self, delta: str) -> None:
        self._say(self._stream.feed(delta))

    def _say(self, text: str) -> None:
        if text:
            self._owner.listener(TextStreamed(text))

    def _hear(self, event: Event) -> None:
        if isinstance(event, TextDiscarded):
            self._stream = CitationStream(self._research.shown)
        self._owner.listener(event)
