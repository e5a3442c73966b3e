"""What comes after the writing: the reply is checked and mended, and what the run came to is kept.

What the run gets from outside it gets through its record, see `asky.chat.recording`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio

from asky.chat.checking import CheckedReply, check_reply, without_controls
from asky.chat.conversation import kept_messages
from asky.chat.outcome import passed_over, shown_sources, usage_of
from asky.chat.recording import once
from asky.chat.unread import Unread, left_by_model, said_unread, sentences
from asky.concurrency import in_thread
from asky.errors import AskyError, ProviderError, StorageError
from asky.events import StageFinished, StageStarted, Warned
from asky.evidence.answer import answer_json
from asky.evidence.keys import KEY
from asky.evidence.opening import changed_files
from asky.evidence.passages import shown_title
from asky.llm.port import is_abstention
from asky.research.shortfall import shortfall
from asky.storage.sessions import NewMessage
from asky.values import Answer, Citation, Location, Span, StoppedBy

if TYPE_CHECKING:
    from asky.chat.answering import Answerer, Question
    from asky.chat.recording import Record
    from asky.chat.registry import ToolRegistry
    from asky.chat.run_state import RunState
    from asky.chat.transcript import Transcript
    from asky.llm.port import ChatModel, ModelUsage
    from asky.llm.spending import Budget
    from asky.llm.tokens import TokenCounter
    from asky.storage.runs import Run
    from asky.storage.sessions import Session

_NO_SOURCES = "no source was searched: nothing in this answer is cited"
_NOT_WRITTEN = "Stopped at a limit before an answer was written."


@dataclass(frozen=True, slots=True)
class Written:
    """What the writing came to: its text, and the tools that it had. `is_complete` says that the model ended it."""

    text: str
    tools: ToolRegistry
    stopped_by: StoppedBy | None
    is_complete: bool


@dataclass(slots=True)
class Ending:
    """How one run ends. It is there from the beginning: a run can end at any time.

    `beside` are the calls that are not the loop's; `warnings` grow while the run goes on. `allowed_s` is the time after
    which it was stopped, if it was, and `mended_late` says that it was up before a mended answer had come;
    `changed_files` was said of files that it cites, and `unread` are the addresses in the question that were not read.
    """

    owner: Answerer
    question: Question
    session: Session
    run: Run
    keep: Callable[[Answer], None]
    state: RunState
    record: Record
    transcript: Transcript
    beside: Sequence[ModelUsage]
    model: ChatModel
    budget: Budget
    counter: TokenCounter
    is_taken_up: bool
    warnings: list[str] = field(default_factory=list)
    allowed_s: float | None = None
    mended_late: bool = False
    changed_files: Sequence[str] = ()
    unread: Sequence[Unread] = ()
    _latest: CheckedReply | None = None
    _is_stored: bool = False

    def warn(self, message: str) -> None:
        """Tell the user, now and with the answer."""
        self.warnings.append(message)
        self.owner.listener(Warned(message))

    async def finish(self, written: Written) -> None:
        """Check what was written, have it mended where that is worth a call, and hand over the answer.

        Raises `ProviderError` where the model gave no answer though nothing had stopped it.
        """
        text, stopped_by = written.text, written.stopped_by
        await self.record.enter("checking")
        self.warnings += [each for each in self.transcript.warnings if each not in self.warnings]
        abstains = not text.strip() or (self.state.has_sources and is_abstention(text))
        if not text.strip() and stopped_by is None:
            why = self.warnings[-1] if self.warnings else "its reply was empty"
            raise ProviderError(f"{self.owner.model.name} gave no answer: {why}", hint="ask again, or another model")
        if not text.strip():
            text = await self._with_searches(_NOT_WRITTEN)
        elif abstains:
            stopped_by = stopped_by or "no_evidence"
            text = await self._with_searches(text.strip())
        self.owner.listener(StageStarted("verify"))
        started = time.monotonic()
        self._latest = checked = await in_thread(self._checked, text, not abstains)
        if not abstains and stopped_by is None:
            checked = await self._mended(checked, written)
        self.owner.listener(StageFinished("verify", time.monotonic() - started, f"{len(checked.claims)} sentences"))
        if not self.state.has_sources:
            self.warn(_NO_SOURCES)
        await self.record.enter("ending")
        warnings = [*checked.warnings(), *await self._outdated(checked), *await self._changed(checked)]
        for warning in [*warnings, *self._left_by_model()]:
            self.warn(warning)
        if self.unread and self.owner.model.host is None:  # which is not told, and quotes only
            checked = replace(checked, text=f"{checked.text}\n\n{said_unread(self.unread)}")
        with anyio.CancelScope(shield=True):
            await in_thread(self._store_answer, checked, stopped_by)

    def _left_by_model(self) -> Iterator[str]:
        """What to say of addresses in the question that the model was to read, and has not."""
        named, state = self.question.web.named if self.question.web is not None else (), self.state
        return sentences(left_by_model(named, state.rejected, state.research.shown.values()) if named else ())

    async def _outdated(self, checked: CheckedReply) -> Sequence[str]:
        """What to say of citations that rest on earlier turns, and whose source has another text by now."""
        known = {key for each in self.transcript.earlier for key in KEY.findall(each.content)}
        carried = [each for each in checked.citations if each.key in known]
        if not carried:
            return ()

        async def compare() -> Mapping[str, Any]:
            return {"warnings": await in_thread(self._compare, carried)}

        warnings: Sequence[str] = (await once(self.record, "compared", compare))["warnings"]
        return warnings

    def _compare(self, citations: Sequence[Citation]) -> list[str]:
        shown = self.state.research.shown
        return [
            f"[{each.n}] is from an earlier text of {shown_title(each.source)}, which has changed or gone since"
            for each in citations
            if self.owner.corpus.current_document(each.source.id) != shown[each.key].document_id
        ]

    async def _changed(self, checked: CheckedReply) -> Sequence[str]:
        """What to say of cited files that are not what was read; a run that is played again says what it said then."""
        if self.record.is_live:
            self.changed_files = await in_thread(changed_files, checked.citations, self.owner.corpus)
        else:
            self.changed_files = self.record.ending.get("changed_files", ())
        return self.changed_files

    def finish_cancelled(self, text: str) -> None:
        """Keep what there is of an answer that was interrupted: the best of it, or `text`, or what was begun."""
        if self._is_stored:
            return
        checked = self._latest or self._checked(text or self.transcript.partial_text)
        self.warnings += [*self.transcript.warnings, *checked.warnings()]
        self._store_answer(checked, "cancelled")

    def finish_failed(self, error: Exception) -> None:
        """Keep why the run ended, and what had been written of an answer."""
        if not self.record.is_live:
            return
        code = error.code if isinstance(error, AskyError) else "unexpected"
        data = {"code": code, "message": str(error), "partial": without_controls(self.transcript.unfinished_text)}
        said = [NewMessage("user", self.question.text), NewMessage("assistant", data["partial"], {"failed": code})]
        runs = self.owner.runs
        # where the store itself has failed, the first error is the one to show
        with suppress(StorageError), runs.steps.together():
            runs.record(self.run.id, "failed", data)
            self.record.add_state()
            self._append(said)
            runs.finish(self.run.id, "failed", None)

    def _append(self, messages: Sequence[NewMessage]) -> None:
        """Add what the run said to the transcript of its session, in place of what it said when it was interrupted."""
        if self.is_taken_up:
            self.owner.runs.steps.forget_messages(self.run.id)
        self.owner.sessions.append(self.session.id, messages, run_id=self.run.id)

    async def _with_searches(self, text: str) -> str:
        """What came instead of an answer, and what was searched."""
        if not self.state.has_sources:
            return text
        counted = await once(self.record, "counted", self._count)
        if counted["missing"] is not None:
            return f"{text}\n\n{counted['missing']}"
        chunks, sources = counted["chunks"], counted["sources"]
        searched = f"Searched {chunks:,} passage{'s' * (chunks != 1)} of {sources:,} source{'s' * (sources != 1)}"
        if self.state.research.queries:
            searched += " for " + "; ".join(f"“{query}”" for query in self.state.research.queries)
        return f"{text}\n\n{searched}."

    async def _count(self) -> Mapping[str, Any]:
        owner, scope = self.owner, self.state.research.scope
        chunks = await in_thread(lambda: owner.store().tables.chunks.count(scope))
        sources = await in_thread(owner.corpus.count_sources, scope)
        missing = shortfall(await in_thread(owner.runs.ledger, self.run.id)) if not sources else None
        return {"chunks": chunks, "sources": sources, "missing": missing.sentence if missing is not None else None}

    def _checked(self, text: str, claims_anything: bool = True) -> CheckedReply:
        return check_reply(
            text, self.state.research.shown, self._locate, claims_anything=claims_anything and self.state.has_sources
        )

    def _locate(self, document_id: int, span: Span) -> Location:
        return self.owner.store().location(document_id, span)

    async def _mended(self, checked: CheckedReply, written: Written) -> CheckedReply:
        """The answer after the model has been asked once to mend it, where it has faults and that is worth a call."""
        owner = self.owner
        quotes = owner.model.host is None  # a model that quotes mends nothing
        may_call = self.question.mode != "lean" and self.transcript.turns < owner.settings.max_turns
        if not checked.faults or not self.state.has_sources or quotes or not may_call or not written.is_complete:
            return checked
        from asky.chat.mending import LONGEST_MENDED, Mender  # only where there is something to mend

        if len(checked.text) >= LONGEST_MENDED:
            return checked
        self.record.phase = "mending"
        mender = Mender(
            self.model,
            self.transcript,
            written.tools,
            self.budget,
            self.counter,
            self.state.research,
            owner.settings.max_turns,
            check=self._checked,
            record=self.record,
            note=self._note_mended,
            warn=self.warn,
            listener=owner.listener,
        )
        mended = await mender.mend(checked)
        self.mended_late = mended is None
        self._latest = mended or checked
        return self._latest

    def _note_mended(self, data: Mapping[str, Any]) -> None:
        if self.record.is_live:
            self.owner.runs.record(self.run.id, "mended", data)

    def _store_answer(self, checked: CheckedReply, stopped_by: StoppedBy | None) -> None:
        state, seconds = self.state, self.record.ending.get("seconds")
        answer = Answer(
            run=self.run.id,
            session=self.session.name,
            mode=self.question.mode,
            question=self.question.text,
            model=self.owner.model.name,
            text=checked.text,
            citations=checked.citations,
            claims=checked.claims,
            sources=shown_sources(state.research.shown.values(), checked.citations),
            rejected=passed_over(self.question.rejected, state),
            usage=usage_of(
                [*self.transcript.calls, *self.beside],
                state,
                seconds if seconds is not None else round(state.seconds, 3),
            ),
            stopped_by=stopped_by,
            faults=checked.faults,
            warnings=tuple(dict.fromkeys([*state.warned, *self.warnings])),
        )
        if self.record.is_live:
            self._store(answer)
        self._is_stored = True
        self.keep(answer)

    def _store(self, answer: Answer) -> None:
        """Keep the answer and all that belongs to it, at once or not at all."""
        owner, run = self.owner, self.run
        exported = answer_json(answer)
        verdicts = [
            {"verdict": each.verdict, "score": each.score, "citations": each.citations} for each in answer.claims
        ]
        was_cancelled = answer.stopped_by == "cancelled"
        kept = kept_messages(answer.question, self.question.shown, self.transcript.work, answer)
        ending = {
            "seconds": answer.usage.seconds,
            "allowed_s": self.allowed_s,
            "mended_late": self.mended_late,
            "changed_files": self.changed_files,
            "cancelled_in": self.record.phase if was_cancelled else None,
        }
        with owner.runs.steps.together():
            self.record.add_last(ending)
            owner.runs.record(run.id, "cited", {"keys": [each.key for each in answer.citations]})
            owner.runs.record(run.id, "checked", {"claims": verdicts})
            owner.runs.record(run.id, "used", exported["usage"])
            self._append(kept)
            owner.runs.finish(run.id, "cancelled" if was_cancelled else "finished", exported)
