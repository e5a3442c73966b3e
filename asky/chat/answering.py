"""One question through the evidence path: gather and write in the loop, then number, verify, mend and keep.

Everything that was shown, cited and checked is in the run's ledger before the answer is printed.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

import anyio

from asky.chat.checking import CheckedReply, check_reply
from asky.chat.conversation import kept_messages
from asky.chat.loop import LoopResult, LoopSettings, run_loop
from asky.chat.preparing import Preparation
from asky.chat.recorded import RecordedBudget
from asky.chat.registry import ToolRegistry
from asky.chat.transcript import Transcript
from asky.concurrency import in_thread
from asky.errors import AskyError, ProviderError, StorageError
from asky.events import Event, Listener, StageFinished, StageStarted, TextDiscarded, TextStreamed, Warned
from asky.evidence.answer import answer_json
from asky.evidence.markers import CitationStream
from asky.llm.port import ModelUsage, connected, is_abstention
from asky.llm.spending import Budget, NoBudget
from asky.llm.tokens import TokenCounter
from asky.research.tools import ResearchRun
from asky.storage.sessions import NewMessage
from asky.values import Answer, Location, Source, Span, StoppedBy, Usage

if TYPE_CHECKING:
    from asky.chat.custom_tools import CustomTools
    from asky.chat.plan import Plan, WebPlan
    from asky.chat.preparing import Web, WebAccess
    from asky.config.schema import Research
    from asky.llm.endpoint import Prices
    from asky.llm.port import ChatModel, ToolSpec
    from asky.research.vector_store import VectorStore
    from asky.research.web_summaries import Summaries
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import Run, RunStore
    from asky.storage.scope import Scope
    from asky.storage.sessions import Session, SessionStore

Mode = Literal["research", "standard", "lean"]

_NO_SOURCES = "no source was searched: nothing in this answer is cited"
_NOT_WRITTEN = "Stopped at a limit before an answer was written."


def no_budget(run_id: str) -> Budget:  # noqa: ARG001 - every run has the same: none
    """For a model that costs nothing."""
    return NoBudget()


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of what. `text` is what the user wrote, `shown` what the model sees of it: without local paths."""

    text: str
    shown: str
    mode: Mode
    scope: Scope
    rejected: tuple[tuple[str, str], ...] = ()
    web: WebAccess | None = None


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers questions with one model over the corpus, or without any source where the question's scope holds none.

    `store` opens the search when something is to be searched, `web` the web for a question that may use it. `settings`
    limits turns and passages; `budget` makes the budget of a run, by its id, as it begins, `counter` what counts the
    tokens of its prompts, and `prices` serve its plan.
    `warned` is what the user was warned of, in this process and so far. Where `offers_tools` is false the model cannot
    be offered any, and gets passages instead.
    """

    model: ChatModel
    store: Callable[[], VectorStore]
    corpus: CorpusStore
    runs: RunStore
    sessions: SessionStore
    settings: Research
    listener: Listener
    warned: Sequence[str] = ()
    budget: Callable[[str], Budget] = no_budget
    offers_tools: bool = True
    prices: Prices | None = None
    web: Callable[[], Web] | None = None
    custom_tools: CustomTools | None = None
    counter: Callable[[], TokenCounter] = TokenCounter

    @property
    def passage_tokens(self) -> int:
        """Tokens of passages that one tool call may return: what the settings say, or two fifths of a small context."""
        return min(self.settings.passage_tokens, self.model.context_tokens * 2 // 5)

    def may_call(self, mode: Mode) -> bool:
        """Whether the model can be offered tools; the built-in one always is: it does its own searching."""
        may = self.offers_tools and self.settings.max_turns > 1 and mode != "lean"
        return may or self.model.host is None

    def may_choose(self, mode: Mode) -> bool:
        """Whether the model could find sources on the web by itself."""
        return self.may_call(mode) and self.model.host is not None

    def plan(self, question: Question, unread: Sequence[str] = (), web: WebPlan | None = None) -> Plan:
        """What `question` would do, by the sources in the corpus now, `unread` ones and the `web`.

        Nothing is sent or kept.
        """
        from asky.chat.plan import make_plan, offered_tools  # for a dry run only

        return make_plan(
            self.model,
            question.shown,
            mode=question.mode,
            sources=self.corpus.count_sources(question.scope),
            unread=unread,
            tools=[*offered_tools(question.mode, web), *self._own_specs()],
            max_turns=self.settings.max_turns,
            passage_tokens=self.passage_tokens,
            prices=self.prices,
            may_call=self.may_call(question.mode),
            web=web,
        )

    def _own_specs(self) -> list[ToolSpec]:
        return self.custom_tools.specs() if self.custom_tools is not None and self.model.host is not None else []

    async def answer(self, question: Question, session: Session, *, keep: Callable[[Answer], None]) -> None:
        """Answer `question` and hand the stored answer to `keep`.

        The answer is streamed to the listener as `TextStreamed`, its citations numbered; what is kept has been checked
        as well, and may have been mended by the model since. A cancelled run hands over what there was of its answer,
        stored and marked as such, before the cancellation goes on. Raises what the model raises; the run is then kept
        as failed, with its ledger and what had been written.
        """
        run = await in_thread(
            lambda: self.runs.start(
                question=question.text, mode=question.mode, model=self.model.name, session_id=session.id
            )
        )
        work = _Work(self, question, session, run, keep)
        try:
            async with connected(self.model):
                await work.gather_and_write()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await in_thread(work.finish_cancelled)
            raise
        except Exception as error:  # whatever it is, the run is kept as failed before it is raised on
            await in_thread(work.finish_failed, error)
            raise


class _Work:
    """One run on its way from question to answer."""

    def __init__(
        self, owner: Answerer, question: Question, session: Session, run: Run, keep: Callable[[Answer], None]
    ) -> None:
        self._owner = owner
        self._question = question
        self._session = session
        self._run = run
        self._keep = keep
        self._started = time.monotonic()
        self._warnings: list[str] = []
        self._has_sources = False
        self._stopped_by: StoppedBy | None = None
        self._text = ""
        self._latest: CheckedReply | None = None
        self._is_complete = False
        self._is_stored = False
        self._research = ResearchRun(
            run.id,
            session.id,
            question.scope,
            owner.passage_tokens,
            owner.settings.max_passages,
            question=question.shown,
        )
        self._budget = RecordedBudget(owner.budget(run.id), self._record_call)
        self._counter = owner.counter()
        self._transcript = Transcript([])
        self._tools = ToolRegistry([])
        self._preparation = Preparation(owner, question, self._research, self._budget, self._warn)
        self._stream = CitationStream(self._research.shown)

    async def gather_and_write(self) -> None:
        owner = self._owner
        sources = await in_thread(owner.corpus.count_sources, self._question.scope)
        asked = {"model": owner.model.name, "host": owner.model.host, "sources": sources}
        await in_thread(owner.runs.record, self._run.id, "asked", asked)
        result: LoopResult | None = None
        allowed_s = self._budget.deadline_s()
        with anyio.move_on_after(allowed_s):
            await self._preparation.open_web()
            self._has_sources = sources > 0 or self._preparation.web is not None
            async with self._summaries() as summaries:
                prepared = await self._preparation.prepare(summaries)
                self._tools, self._stopped_by = prepared.tools, "budget" if prepared.is_short else None
                self._transcript.begin(prepared.messages)
                result = await run_loop(
                    owner.model,
                    self._transcript,
                    self._tools,
                    settings=LoopSettings(max_turns=owner.settings.max_turns),
                    listener=self._hear,
                    on_text=self._show,
                    budget=self._budget,
                    counter=self._counter,
                )
        self._text = result.reply_text if result is not None else self._transcript.partial_text
        self._say(self._stream.close())
        if result is None:
            self._warn(f"stopped after {allowed_s:.3g} s")
            await self._finish(self._text, "budget")
            return
        self._is_complete = result.complete
        await self._finish(result.reply_text, result.stopped_by or self._stopped_by)

    @asynccontextmanager
    async def _summaries(self) -> AsyncIterator[Summaries | None]:
        """The summaries of pages that are made beside the loop: all are done when it ends."""
        if self._owner.web is None or self._preparation.web is None:
            yield None
            return
        from asky.chat.summarising import summariser  # for questions to the web only

        write = summariser(self._owner.model, self._budget, self._research.marker, self._transcript.calls.append)
        async with self._owner.web().summaries(write) as summaries:
            yield summaries

    def finish_cancelled(self) -> None:
        """Keep what there is of an answer that was interrupted: the best of it, or what had been written."""
        if self._is_stored:
            return
        checked = self._latest or self._checked(self._text or self._transcript.partial_text)
        self._warnings += [*self._transcript.warnings, *checked.warnings()]
        self._store_answer(checked, "cancelled")

    def finish_failed(self, error: Exception) -> None:
        """Keep why the run ended, and what had been written of an answer."""
        code = error.code if isinstance(error, AskyError) else "unexpected"
        data = {"code": code, "message": str(error), "partial": self._transcript.unfinished_text}
        with suppress(StorageError):  # where the store itself has failed, the first error is the one to show
            self._owner.runs.record(self._run.id, "failed", data)
            self._owner.runs.finish(self._run.id, "failed", None)
            said = [NewMessage("user", self._question.text), NewMessage("assistant", data["partial"], {"failed": code})]
            self._owner.sessions.append(self._session.id, said, run_id=self._run.id)

    # while it writes

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
        self._warnings += [each for each in self._transcript.warnings if each not in self._warnings]
        abstains = not text.strip() or (self._has_sources and is_abstention(text))
        if not text.strip() and stopped_by is None:
            why = self._warnings[-1] if self._warnings else "its reply was empty"
            raise ProviderError(f"{self._owner.model.name} gave no answer: {why}", hint="ask again, or another model")
        if not text.strip():
            text = await in_thread(self._with_searches, _NOT_WRITTEN)
        elif abstains:
            stopped_by = stopped_by or "no_evidence"
            text = await in_thread(self._with_searches, text.strip())
        self._owner.listener(StageStarted("verify"))
        started = time.monotonic()
        self._latest = checked = await in_thread(self._checked, text, not abstains)
        if not abstains and stopped_by is None:
            checked = await self._mended(checked)
        self._owner.listener(StageFinished("verify", time.monotonic() - started, f"{len(checked.claims)} sentences"))
        if not self._has_sources:
            self._warn(_NO_SOURCES)
        for warning in checked.warnings():
            self._warn(warning)
        with anyio.CancelScope(shield=True):
            await in_thread(self._store_answer, checked, stopped_by)

    def _with_searches(self, text: str) -> str:
        """What came instead of an answer, and what was searched."""
        if not self._has_sources:
            return text
        run = self._research
        chunks = self._owner.store().tables.chunks.count(run.scope)
        sources = self._owner.corpus.count_sources(run.scope)
        searched = f"Searched {chunks:,} passage{'s' * (chunks != 1)} of {sources:,} source{'s' * (sources != 1)}"
        if run.queries:
            searched += " for " + "; ".join(f"“{query}”" for query in run.queries)
        return f"{text}\n\n{searched}."

    def _checked(self, text: str, claims_anything: bool = True) -> CheckedReply:
        return check_reply(
            text, self._research.shown, self._locate, claims_anything=claims_anything and self._has_sources
        )

    def _locate(self, document_id: int, span: Span) -> Location:
        return self._owner.store().location(document_id, span)

    async def _mended(self, checked: CheckedReply) -> CheckedReply:
        """The answer after the model has been asked once to mend it, where it has faults and that is worth a call."""
        owner = self._owner
        quotes = owner.model.host is None  # a model that quotes mends nothing
        may_call = self._question.mode != "lean" and self._transcript.turns < owner.settings.max_turns
        if not checked.faults or not self._has_sources or quotes or not may_call or not self._is_complete:
            return checked
        from asky.chat.mending import LONGEST_MENDED, Mender  # only where there is something to mend

        if len(checked.text) >= LONGEST_MENDED:
            return checked
        mender = Mender(
            owner.model,
            self._transcript,
            self._tools,
            self._budget,
            self._counter,
            self._research,
            owner.settings.max_turns,
            check=self._checked,
            record=lambda data: owner.runs.record(self._run.id, "mended", data),
            warn=self._warn,
            listener=owner.listener,
        )
        self._latest = await mender.mend(checked)
        return self._latest

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
            warnings=tuple(dict.fromkeys([*self._owner.warned, *self._warnings])),
        )
        self._record(answer)
        self._is_stored = True
        self._keep(answer)

    def _warn(self, message: str) -> None:
        self._warnings.append(message)
        self._owner.listener(Warned(message))

    def _record_call(self, usage: ModelUsage) -> None:
        self._owner.runs.record(self._run.id, "called", asdict(usage))

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
        web = self._preparation.web
        used = {each.source.url for each in self._research.shown.values()}
        found = dict(self._question.rejected) | {
            url: why for url, why in (web.rejected if web is not None else ()) if url not in used
        }
        return tuple(found.items())

    def _usage(self) -> Usage:
        used = self._transcript.usage
        web = self._preparation.web.use if self._preparation.web is not None else None
        return Usage(
            llm_calls=self._transcript.turns,
            prompt_tokens=used.prompt_tokens,
            completion_tokens=used.completion_tokens,
            cost_usd=used.cost_usd,
            searches=len(self._research.queries) + (web.searches if web else 0),
            fetches=web.fetches if web else 0,
            cache_hits=web.cache_hits if web else 0,
            seconds=round(time.monotonic() - self._started, 3),
        )

    def _record(self, answer: Answer) -> None:
        owner, run = self._owner, self._run
        exported = answer_json(answer)
        owner.runs.record(run.id, "cited", {"keys": [each.key for each in answer.citations]})
        verdicts = [
            {"verdict": each.verdict, "score": each.score, "citations": each.citations} for each in answer.claims
        ]
        owner.runs.record(run.id, "checked", {"claims": verdicts})
        owner.runs.record(run.id, "used", exported["usage"])
        status: Literal["finished", "cancelled"] = "cancelled" if answer.stopped_by == "cancelled" else "finished"
        owner.runs.finish(run.id, status, exported)
        kept = kept_messages(answer.question, self._question.shown, self._transcript.work, answer)
        owner.sessions.append(self._session.id, kept, run_id=run.id)
