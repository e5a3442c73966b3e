"""The run of a question: gather evidence, write the answer, then number citations, verify, revise and store it.

Everything shown, cited and checked is in the run's ledger before the answer is returned. A product supplies the first
prompt, see `PromptBuilder`; all else is the same for every product.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import anyio

from asky.concurrency import in_thread
from asky.evidence.citations.markers import StreamedCitations
from asky.llm.port import ModelUsage, connected
from asky.llm.spending import NoBudget
from asky.llm.tokens import TokenCounter
from asky.llm.tools import ToolRegistry
from asky.research.run import ResearchRun
from asky.research.synthesis import synthesize
from asky.research.writing.reply_writer import WrittenReply
from asky.research.writing.tool_loop import LoopSettings, run_loop
from asky.research.writing.transcript import Transcript
from asky.runs.context import RunSpec
from asky.runs.finalize import Finalizer
from asky.runs.journal.journal import RunJournal
from asky.runs.prompt_leak_guard import guard_prompts

if TYPE_CHECKING:
    from asky.config.schema import Research
    from asky.evidence.citations.markers import MakeRewriter
    from asky.evidence.verification.claim_reader import ClaimReader
    from asky.llm.port import ChatModel
    from asky.llm.spending import Budget
    from asky.research.judging.judge import ClaimJudge
    from asky.research.vector_store import VectorStore
    from asky.research.writing.prompts import Prompt
    from asky.runs.context import Question, RunContext
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import Run, RunStore
    from asky.storage.sessions import Session, SessionStore
    from asky.storage.steps import Step
    from asky.values import Answer, Evidence, StoppedBy

_LIMITS = ("max_turns", "max_passages", "passage_tokens")


class Warn(Protocol):
    """Adds a warning to the answer; `is_repeat` marks what its text says too."""

    def __call__(self, message: str, *, is_repeat: bool = False) -> None: ...


class PromptBuilder(Protocol):
    """Builds the first prompt of a run."""

    def prompt(self) -> AbstractAsyncContextManager[Prompt]:
        """Yield the first messages and the tools, which stay usable inside the context.

        A prompt recorded in the journal is not built again.
        """
        ...


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a prompt of one run is built with.

    `warn` adds a warning to the answer, and `warnings` are those so far, which are recorded with the prompt. `count`
    receives the usage of each model call that is made for the prompt, and `calls` is that of those so far.
    """

    question: Question
    journal: RunJournal
    budget: Budget
    run: RunContext
    warn: Warn
    warnings: Sequence[str]
    count: Callable[[ModelUsage], None]
    calls: Sequence[ModelUsage]


def no_budget(context: RunContext) -> Budget:  # noqa: ARG001 - the same for every run
    """Return a budget without limits, for a model that costs nothing."""
    return NoBudget()


