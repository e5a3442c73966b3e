"""The run of a question: gather evidence, write the answer, then number citations, verify, revise and store it.

Everything shown, cited and checked is in the run's ledger before the answer is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio

from asky.chat.context_builder import AnswerParts, ContextBuilder
from asky.chat.context_builder import no_budget as no_budget
from asky.chat.plan import make_plan, offered_tools
from asky.concurrency import in_thread
from asky.evidence.citations.markers import StreamedCitations
from asky.llm.port import ModelUsage, connected
from asky.llm.tools import ToolRegistry
from asky.research.run import ResearchRun
from asky.research.synthesis import synthesize
from asky.research.writing.reply_writer import WrittenReply
from asky.research.writing.tool_loop import LoopSettings, run_loop
from asky.research.writing.transcript import Transcript
from asky.runs.context import Question, RunSpec
from asky.runs.finalize import Finalizer
from asky.runs.journal.journal import RunJournal
from asky.values import Answer

if TYPE_CHECKING:
    from asky.chat.context_builder import AnswerParts
    from asky.chat.plan import Plan, WebPlan
    from asky.llm.port import ChatModel, ToolSpec
    from asky.runs.context import RunContext, RunSpec
    from asky.storage.runs import Run
    from asky.storage.sessions import Session, StoredMessage
    from asky.storage.steps import Step
    from asky.values import Answer, StoppedBy

_LIMITS = ("max_turns", "max_passages", "passage_tokens")


@dataclass(frozen=True, slots=True)
class Answerer(AnswerParts):
    """Answers questions with one model, from the sources in a question's scope, or without sources."""

    def plan(
        self,
        question: Question,
        unread: Sequence[str] = (),
        web: WebPlan | None = None,
        history: Sequence[StoredMessage] = (),
    ) -> Plan:
        """Return the plan for `question`, without sending or storing anything.

        It considers the sources in the corpus, those that are `unread` so far, the use of the `web`, and the `history`
        of the session.
        """
        return make_plan(
            self.model,
            question.shown,
            instructions=question.instructions,
            mode=question.mode,
            sources=self.corpus.count_sources(question.scope),
            unread=unread,
            tools=[*offered_tools(question.mode, web), *self._own_specs()],
            max_turns=self.settings.max_turns,
            passage_tokens=self.passage_tokens,
            prices=self.prices,
            may_call=self.may_call(question.mode),
            web=web,
            history_messages=lambda tools: self.history_messages(history, [each.name for each in tools])[1],
            counter=self.counter(),
        )

    def _own_specs(self) -> list[ToolSpec]:
        return self.custom_tools.specs() if self.custom_tools is not None and self.model.host is not None else []

    async def answer(
        self, question: Question, session: Session, context: RunContext, *, on_answer: Callable[[Answer], None]
    ) -> None:
        """Answer `question` and pass the stored answer to `on_answer`.

        The text is emitted as `TextStreamed` events with numbered citations while it is written; the stored answer is
        also verified, and perhaps revised. A cancelled run stores the part written so far as a cancelled answer, and
        passes it on before the cancellation continues. External inputs are recorded as they arrive, so that the run can
        be resumed or replayed.

        Raises `UsageError` if the model may not see the sources of the run, and what the model raises; the run is then
        stored as failed, with its ledger and the text written so far.
        """
        context.access.require_model(self.model)
        spec = self._spec_of(question, session.name, context)
        with anyio.CancelScope(shield=True):  # a run that was started must be finished
            run = await in_thread(self._start, spec, session.id, context)
        await self.execute(spec, session, run, context, on_answer)

    def _start(self, spec: RunSpec, session_id: str, context: RunContext) -> Run:
        question, runs = spec.question, self.runs
        with ExitStack() as failing:
            with runs.steps.together():
                run = runs.start(
                    question=question.text,
                    mode=question.mode,
                    model=spec.model,
                    session_id=session_id,
                    id_=context.id,
                )
                failing.callback(runs.release, run.id)
                runs.steps.add(run.id, "begun", "", spec.encode())
                context.feed.start_writing()
            failing.pop_all()
        return run

    async def execute(
        self,
        spec: RunSpec,
        session: Session,
        run: Run,
        context: RunContext,
        on_answer: Callable[[Answer], None],
        steps: Sequence[Step] = (),
        *,
        is_live: bool = True,
    ) -> None:
        """Execute a run of `spec` after its recorded `steps`; without `is_live` it is replayed from them alone.

        See `answer`. A live run is released at the end, however it ends.
        """
        try:
            driver = RunDriver(
                self._with_limits_of(spec), spec, session, run, context, on_answer, steps, is_live=is_live
            )
            await driver.run()
        finally:
            if is_live:  # a replay did not claim the run, which this process may be resuming
                self.runs.release(run.id)

    def _spec_of(self, question: Question, session: str, context: RunContext) -> RunSpec:
        """Return the spec of a run of `question` in the session of that name."""
        limits = {name: getattr(self.settings, name) for name in _LIMITS}
        model, options = self.model, {**context.limits.as_settings(), "offline": context.access.offline}
        return RunSpec(
            question, session, model.name, model.host, model.context_tokens, self.offers_tools, limits, options
        )

    def _with_limits_of(self, spec: RunSpec) -> Answerer:
        """Return this answerer with the settings that the run was started with."""
        turns, passages, tokens = (spec.limits[name] for name in _LIMITS)
        settings = replace(self.settings, max_turns=turns, max_passages=passages, passage_tokens=tokens)
        return replace(self, settings=settings, offers_tools=spec.offers_tools)

    def for_replay(self, model: ChatModel) -> Answerer:
        """Return an answerer that replays runs with `model`, without a web, custom tools or a budget."""
        return replace(self, model=model, budget=no_budget, web=None, custom_tools=None, targets=None)


