"""Research over the library: from summaries to papers, from their pages to passages, and from those to an answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from asky.concurrency import in_thread
from asky.errors import AskyError, NotEnoughEvidence
from asky.events import StageFinished, StageStarted
from asky.evidence.citations.page_citations import PageCitations, PageCitationStream, with_pages
from asky.evidence.passages import render_passages
from asky.evidence.unread import describe_files
from asky.llm.port import Message, ToolCall
from asky.llm.tools import ToolRegistry
from asky.papers.modes import NOTHING_RELEVANT
from asky.papers.states import read_state
from asky.research.excerpts.passages import interleave
from asky.research.tool_specs import GET_RELEVANT_CONTENT
from asky.research.tools import ResearchTools
from asky.research.writing.history import hold_keys, shown_again
from asky.research.writing.prompts import EVIDENCE_PROMPT, Prompt
from asky.research.writing.templates import fill, template_text
from asky.runs.driver import BaseRunWorker
from asky.runs.synthesis_prompt import synthesis_prompt
from asky.storage.scope import Scope
from asky.text.counting import counted

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from asky.evidence.citations.markers import MakeRewriter
    from asky.papers.catalog import PaperCatalog
    from asky.runs.context import RunContext, RunSpec
    from asky.runs.driver import PromptBuilder, PromptContext
    from asky.storage.runs import Run, StoredPassage
    from asky.storage.sessions import Session
    from asky.storage.steps import Step
    from asky.values import Answer, Evidence, Hit

SUMMARY_STAGE, CONTENT_STAGE = "paper summaries", "paper content"
"""The names of the stages in events, before the synthesis."""

_NO_CONTENT = "No detailed content found in the selected papers. Papers may not be properly indexed."
_KEY_FORMAT = "`[P7f3a]`, with the key of the passage, or `[P7f3a, P09c2]` for several"
_MAX_PASSAGES = 15
_CALL = "content"


class PaperPrompt:
    """Builds the prompt of a run with the passages that its first two stages find."""

    def __init__(self, worker: PaperWorker, context: PromptContext) -> None:
        assert worker.catalog is not None
        self._worker = worker
        self._catalog = worker.catalog
        self._given = worker.evidence
        self._context = context
        self._research = context.journal.state.research
        self._tools = ResearchTools(self._research, worker.store(), worker.corpus, worker.runs)

    def prompt(self) -> AbstractAsyncContextManager[Prompt]:
        """Yield the first messages, without tools. Raises `NotEnoughEvidence` if a stage finds nothing."""
        return synthesis_prompt(self._context, self._prepare, "Failed to synthesize research answer")

    async def _prepare(self) -> Prompt:
        question, feedback = self._context.question, self._context.question.instructions
        earlier = await in_thread(self._earlier) if feedback else None
        hits = self._given or await self._evidence([question.shown, *([feedback] if feedback else [])], earlier)
        query = f"{question.shown} {feedback}".strip()
        first = earlier.passages if earlier is not None else ()
        evidence = await self._tools.show_hits(hits, query, limit=_MAX_PASSAGES, first=first)
        if self._worker.model.host is None:
            return self._for_built_in(query, evidence)
        values = {
            "QUERY": question.shown,
            "EVIDENCE_CHUNKS": render_passages(evidence, marker=self._research.marker),
            "CITATION_FORMAT": _KEY_FORMAT,
        }
        if earlier is not None:
            values |= {"DRAFT": earlier.draft, "FEEDBACK": feedback}
        template = "research_synthesis_v1.md" if earlier is None else "research_improvement_v1.md"
        user = fill(template_text("asky.papers", template), values)
        return Prompt([Message("system", EVIDENCE_PROMPT), Message("user", user)], ToolRegistry([]))

    def _for_built_in(self, query: str, evidence: Sequence[Evidence]) -> Prompt:
        """Return the conversation that the built-in model quotes from: a question, and the result of a search."""
        shown = render_passages(evidence, marker=self._research.marker)
        return Prompt(
            [
                Message("system", EVIDENCE_PROMPT),
                Message("user", query),
                Message("assistant", "", (ToolCall(_CALL, GET_RELEVANT_CONTENT.name, "{}"),)),
                Message("tool", shown, tool_call_id=_CALL),
            ],
            ToolRegistry([]),
        )

    async def _evidence(self, queries: Sequence[str], earlier: _Earlier | None) -> Sequence[Hit]:
        """Return the passages of the second stage, and restrict the run to the papers of the first.

        The papers of an `earlier` answer stay, and what is found for several queries is interleaved.
        """
        papers = await self._relevant_papers(queries, earlier)
        started, emit = time.monotonic(), self._context.run.emit
        emit(StageStarted(CONTENT_STAGE, len(papers)))
        found = [await self._catalog.search_content_index_filtered(query, list(papers)) for query in queries]
        hits = interleave([[each.hit for each in ranking] for ranking in found])[:_MAX_PASSAGES]
        emit(StageFinished(CONTENT_STAGE, time.monotonic() - started, counted(len(hits), "content chunk")))
        if not hits and earlier is None:
            raise NotEnoughEvidence(_NO_CONTENT, hint="`asky papers rebuild-index` rebuilds the indexes")
        self._research.scope = Scope((await in_thread(self._catalog.collection),), tuple(papers.values()))
        return hits

    async def _relevant_papers(self, queries: Sequence[str], earlier: _Earlier | None) -> dict[str, str]:
        """Return the sources of the relevant papers by their ids, best first.

        A paper may say in passing what its summary does not: if no summary is relevant, the pages of all decide.
        """
        started, emit = time.monotonic(), self._context.run.emit
        emit(StageStarted(SUMMARY_STAGE))
        papers = dict(earlier.papers) if earlier is not None else {}
        for query in queries:
            for each in await self._catalog.search_summary_index(query):
                papers.setdefault(each.paper.id, each.paper.source.id)
        if not papers:
            for each in await self._catalog.search_content_index(queries[0]):
                papers.setdefault(each.paper.id, each.paper.source.id)
        emit(StageFinished(SUMMARY_STAGE, time.monotonic() - started, counted(len(papers), "relevant paper")))
        if not papers:
            unread = describe_files(self._context.question.unread)
            said = NOTHING_RELEVANT.format(query=self._context.question.text)
            raise NotEnoughEvidence(said, hint=f"not read: {unread}" if unread else None)
        return papers

    def _earlier(self) -> _Earlier:
        """Return the last answer of the session, and the passages that it cites."""
        worker, session_id = self._worker, self._research.session_id
        runs, documents = worker.runs, worker.store().tables.documents
        state = read_state(worker.sessions.settings(session_id) if session_id is not None else None)
        run = runs.find(state.run) if state.run is not None else None
        if run is None or run.answer is None:
            return _Earlier("", (), {})
        citations = run.answer["citations"]
        cited = [each for each in runs.passages(run.id) if any(_holds(each, citation) for citation in citations)]
        hold_keys(self._research.keys, cited, documents)
        sources = {each.source.id for each in cited}
        papers = {each.id: each.source.id for each in self._catalog.table.with_source(sources).values()}
        return _Earlier(with_pages(run.answer["answer"], citations), shown_again(cited, documents), papers)


@dataclass(frozen=True, slots=True)
class PaperWorker(BaseRunWorker):
    """Answers research queries from the papers in `catalog`, or from the passages `evidence` if there are any.

    `on_end` receives the name of the session and the answer of each run, `None` for one that failed.
    """

    prompt_builder: ClassVar[Callable[[Any, PromptContext], PromptBuilder]] = PaperPrompt
    catalog: PaperCatalog | None = None
    evidence: tuple[Hit, ...] = ()
    on_end: Callable[[str, Answer | None], None] | None = None

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
        """Execute a run as every product does, and pass its answer, or `None` after an error, to `on_end`."""
        execute = partial(BaseRunWorker.execute, self, spec, session, run, context, steps=steps, is_live=is_live)
        end = self.on_end if is_live else None
        if end is None:
            await execute(on_answer=on_answer)
            return

        def keep(answer: Answer) -> None:
            end(session.name, answer)
            on_answer(answer)

        try:
            await execute(on_answer=keep)
        except AskyError:
            await in_thread(end, session.name, None)
            raise

    def rewriter(self, shown: Mapping[str, Evidence]) -> MakeRewriter:
        """Return what reads `[2509.10446v1, page 5]` where a model writes that in place of a key."""
        citations = PageCitations(shown, lambda document_id: self.store().tables.documents.structure(document_id)[1])
        return lambda: PageCitationStream(citations)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """An answer to improve, the passages that it cites, and the sources of their papers by id."""

    draft: str
    passages: Sequence[Evidence]
    papers: Mapping[str, str]


def _holds(passage: StoredPassage, citation: Mapping[str, Any]) -> bool:
    is_of_source = passage.source.id == citation["source_id"]
    return is_of_source and bool(passage.start <= citation["start"] and citation["end"] <= passage.end)
