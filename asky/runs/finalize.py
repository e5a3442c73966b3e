"""The end of a run: check the reply, have it revised, and store the answer with all that belongs to it.

External inputs pass through the run's journal; see `asky.runs.journal.journal`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from asky.concurrency import in_thread
from asky.errors import AskyError, EmptyReply, StorageError
from asky.events import Noted, StageFinished, StageStarted, Warned
from asky.evidence.answer import answer_json
from asky.evidence.citation_lookup import changed_files
from asky.evidence.contradictions import answer_contradictions
from asky.evidence.keys import KEY
from asky.evidence.passages import shown_title
from asky.evidence.unread import NO_TEXT_EXPECTED, describe_files, describe_parts, of_sources
from asky.evidence.verification.checked_reply import CheckedReply, check_reply, without_controls
from asky.llm.port import is_abstention
from asky.research.judging.judge import ModelVerdicts, cited_claims, with_judgements
from asky.research.no_evidence import no_evidence
from asky.research.web.unread import Unread, sentences, unread_by_model, unread_list
from asky.research.writing.formulas import note_formulas
from asky.research.writing.history import session_messages
from asky.runs.journal.journal import get_or_record
from asky.storage.sessions import NewMessage
from asky.text.indices import indices_in_code
from asky.values import Answer, Citation, Evidence, Location, Source, Span, StoppedBy, Usage

if TYPE_CHECKING:
    from asky.evidence.citations.markers import MakeRewriter
    from asky.evidence.verification.claim_reader import ClaimReader
    from asky.llm.port import ChatModel, ModelUsage, ToolSpec
    from asky.llm.spending import Budget
    from asky.llm.tokens import TokenCounter
    from asky.research.judging.judge import CitedClaim, ClaimJudge
    from asky.research.vector_store import VectorStore
    from asky.research.writing.transcript import Transcript
    from asky.runs.context import Question, RunContext
    from asky.runs.journal.journal import RunJournal, RunState
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import Run, RunStore
    from asky.storage.sessions import Session, SessionStore

_NO_SOURCES = "no source was searched: nothing in this answer is cited"
_MAX_PARTS_TOLD = 3  # files
_NOT_WRITTEN = "Stopped at a limit before an answer was written."


class RunStores(Protocol):
    """The stores that every run reads and writes; `store` opens the vector store on first use."""

    @property
    def corpus(self) -> CorpusStore: ...
    @property
    def runs(self) -> RunStore: ...
    @property
    def sessions(self) -> SessionStore: ...
    @property
    def store(self) -> Callable[[], VectorStore]: ...


@dataclass(slots=True)
class Finalizer:
    """Ends one run. Created with the run, because a run can end at any time.

    `on_answer` receives the stored answer. `side_calls` holds the usage of calls outside the tool loop; it and
    `warnings` grow while the run is in progress. `may_revise` says whether the model may be called once more, and
    `rewriter` reads citations of another form than keys. `time_limit_s` is the time after which the run was stopped,
    if it was, and `revision_timed_out` is set if time ran out before a revised answer was complete. `changed_files` are
    warnings about cited files that changed since they were read, and `unread` are the addresses in the question that
    were not read. `fallback` returns the text that takes the place of one that cites nothing, or "". `claim_reader`
    reads the claims that the rules leave open; a `judge`, if there is one, reads all claims of the final text. One that
    asks the model asks `inner`, which is `model` without the journal; another takes the place of the reader.
    """

    stores: RunStores
    context: RunContext
    question: Question
    session: Session
    run: Run
    on_answer: Callable[[Answer], None]
    journal: RunJournal
    transcript: Transcript
    side_calls: Sequence[ModelUsage]
    model: ChatModel
    budget: Budget
    counter: TokenCounter
    is_resumed: bool
    may_revise: Callable[[], bool]
    inner: ChatModel
    judge: ClaimJudge | None = None
    claim_reader: ClaimReader | None = None
    rewriter: MakeRewriter | None = None
    fallback: Callable[[], Awaitable[str]] | None = None
    warnings: list[str] = field(default_factory=list)
    time_limit_s: float | None = None
    revision_timed_out: bool = False
    changed_files: Sequence[str] = ()
    unread: Sequence[Unread] = ()
    _latest: CheckedReply | None = None
    _is_stored: bool = False

    def warn(self, message: str, *, is_repeat: bool = False) -> None:
        """Warn the user now, and in the answer. `is_repeat` marks what the answer's text says too."""
        self.warnings.append(message)
        self.context.emit(Warned(message, is_repeat=is_repeat))

    def note_timeout(self, seconds: float) -> None:
        """Note and warn that the run was stopped after its time limit."""
        self.time_limit_s = seconds
        self.warn(f"stopped after {seconds:.3g} s")

    async def finish(self, text: str, tools: Sequence[ToolSpec], stopped_by: StoppedBy | None) -> Answer:
        """Check `text`, have it revised if that is worth a call, then store the answer, pass it on and return it.

        `tools` are the tools declared when it was written. Raises `EmptyReply` if the model gave no answer although
        no limit had stopped it.
        """
        await self.journal.enter("checking")
        self.warnings += [each for each in self.transcript.warnings if each not in self.warnings]
        abstains = not text.strip() or (self.journal.state.has_sources and is_abstention(text))
        if not text.strip() and stopped_by is None:
            why = self.warnings[-1] if self.warnings else "its reply was empty"
            raise EmptyReply(
                f"{self.model.name} gave no answer: {why}", hint="ask again, or choose another model with -m"
            )
        if not text.strip():
            text = await self._with_search_summary(_NOT_WRITTEN)
        elif abstains:
            stopped_by = stopped_by or "no_evidence"
            text = await self._with_search_summary(text.strip())
        self.context.emit(StageStarted("verify"))
        started = time.monotonic()
        self._latest = checked = await in_thread(self._check, text, not abstains)
        if not abstains and stopped_by is None:
            checked = await self._revised(checked, tools)
        if not abstains and not checked.citations:
            checked = await self._replaced(checked)
        if not abstains:
            self._latest = checked = await self._judged(checked)
        self.context.emit(StageFinished("verify", time.monotonic() - started, f"{len(checked.claims)} sentences"))
        if not self.journal.state.has_sources:
            self.warn(_NO_SOURCES)
        await self.journal.enter("ending")
        warnings = [
            *checked.warnings(),
            *await self._outdated_warnings(checked),
            *await self._changed_file_warnings(checked),
        ]
        for warning in [*warnings, *self._unread_warnings()]:
            self.warn(warning)
        if self.unread and self.model.host is None:  # the built-in model gets no note about them
            checked = replace(checked, text=f"{checked.text}\n\n{unread_list(self.unread)}")
        if self.journal.is_live:
            self._tell_parts(checked, abstains=abstains)
        if not abstains and self.model.host is None:
            checked = replace(checked, text=note_formulas(checked.text, checked.citations))
        if not abstains and self.journal.state.has_sources:
            checked = await in_thread(self._contradicted, checked)
        with anyio.CancelScope(shield=True):
            stored = await in_thread(self._store_answer, checked, stopped_by)
        return stored  # noqa: RET504 - the scope is left first

    def _contradicted(self, checked: CheckedReply) -> CheckedReply:
        """Return the reply with the contradictions among its statements and the passages shown, both sides cited."""
        shown = self.journal.state.research.shown
        found, citations = answer_contradictions(checked.claims, checked.citations, shown)
        return replace(checked, contradictions=found, citations=citations)

    def _tell_parts(self, checked: CheckedReply, *, abstains: bool) -> None:
        """Tell which parts were not read of the documents that are cited or, without an answer, of any."""
        cited = [each.source for each in checked.citations]
        unread = self.question.unread if abstains else of_sources(self.question.unread, cited)
        for line in describe_parts(unread, most=_MAX_PARTS_TOLD):
            self.context.emit(Noted(line))

    def _unread_warnings(self) -> Iterator[str]:
        """Return warnings about addresses in the question that the model could have read, but did not."""
        named, state = self.question.web.named if self.question.web is not None else (), self.journal.state
        return sentences(unread_by_model(named, state.rejected, state.research.shown.values()) if named else ())

    async def _outdated_warnings(self, checked: CheckedReply) -> Sequence[str]:
        """Return warnings about citations from earlier turns whose source has a different text by now."""
        known = {key for each in self.transcript.earlier for key in KEY.findall(each.content)}
        carried = [each for each in checked.citations if each.key in known]
        if not carried:
            return ()

        async def compare() -> Mapping[str, Any]:
            return {"warnings": await in_thread(self._compare, carried)}

        warnings: Sequence[str] = (await get_or_record(self.journal, "compared", compare))["warnings"]
        return warnings

    def _compare(self, citations: Sequence[Citation]) -> list[str]:
        return [
            f"[{each.n}] is from an earlier text of {shown_title(each.source)}, which has since changed or disappeared"
            for each in citations
            if not self._is_current(each)
        ]

    def _is_current(self, citation: Citation) -> bool:
        """Return whether the source of a citation still has the text that is cited, however it is cut by now."""
        document_id = self.stores.corpus.current_document(citation.source.id)
        documents = self.stores.store().tables.documents
        return document_id is not None and documents.digest(document_id)[0] == citation.sha256

    async def _changed_file_warnings(self, checked: CheckedReply) -> Sequence[str]:
        """Return warnings about cited files changed since they were read; those of a replayed run are recorded."""
        if self.journal.is_live:
            self.changed_files = await in_thread(changed_files, checked.citations, self.stores.corpus)
        else:
            self.changed_files = self.journal.ending.get("changed_files", ())
        return self.changed_files

    def finish_cancelled(self, text: str) -> None:
        """Store the answer of a cancelled run: the last checked text, else `text`, else the beginning of a reply."""
        if self._is_stored:
            return
        checked = self._latest or self._check(text or self.transcript.partial_text)
        self.warnings += [*self.transcript.warnings, *checked.warnings()]
        self._store_answer(checked, "cancelled")

    def finish_failed(self, error: Exception) -> None:
        """Store the error of a failed run, and the text written before it."""
        if not self.journal.is_live:
            return
        code = error.code if isinstance(error, AskyError) else "unexpected"
        data = {"code": code, "message": str(error), "partial": without_controls(self.transcript.unfinished_text)}
        messages = [NewMessage("user", self.question.text), NewMessage("assistant", data["partial"], {"failed": code})]
        runs = self.stores.runs
        # if the store itself fails, the first error is the one to report
        with suppress(StorageError), runs.steps.together():
            runs.record(self.run.id, "failed", data)
            self.journal.add_state()
            self._append(messages)
            runs.finish(self.run.id, "failed", None)

    def _append(self, messages: Sequence[NewMessage]) -> None:
        """Append the messages of the run to its session; those of a resumed run replace the earlier ones."""
        if self.is_resumed:
            self.stores.runs.steps.forget_messages(self.run.id)
        self.stores.sessions.append(self.session.id, messages, run_id=self.run.id)

    async def _with_search_summary(self, text: str) -> str:
        """Return `text`, which stands in for an answer, followed by what was searched, if there are sources."""
        if not self.journal.state.has_sources:
            return text
        counted = await get_or_record(self.journal, "counted", self._count_searched)
        if counted["missing"] is not None:
            return f"{text}\n\n{counted['missing']}"
        chunks, sources = counted["chunks"], counted["sources"]
        searched = f"Searched {chunks:,} passage{'s' * (chunks != 1)} of {sources:,} source{'s' * (sources != 1)}"
        if self.journal.state.research.queries:
            searched += " for " + "; ".join(
                f"“{indices_in_code(query)}”" for query in self.journal.state.research.queries
            )
        unread = describe_files([each for each in self.question.unread if each.verdict not in NO_TEXT_EXPECTED])
        return f"{text}\n\n{searched}." + (f" Not read: {unread}." if unread else "")

    async def _count_searched(self) -> Mapping[str, Any]:
        stores, scope = self.stores, self.journal.state.research.scope
        chunks = await in_thread(lambda: stores.store().tables.chunks.count(scope))
        sources = await in_thread(stores.corpus.count_sources, scope)
        if not sources:  # passages of another product, such as notes
            shown = self.journal.state.research.shown.values()
            chunks, sources = len(shown), len({each.source.id for each in shown})
        told = [reason for _, reason in self.unread]
        missing = no_evidence(await in_thread(stores.runs.ledger, self.run.id), told) if not sources else None
        return {"chunks": chunks, "sources": sources, "missing": missing.sentence if missing is not None else None}

    def _check(self, text: str, claims_anything: bool = True) -> CheckedReply:
        return check_reply(
            text,
            self.journal.state.research.shown,
            self._locate,
            claims_anything=claims_anything and self.journal.state.has_sources,
            rewriter=self.rewriter,
            question=self.question.text,
            reader=self.claim_reader if self.judge is None or self.judge.asks_model else None,
        )

    def _locate(self, document_id: int, span: Span) -> Location:
        return self.stores.store().location(document_id, span)

    async def _revised(self, checked: CheckedReply, tools: Sequence[ToolSpec]) -> CheckedReply:
        """Return the answer, revised once by the model if it has faults and another call is worthwhile."""
        is_extractive = self.model.host is None  # the built-in model cannot revise
        is_worth_a_call = checked.faults and self.journal.state.has_sources and not is_extractive
        if not is_worth_a_call or not self.may_revise():
            return checked
        shown, may_see = self.journal.state.research.shown, self.context.access.may_see
        visible = {key: each for key, each in shown.items() if may_see(self.inner, each.source.kind)}
        if any(each.key not in visible for each in checked.citations):  # the model would see what it quotes
            return checked
        from asky.research.revision import MAX_REVISED_CHARS, Reviser  # only for answers with faults

        if len(checked.text) >= MAX_REVISED_CHARS:
            return checked
        self.journal.phase = "mending"
        reviser = Reviser(
            self.model,
            self.transcript,
            tools,
            self.budget,
            self.counter,
            visible,
            self.journal.state.research.marker,
            check=self._check,
            on_deadline=partial(self.journal.on_stop, "time"),
            written=self.journal.stop_if_recorded,
            note=self._record_revision,
            warn=self.warn,
            emit=self.context.emit,
        )
        revised = await reviser.revise(checked)
        self.revision_timed_out = revised is None
        self._latest = revised or checked
        return self._latest

    async def _replaced(self, checked: CheckedReply) -> CheckedReply:
        """Return the text of `fallback`, checked, in place of one that cites nothing; that one if there is no other."""
        fallback = self.fallback
        if fallback is None or self.model.host is None:
            return checked

        async def write() -> Mapping[str, Any]:
            return {"text": await fallback()}

        text = (await get_or_record(self.journal, "replaced", write))["text"]
        if not text:
            return checked
        self.warn(f"{self.model.name} cited nothing that it was shown: passages are quoted in place of its text")
        self._latest = await in_thread(self._check, text)
        return self._latest

    async def _judged(self, checked: CheckedReply) -> CheckedReply:
        """Return the answer with the verdicts of the judge, if there is one and it gives any; its failure is a warning.

        The verdicts are recorded, so that a replayed run has those of its time.
        """
        if self.judge is None if self.journal.is_live else not self.journal.recorded("judged"):
            return checked
        claims = await in_thread(self._claims_to_judge, checked)
        if not claims:
            return checked
        found = await get_or_record(self.journal, "judged", partial(self._ask_judge, claims))
        if "failed" in found:
            self.warn(found["failed"])
            return checked
        judgements = ModelVerdicts.decode(found)
        self.transcript.calls += judgements.calls
        return await in_thread(with_judgements, checked, judgements)

    def _claims_to_judge(self, checked: CheckedReply) -> list[CitedClaim]:
        """Return the claims whose passages the judge may see."""
        if not self.journal.is_live:
            return cited_claims(checked, self.journal.state.research.shown)
        judge, access = self.judge, self.context.access
        if judge is None or judge.name_for(self.inner) is None:
            return []
        claims = cited_claims(checked, self.journal.state.research.shown)
        if not judge.asks_model:
            return claims
        return [
            each for each in claims if all(access.may_see(self.inner, passage.source.kind) for passage in each.passages)
        ]

    async def _ask_judge(self, claims: Sequence[CitedClaim]) -> Mapping[str, Any]:
        assert self.judge is not None  # there are claims to judge
        by, marker = self.judge.name_for(self.inner), self.journal.state.research.marker
        self.context.emit(StageStarted("judge"))
        started = time.monotonic()
        data: dict[str, Any] = {"failed": f"{by} did not judge the sentences in time: their verdicts are by rules"}
        with anyio.move_on_after(self.budget.deadline_s()):
            try:
                judged = await self.judge.judge(claims, self.inner, budget=self.budget, marker=marker)
                data = judged.encode()
            except AskyError as error:  # there is an answer, checked by rules
                data = {"failed": f"{by} did not judge the sentences, so their verdicts are by rules: {error.message}"}
        count = len(data.get("verdicts", ()))
        self.context.emit(StageFinished("judge", time.monotonic() - started, f"{count} sentences by {by}"))
        return data

    def _record_revision(self, data: Mapping[str, Any]) -> None:
        if self.journal.is_live:
            self.stores.runs.record(self.run.id, "mended", data)

    def _store_answer(self, checked: CheckedReply, stopped_by: StoppedBy | None) -> Answer:
        state = self.journal.state
        taken_s, warnings = state.elapsed_and_warnings()
        seconds = self.journal.ending.get("seconds", round(taken_s, 3))
        answer = Answer(
            run=self.run.id,
            session=self.session.name,
            mode=self.question.mode,
            question=self.question.text,
            model=self.model.name,
            text=checked.text,
            citations=checked.citations,
            claims=checked.claims,
            sources=shown_sources(state.research.shown.values(), checked.citations),
            rejected=rejected_sources(self.question.rejected, state),
            usage=usage_of(
                [*self.transcript.calls, *self.side_calls],
                state,
                seconds,
            ),
            stopped_by=stopped_by,
            faults=checked.faults,
            confidence=self.transcript.confidence,
            contradictions=checked.contradictions,
            noted=tuple(state.research.noted) if self.model.host is None else (),  # others have weighed them
            unread=self.question.unread,
            warnings=tuple(dict.fromkeys([*warnings, *self.warnings])),
        )
        if self.journal.is_live:
            self._store(answer)
        self._is_stored = True
        self.on_answer(answer)
        return answer

    def _store(self, answer: Answer) -> None:
        """Store the answer, its ledger entries and its messages in one transaction."""
        runs, run = self.stores.runs, self.run
        exported = answer_json(answer)
        verdicts = [
            {"verdict": each.verdict, "score": each.score, "citations": each.citations} for each in answer.claims
        ]
        was_cancelled = answer.stopped_by == "cancelled"
        kept = session_messages(answer.question, self.question.shown, self.transcript.work, answer)
        ending = {
            "seconds": answer.usage.seconds,
            "allowed_s": self.time_limit_s,
            "mended_late": self.revision_timed_out,
            "changed_files": self.changed_files,
            "cancelled_in": self.journal.phase if was_cancelled else None,
        }
        with runs.steps.together():
            self.journal.add_last(ending)
            runs.record(run.id, "cited", {"keys": [each.key for each in answer.citations]})
            runs.record(run.id, "checked", {"claims": verdicts})
            runs.record(run.id, "used", exported["usage"])
            self._append(kept)
            runs.finish(run.id, "cancelled" if was_cancelled else "finished", exported)


