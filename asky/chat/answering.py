"""One question through the evidence path: gather and write in the loop, then number, verify and keep.

Everything that was shown, cited and checked is in the run's ledger before the answer is printed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import anyio

from asky.chat.loop import LoopResult, LoopSettings, Transcript, run_loop
from asky.chat.prompts import research_system_prompt
from asky.chat.registry import ToolRegistry
from asky.errors import AskyError, StorageError
from asky.events import Listener, StageFinished, StageStarted, Warned
from asky.evidence.answer import answer_json, build_citations
from asky.evidence.claims import split_claims
from asky.evidence.markers import Numbered, number_citations
from asky.evidence.passages import shown_title
from asky.evidence.quotes import find_quote
from asky.evidence.verify import mark_unsupported, verify_answer
from asky.llm.port import ABSTENTION, Message
from asky.research.tools import ACQUISITION_TOOL_NAMES, ResearchRun, ResearchTools
from asky.values import Answer, Citation, Claim, Source, Span, StoppedBy, Usage

if TYPE_CHECKING:
    from asky.config.schema import Research
    from asky.llm.port import ChatModel
    from asky.research.vector_store import VectorStore
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import Run, RunStore
    from asky.storage.scope import Scope
    from asky.storage.sessions import Session, SessionStore

Mode = Literal["research", "standard", "lean"]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of what. `text` is what the user wrote, `shown` what the model sees of it: without local paths."""

    text: str
    shown: str
    mode: Mode
    scope: Scope
    rejected: tuple[tuple[str, str], ...] = ()
    preloaded: bool = True


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers questions with one model over the corpus.

    `settings` limits turns and passages; `warned` is what the user was warned of, in this process and so far.
    """

    model: ChatModel
    store: VectorStore
    corpus: CorpusStore
    runs: RunStore
    sessions: SessionStore
    settings: Research
    listener: Listener
    warned: Sequence[str] = ()

    async def answer(self, question: Question, session: Session, *, keep: Callable[[Answer], None]) -> None:
        """Answer `question` and hand the stored answer to `keep`.

        A cancelled run hands over what there was of its answer, stored and marked as such, before the cancellation goes
        on. Raises what the model raises; the run is then kept as failed, with its ledger.
        """
        run = self.runs.start(question=question.text, mode=question.mode, model=self.model.name, session_id=session.id)
        work = _Work(self, question, session, run, keep)
        try:
            await work.gather_and_write()
        except anyio.get_cancelled_exc_class():
            work.finish_cancelled()
            raise
        except Exception as error:
            code = error.code if isinstance(error, AskyError) else "unexpected"
            with suppress(StorageError):  # where the store itself has failed, the first error is the one to show
                self.runs.record(run.id, "failed", {"code": code, "message": str(error)})
                self.runs.finish(run.id, "failed", None)
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
        self._research = ResearchRun(
            run.id,
            session.id,
            question.scope,
            owner.settings.passage_tokens,
            owner.settings.max_passages,
        )
        self._transcript = Transcript([])

    async def gather_and_write(self) -> None:
        owner = self._owner
        tools = ToolRegistry(ResearchTools(self._research, owner.store, owner.corpus, owner.runs).all())
        if self._question.preloaded:
            tools = tools.without(ACQUISITION_TOOL_NAMES)
        sources = owner.corpus.sources(self._question.scope)
        system = research_system_prompt(tools.specs(), sources_summary=_summary(sources))
        self._transcript.messages += [Message("system", system), Message("user", self._question.shown)]
        owner.runs.record(
            self._run.id, "asked", {"model": owner.model.name, "host": owner.model.host, "sources": len(sources)}
        )
        result = await run_loop(
            owner.model,
            self._transcript,
            tools,
            settings=LoopSettings(max_turns=owner.settings.max_turns),
            listener=owner.listener,
        )
        self._finish(result)

    def finish_cancelled(self) -> None:
        """Keep what there is of an answer that was interrupted."""
        self._store_answer(self._transcript.partial_text, "cancelled")

    def _finish(self, result: LoopResult) -> None:
        self._warnings += result.warnings
        stopped_by = result.stopped_by
        text = result.reply_text
        if not text.strip() or text.lstrip().startswith(ABSTENTION):
            stopped_by = stopped_by or "no_evidence"
            text = self._abstention(text)
        self._store_answer(text, stopped_by)

    def _abstention(self, text: str) -> str:
        """What the model said of its failure, and what was searched."""
        run = self._research
        chunks = self._owner.store.tables.chunks.count(run.scope)
        sources = len(self._owner.corpus.sources(run.scope))
        searched = f"Searched {chunks:,} passages of {sources:,} sources"
        if run.queries:
            searched += " for " + "; ".join(f"“{query}”" for query in run.queries)
        return f"{text.strip() or ABSTENTION}\n\n{searched}."

    def _store_answer(self, text: str, stopped_by: StoppedBy | None) -> None:
        numbered = number_citations(text, self._research.shown)
        citations = self._located(build_citations(numbered.order, self._research.shown), numbered.text)
        self._note_gate(numbered)
        self._owner.listener(StageStarted("verify"))
        started = time.monotonic()
        abstained = text.lstrip().startswith(ABSTENTION)
        final, claims = self._checked(numbered.text, citations, abstained=abstained)
        self._owner.listener(StageFinished("verify", time.monotonic() - started, f"{len(claims)} sentences"))
        answer = Answer(
            run=self._run.id,
            session=self._session.name,
            mode=self._question.mode,
            question=self._question.text,
            model=self._owner.model.name,
            text=final,
            citations=citations,
            claims=claims,
            sources=self._sources(citations),
            rejected=self._question.rejected,
            usage=self._usage(),
            stopped_by=stopped_by,
            warnings=tuple(dict.fromkeys([*self._owner.warned, *self._warnings])),
        )
        self._record(answer)
        self._keep(answer)

    def _located(self, citations: Sequence[Citation], text: str) -> tuple[Citation, ...]:
        """Citations with the section and page of the sentence that is quoted, where one stands in the passage as it is.

        A passage may begin in one section or on one page and hold the sentence in the next.
        """
        drafts = split_claims(text)
        located = []
        for each in citations:
            quoted = (find_quote(draft.text, each.quote) for draft in drafts if each.n in draft.citations)
            place = next((span for span in quoted if span is not None), None)
            if place is not None:
                begin = each.span.start + place.start
                document_id = self._research.shown[each.key].document_id
                location = self._owner.store.location(document_id, Span(begin, begin + len(place)))
                each = replace(each, location=location)
            located.append(each)
        return tuple(located)

    def _checked(self, text: str, citations: Sequence[Citation], *, abstained: bool) -> tuple[str, tuple[Claim, ...]]:
        """The text with its unsupported sentences marked, and its claims; an abstention claims nothing."""
        if abstained:
            return text, ()
        passages = {each.n: each.quote for each in citations}
        marked = mark_unsupported(text, verify_answer(text, passages))
        return marked, verify_answer(marked, passages)

    def _note_gate(self, numbered: Numbered) -> None:
        if numbered.unknown:
            self._warn(f"{len(numbered.unknown)} citations of passages that were never shown were struck out")
        if numbered.bare_numbers:
            self._warn(f"{len(numbered.bare_numbers)} bracketed numbers are the model's own and cite nothing")
        if numbered.unseen_urls:
            self._warn(f"addresses that no source holds: {', '.join(numbered.unseen_urls[:5])}")

    def _warn(self, message: str) -> None:
        self._warnings.append(message)
        self._owner.listener(Warned(message))

    def _sources(self, citations: Sequence[Citation]) -> tuple[tuple[Source, float, bool], ...]:
        """Every source that was shown, by its best passage's score, and whether the answer cites it."""
        cited = {each.source.id for each in citations}
        found: dict[str, tuple[Source, float, bool]] = {}
        for each in self._research.shown.values():
            score = max(each.score or 0.0, found[each.source.id][1] if each.source.id in found else 0.0)
            found[each.source.id] = (each.source, score, each.source.id in cited)
        return tuple(sorted(found.values(), key=lambda item: -item[1]))

    def _usage(self) -> Usage:
        used = self._transcript.usage
        return Usage(
            llm_calls=self._transcript.turns,
            prompt_tokens=used.prompt_tokens,
            completion_tokens=used.completion_tokens,
            cost_usd=used.cost_usd,
            searches=len(self._research.queries),
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
        owner.sessions.append(self._session.id, "user", answer.question, run_id=run.id)
        owner.sessions.append(self._session.id, "assistant", answer.text, run_id=run.id)


def _summary(sources: Sequence[Source]) -> str:
    """What can be searched, in a line: how many sources, and the first titles."""
    titles = [shown_title(each) for each in sources[:8]]
    more = f" and {len(sources) - len(titles):,} more" if len(sources) > len(titles) else ""
    return f"{len(sources):,} ({'; '.join(titles)}{more})"