@dataclass(frozen=True, slots=True)
class BaseRunWorker:
    """The model, stores and settings that answer questions; values of a single run are in its `RunContext`.

    `store` opens the vector store on first use. `settings` limits turns and passages, `budget` creates the budget of a
    run, and `counter` the token counter for its prompts. If `offers_tools` is false, the model receives passages
    instead of tools. `claim_reader` reads the claims that the rules leave open, and `judge` gives verdicts in
    place of both. `prompt_builder` makes the builder of the
    first prompt of a run, from the worker.
    """

    prompt_builder: ClassVar[Callable[[Any, PromptContext], PromptBuilder]]
    model: ChatModel
    store: Callable[[], VectorStore]
    corpus: CorpusStore
    runs: RunStore
    sessions: SessionStore
    settings: Research
    budget: Callable[[RunContext], Budget] = no_budget
    offers_tools: bool = True
    counter: Callable[[], TokenCounter] = TokenCounter
    judge: ClaimJudge | None = None
    claim_reader: ClaimReader | None = None

    @property
    def passage_tokens(self) -> int:
        """The maximum tokens of passages per tool call: the setting, but at most two fifths of the context."""
        return min(self.settings.passage_tokens, self.model.context_tokens * 2 // 5)

    async def carry_out(self, builder: PromptBuilder, write: Callable[[], Awaitable[Answer]]) -> None:  # noqa: ARG002
        """Do what a run consists of: here to `write` the answer from the prompt of `builder`; products may do more."""
        await write()

    def rewriter(self, shown: Mapping[str, Evidence]) -> MakeRewriter | None:  # noqa: ARG002 - products may need it
        """Return what turns citations of another form into the keys of passages `shown`; `None` for keys alone."""
        return None

    def fallback(self, builder: PromptBuilder) -> Callable[[], Awaitable[str]] | None:  # noqa: ARG002 - as above
        """Return what writes a text in place of one that cites nothing, as `Finalizer.fallback`; `None` keeps that."""
        return None

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
        model, options = self.model, {**context.limits.as_settings(), **context.access.as_options()}
        return RunSpec(
            question, session, model.name, model.host, model.context_tokens, self.offers_tools, limits, options
        )

    def _with_limits_of(self, spec: RunSpec) -> BaseRunWorker:
        """Return this answerer with the settings that the run was started with."""
        turns, passages, tokens = (spec.limits[name] for name in _LIMITS)
        settings = replace(self.settings, max_turns=turns, max_passages=passages, passage_tokens=tokens)
        return replace(self, settings=settings, offers_tools=spec.offers_tools)

    def for_replay(self, model: ChatModel) -> BaseRunWorker:
        """Return a worker that replays runs with `model`, without a budget."""
        return replace(self, model=model, budget=no_budget)


class RunDriver:
    """Takes one run from its question to the stored answer."""

    def __init__(
        self,
        parts: BaseRunWorker,
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
        if is_live and context.access.private_stays:  # a replay calls no model
            parts = replace(parts, model=guard_prompts(parts.model, context.access, research))
        self._parts = parts
        self._spending = parts.budget(context)
        new_warnings = context.warnings if is_live else ()
        self._side_calls: list[ModelUsage] = []  # model calls outside the tool loop
        # No part refers back to this object: what refers to itself keeps the whole conversation in memory until Python
        # looks for such circles.
        self._add_side_call = partial(_add_side_call, self._side_calls, self._spending)
        self._journal = RunJournal(
            parts.runs, research, steps, new_warnings=new_warnings, is_live=is_live, on_stale=self._add_side_call
        )
        self._model, self._budget = self._journal.wrap(parts.model, self._spending, spec.context_tokens)
        self._counter = parts.counter()
        self._transcript = Transcript([])
        rewriter = parts.rewriter(research.shown)
        self._citations = StreamedCitations(research.shown, context.emit, rewriter)
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
            may_revise=partial(_may_revise, question, self._transcript, parts.settings),
            inner=parts.model,
            judge=parts.judge,
            claim_reader=parts.claim_reader,
            rewriter=rewriter,
        )
        self._builder = type(parts).prompt_builder(
            parts,
            PromptContext(
                question,
                self._journal,
                self._spending,
                context,
                self._finalizer.warn,
                self._finalizer.warnings,
                self._side_calls.append,
                self._side_calls,
            ),
        )
        self._finalizer.fallback = parts.fallback(self._builder)

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
        await self._parts.carry_out(self._builder, self._write_answer)

    async def _write_answer(self) -> Answer:
        """Build the prompt, have the model write the answer, and return it, checked and stored."""
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
            return await self._finalizer.finish(self._text, tools.specs(), "budget")
        stopped_by = reply.stopped_by or stopped_by
        return await self._finalizer.finish(self._text, tools.specs(), stopped_by)

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


def _add_side_call(calls: list[ModelUsage], spending: Budget, usage: ModelUsage) -> None:
    calls.append(usage)
    spending.add(usage)


def _may_revise(question: Question, transcript: Transcript, settings: Research) -> bool:
    """Return whether the model may be called once more to revise its answer."""
    return question.mode != "lean" and transcript.turns < settings.max_turns