# fields of an answer


def shown_sources(shown: Iterable[Evidence], citations: Iterable[Citation]) -> tuple[tuple[Source, float, bool], ...]:
    """Return each source shown, with the best score of its passages and whether the answer cites it; best first.

    Sources with equal scores stay in the order in which they were shown.
    """
    cited = {each.source.id for each in citations}
    found: dict[str, tuple[Source, float, bool]] = {}
    for each in shown:
        score = max(each.score or 0.0, found[each.source.id][1] if each.source.id in found else 0.0)
        found[each.source.id] = (each.source, score, each.source.id in cited)
    return tuple(sorted(found.values(), key=lambda item: -item[1]))


def rejected_sources(before: Iterable[tuple[str, str]], state: RunState) -> tuple[tuple[str, str], ...]:
    """Return what was not read, each once with the reason: `before` the run, then in it unless a passage was shown."""
    used = {each.source.url for each in state.research.shown.values()}
    found = dict(before) | {url: why for url, why in state.rejected if url not in used}
    return tuple(found.items())


def usage_of(calls: Sequence[ModelUsage], state: RunState, seconds: float) -> Usage:
    """Return the usage of a run from its model calls; the cost is `None` if that of any call is unknown."""
    costs = [each.cost_usd for each in calls]
    web = state.web_use
    return Usage(
        llm_calls=len(calls),
        prompt_tokens=sum(each.prompt_tokens for each in calls),
        completion_tokens=sum(each.completion_tokens for each in calls),
        cost_usd=None if not costs or None in costs else math.fsum(each for each in costs if each is not None),
        searches=len(state.research.queries) + (web.searches if web else 0),
        fetches=web.fetches if web else 0,
        cache_hits=web.cache_hits if web else 0,
        seconds=seconds,
    )
