"""One run on its way from question to answer: gather and write in the loop, then number, verify, mend and keep.

What the run gets from outside it gets through its record, see `asky.chat.recording`; all else follows from that.
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio

from asky.chat.checking import CheckedReply, check_reply
from asky.chat.conversation import kept_messages
from asky.chat.loop import LoopResult, LoopSettings, run_loop
from asky.chat.preparing import Preparation, Prepared, pack_prepared, unpack_prepared
from asky.chat.recorded import PLAYED, RecordedBudget, RecordedModel, RecordedSummaries, recorded_tool
from asky.chat.recording import CutOff, Record, once
from asky.chat.registry import ToolRegistry
from asky.chat.run_state import RunState
from asky.chat.transcript import Transcript
from asky.concurrency import in_thread
from asky.errors import AskyError, ProviderError, StorageError
from asky.events import Event, StageFinished, StageStarted, TextDiscarded, TextStreamed, Warned
from asky.evidence.answer import answer_json
from asky.evidence.markers import CitationStream
from asky.llm.port import ModelUsage, is_abstention
from asky.research.shortfall import shortfall
from asky.research.tools import ResearchRun
from asky.storage.sessions import NewMessage
from asky.values import Answer, Location, Source, Span, StoppedBy, Usage

if TYPE_CHECKING:
    from asky.chat.answering import Answerer
    from asky.chat.begun import Begun
    from asky.research.web_summaries import Summaries
    from asky.storage.runs import Run
    from asky.storage.sessions import Session
    from asky.storage.steps import Step

_NO_SOURCES = "no source was searched: nothing in this answer is cited"
_NOT_WRITTEN = "Stopped at a limit before an answer was written."


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
        self._session = session
        self._run = run
        self._keep = keep
        self._is_taken_up = bool(steps)
        self._warnings: list[str] = []
        self._stopped_by: StoppedBy | None = None
        self._text = ""
        self._latest: CheckedReply | None = None
        self._is_complete = False
        self._is_stored = False
        self._allowed_s: float | None = None  # the time after which it was stopped, if it was
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
        self._budget = RecordedBudget(self._spending, self._record, lambda: self._state.earlier_s)
        self._model = RecordedModel(owner.model, self._record, self._spending, begun.context_tokens)
        self._beside: list[ModelUsage] = []  # the calls that are not the loop's
        self._counter = owner.counter()
        self._transcript = Transcript([])
        self._tools = ToolRegistry([])
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
                self._transcript.begin(prepared.messages)
                result = await run_loop(
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
        self._text = result.reply_text if result is not None else self._transcript.partial_text
        self._say(self._stream.close())
        if result is None:
            self._allowed_s = self._record.ending.get("allowed_s") or (allowed_s or 0.0) + self._state.earlier_s
            self._warn(f"stopped after {self._allowed_s:.3g} s")
            await self._finish(self._text, "budget")
            return
        self._is_complete = result.complete
        await self._finish(result.reply_text, result.stopped_by or self._stopped_by)

    async def _begin(self) -> None:
        if self._is_taken_up:
            await in_thread(lambda: self._record.restore(self._owner.store().tables.documents))
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
            await self._preparation.open_web(self._state, again=step is not None)
        if step is None:
            sources = await in_thread(self._owner.corpus.count_sources, self._question.scope)
            self._state.has_sources = sources > 0 or self._preparation.web is not None
        async with self._summaries() as summaries:
            if step is None:
                made = await self._preparation.prepare(summaries)
                await record.add("prepared", "", pack_prepared(made, self._warnings))
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
        """Keep what there is of an answer that was interrupted: the best of it, or what had been written."""
        if self._is_stored:
            return
        checked = self._latest or self._checked(self._text or self._transcript.partial_text)
        self._warnings += [*self._transcript.warnings, *checked.warnings()]
        self._store_answer(checked, "cancelled")

    def finish_failed(self, error: Exception) -> None:
        """Keep why the run ended, and what had been written of an answer."""
        if not self._record.is_live:
            return
        code = error.code if isinstance(error, AskyError) else "unexpected"
        data = {"code": code, "message": str(error), "partial": self._transcript.unfinished_text}
        said = [NewMessage("user", self._question.text), NewMessage("assistant", data["partial"], {"failed": code})]
        runs = self._owner.runs
        # where the store itself has failed, the first error is the one to show
        with suppress(StorageError), runs.steps.together():
            runs.record(self._run.id, "failed", data)
            self._append(said)
            runs.finish(self._run.id, "failed", None)

    def _append(self, messages: Sequence[NewMessage]) -> None:
        """Add what the run said to the transcript of its session, in place of what it said when it was interrupted."""
        if self._is_taken_up:
            self._owner.runs.steps.forget_messages(self._run.id)
        self._owner.sessions.append(self._session.id, messages, run_id=self._run.id)

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

    # after it

    async def _finish(self, text: str, stopped_by: StoppedBy | None) -> None:
        await self._record.enter("checking")
        self._warnings += [each for each in self._transcript.warnings if each not in self._warnings]
        abstains = not text.strip() or (self._state.has_sources and is_abstention(text))
        if not text.strip() and stopped_by is None:
            why = self._warnings[-1] if self._warnings else "its reply was empty"
            raise ProviderError(f"{self._owner.model.name} gave no answer: {why}", hint="ask again, or another model")
        if not text.strip():
            text = await self._with_searches(_NOT_WRITTEN)
        elif abstains:
            stopped_by = stopped_by or "no_evidence"
            text = await self._with_searches(text.strip())
        self._owner.listener(StageStarted("verify"))
        started = time.monotonic()
        self._latest = checked = await in_thread(self._checked, text, not abstains)
        if not abstains and stopped_by is None:
            checked = await self._mended(checked)
        self._owner.listener(StageFinished("verify", time.monotonic() - started, f"{len(checked.claims)} sentences"))
        if not self._state.has_sources:
            self._warn(_NO_SOURCES)
        for warning in checked.warnings():
            self._warn(warning)
        with anyio.CancelScope(shield=True):
            await in_thread(self._store_answer, checked, stopped_by)

    async def _with_searches(self, text: str) -> str:
        """What came instead of an answer, and what was searched."""
        if not self._state.has_sources:
            return text
        counted = await once(self._record, "counted", self._count)
        if counted["missing"] is not None:
            return f"{text}\n\n{counted['missing']}"
        chunks, sources = counted["chunks"], counted["sources"]
        searched = f"Searched {chunks:,} passage{'s' * (chunks != 1)} of {sources:,} source{'s' * (sources != 1)}"
        if self._research.queries:
            searched += " for " + "; ".join(f"“{query}”" for query in self._research.queries)
        return f"{text}\n\n{searched}."

    async def _count(self) -> Mapping[str, Any]:
        owner, scope = self._owner, self._research.scope
        chunks = await in_thread(lambda: owner.store().tables.chunks.count(scope))
        sources = await in_thread(owner.corpus.count_sources, scope)
        missing = shortfall(await in_thread(owner.runs.ledger, self._run.id)) if not sources else None
        return {"chunks": chunks, "sources": sources, "missing": missing.sentence if missing is not None else None}

    def _checked(self, text: str, claims_anything: bool = True) -> CheckedReply:
        return check_reply(
            text, self._research.shown, self._locate, claims_anything=claims_anything and self._state.has_sources
        )

    def _locate(self, document_id: int, span: Span) -> Location:
        return self._owner.store().location(document_id, span)

    async def _mended(self, checked: CheckedReply) -> CheckedReply:
        """The answer after the model has been asked once to mend it, where it has faults and that is worth a call."""
        owner = self._owner
        quotes = owner.model.host is None  # a model that quotes mends nothing
        may_call = self._question.mode != "lean" and self._transcript.turns < owner.settings.max_turns
        if not checked.faults or not self._state.has_sources or quotes or not may_call or not self._is_complete:
            return checked
        from asky.chat.mending import LONGEST_MENDED, Mender  # only where there is something to mend

        if len(checked.text) >= LONGEST_MENDED:
            return checked
        self._record.phase = "mending"
        mender = Mender(
            self._model,
            self._transcript,
            self._tools,
            self._budget,
            self._counter,
            self._research,
            owner.settings.max_turns,
            check=self._checked,
            record=self._note_mended,
            warn=self._warn,
            listener=owner.listener,
        )
        try:
            self._latest = await mender.mend(checked)
        except CutOff as cut:  # the time was up then
            self._transcript.calls += [cut.usage] if cut.usage is not None else []
        return self._latest or checked

    def _note_mended(self, data: Mapping[str, Any]) -> None:
        if self._record.is_live:
            self._owner.runs.record(self._run.id, "mended", data)

    def _store_answer(self, checked: CheckedReply, stopped_by: StoppedBy | None) -> None:
        answer = Answer(
            run=self._run.id,
            session=self._session.name,
            mode=self._question.mode,
            question=self._question.text,
            model=self._owner.model.name,
            text=checked.text,
            citations=checked.citations,
            claims=checked.claims,
            sources=self._sources(checked),
            rejected=self._rejected(),
            usage=self._usage(),
            stopped_by=stopped_by,
            faults=checked.faults,
            warnings=tuple(dict.fromkeys([*self._state.warned, *self._warnings])),
        )
        if self._record.is_live:
            self._store(answer)
        self._is_stored = True
        self._keep(answer)

    def _warn(self, message: str) -> None:
        self._warnings.append(message)
        self._owner.listener(Warned(message))

    def _sources(self, checked: CheckedReply) -> tuple[tuple[Source, float, bool], ...]:
        """Every source that was shown, by its best passage's score, and whether the answer cites it."""
        cited = {each.source.id for each in checked.citations}
        found: dict[str, tuple[Source, float, bool]] = {}
        for each in self._research.shown.values():
            score = max(each.score or 0.0, found[each.source.id][1] if each.source.id in found else 0.0)
            found[each.source.id] = (each.source, score, each.source.id in cited)
        return tuple(sorted(found.values(), key=lambda item: -item[1]))

    def _rejected(self) -> tuple[tuple[str, str], ...]:
        """What could not be read or was passed over, each once; what was used after all is not among them."""
        used = {each.source.url for each in self._research.shown.values()}
        found = dict(self._question.rejected) | {url: why for url, why in self._state.rejected if url not in used}
        return tuple(found.items())

    def _usage(self) -> Usage:
        calls = [*self._transcript.calls, *self._beside]
        costs = [each.cost_usd for each in calls]
        web, seconds = self._state.use, self._record.ending.get("seconds")
        return Usage(
            llm_calls=len(calls),
            prompt_tokens=sum(each.prompt_tokens for each in calls),
            completion_tokens=sum(each.completion_tokens for each in calls),
            cost_usd=None if not costs or None in costs else math.fsum(each for each in costs if each is not None),
            searches=len(self._research.queries) + (web.searches if web else 0),
            fetches=web.fetches if web else 0,
            cache_hits=web.cache_hits if web else 0,
            seconds=seconds if seconds is not None else round(self._state.seconds, 3),
        )

    def _store(self, answer: Answer) -> None:
        """Keep the answer and all that belongs to it, at once or not at all."""
        owner, run = self._owner, self._run
        exported = answer_json(answer)
        verdicts = [
            {"verdict": each.verdict, "score": each.score, "citations": each.citations} for each in answer.claims
        ]
        was_cancelled = answer.stopped_by == "cancelled"
        kept = kept_messages(answer.question, self._question.shown, self._transcript.work, answer)
        ending = {
            "seconds": answer.usage.seconds,
            "allowed_s": self._allowed_s,
            "cancelled_in": self._record.phase if was_cancelled else None,
        }
        with owner.runs.steps.together():
            self._record.add_last(ending)
            owner.runs.record(run.id, "cited", {"keys": [each.key for each in answer.citations]})
            owner.runs.record(run.id, "checked", {"claims": verdicts})
            owner.runs.record(run.id, "used", exported["usage"])
            self._append(kept)
            owner.runs.finish(run.id, "cancelled" if was_cancelled else "finished", exported)