class RunDriver:
    """Takes one run from its question to the stored answer."""

    def __init__(
        self,
        parts: AnswerParts,
        spec: RunSpec,
        session: Session,
        run: Run,
        context: RunContext,
        on_answer: Callable[[Answer], None],
        steps: Sequence[Step],
        *,
        is_live: bool,
    ) -> None:
        question = spec.question
        self._parts = parts
        self._question = question
        self._run = run
        self._is_resumed = bool(steps)
        self._take_notes = context.notes.take
        research = ResearchRun(
            run.id,
            session.id,
            question.scope,
            min(parts.settings.passage_tokens, spec.context_tokens * 2 // 5),
            parts.settings.max_passages,
            marker=spec.marker,
            question=question.shown,
            memory=question.memory,
        )
        self._spending = parts.budget(context)
        new_warnings = context.warnings if is_live else ()
        self._journal = RunJournal(
            parts.runs, research, steps, new_warnings=new_warnings, is_live=is_live, on_stale=self._add_side_call
        )
        self._model, self._budget = self._journal.wrap(parts.model, self._spending, spec.context_tokens)
        self._side_calls: list[ModelUsage] = []  # model calls outside the tool loop
        self._counter = parts.counter()
        self._transcript = Transcript([])
        self._citations = StreamedCitations(research.shown, context.emit)
        self._text = ""
        self._finalizer = Finalizer(
            parts,
            context,
            question,
            session,
            run,
            on_answer,
            journal=self._journal,
            transcript=self._transcript,
            side_calls=self._side_calls,
            model=self._model,
            budget=self._budget,
            counter=self._counter,
            is_resumed=self._is_resumed,
            may_revise=self._may_revise,
        )
        self._builder = ContextBuilder(
            parts,
            question,
            self._journal,
            self._spending,
            context.access,
            context.approve,
            warn=self._finalizer.warn,
            warnings=self._finalizer.warnings,
            count=self._side_calls.append,
        )

    async def run(self) -> None:
        """Answer the question; store a partial answer if the run is cancelled, and the error if it fails."""
        with anyio.CancelScope() as scope:
            self._journal.on_stop("cancelled", scope.cancel)
            try:
                async with connected(self._parts.model):
                    await self._answer()
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await in_thread(self._finalizer.finish_cancelled, self._text)
                raise
            except Exception as error:  # any error: store the run as failed, then raise it
                with anyio.CancelScope(shield=True):
                    await in_thread(self._finalizer.finish_failed, error)
                raise

    async def _answer(self) -> None:
        await self._begin()
        reply: WrittenReply | None = None
        tools = ToolRegistry([])
        stopped_by: StoppedBy | None = None
        time_limit_s = self._spending.deadline_s()
        with self._journal.time_limit(time_limit_s):
            async with self._builder.prompt() as prompt:
                tools, stopped_by = prompt.tools, "budget" if prompt.is_single_call else None
                self._finalizer.unread = prompt.unread
                self._transcript.begin(prompt.messages)
                self._transcript.warnings += self._finalizer.warnings  # so that the loop does not repeat them
                written = await self._write(tools)
                await self._journal.stop_if_recorded()
                reply = written
        self._text = reply.text if reply is not None else self._transcript.partial_text
        self._citations.close()
        if reply is None:
            self._finalizer.note_timeout(
                self._journal.ending.get("allowed_s") or (time_limit_s or 0.0) + self._journal.state.earlier_s
            )
            await self._finalizer.finish(self._text, tools.specs(), "budget")
            return
        stopped_by = reply.stopped_by or stopped_by
        await self._finalizer.finish(self._text, tools.specs(), stopped_by)

    async def _begin(self) -> None:
        parts = self._parts
        if self._is_resumed:
            await in_thread(lambda: self._journal.restore(parts.store().tables.documents))
            self._spending.add_time(self._journal.state.earlier_s)
            for used in self._journal.side_usage():
                self._add_side_call(used)
            return
        sources = await in_thread(parts.corpus.count_sources, self._question.scope)
        data = {"model": parts.model.name, "host": parts.model.host, "sources": sources}
        await in_thread(parts.runs.record, self._run.id, "asked", data)

    async def _write(self, tools: ToolRegistry) -> WrittenReply:
        """Have the model write the answer: in the tool loop, or at once if there are no tools."""
        notes = partial(self._journal.next_notes, self._take_notes)
        if not tools.specs():
            return await synthesize(
                self._model,
                self._transcript,
                emit=self._citations.emit,
                on_text=self._citations.write,
                budget=self._budget,
                counter=self._counter,
                notes=notes,
            )
        found = await run_loop(
            self._model,
            self._transcript,
            tools,
            settings=LoopSettings(max_turns=self._parts.settings.max_turns),
            listener=self._citations.emit,
            on_text=self._citations.write,
            budget=self._budget,
            counter=self._counter,
            notes=notes,
        )
        return WrittenReply(found.reply_text, found.is_complete, found.stopped_by)

    def _add_side_call(self, usage: ModelUsage) -> None:
        self._side_calls.append(usage)
        self._spending.add(usage)

    def _may_revise(self) -> bool:
        """Return whether the model may be called once more to revise its answer."""
        return self._question.mode != "lean" and self._transcript.turns < self._parts.settings.max_turns
