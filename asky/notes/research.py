"""Research into a note: its topics, what the web and the vault say on them, and one synthesis.

A run like any other: journal, budget, check and replay are those of `asky.runs.driver`. What is written into the note,
and whether, is decided at the end by `on_end`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from asky.concurrency import in_thread
from asky.errors import EmptyReply, NotEnoughEvidence, ProviderError
from asky.events import StageFinished, StageStarted
from asky.evidence.passages import fence, render_passages
from asky.llm.port import Message
from asky.llm.tools import ToolRegistry
from asky.notes.citations import LinkCitations, LinkCitationStream
from asky.notes.modes import NO_SYNTHESIS, NO_TOPICS
from asky.notes.topics import MAX_NOTE_CHARS, choose_topics, find_topics
from asky.research.excerpts.passages import join_hits
from asky.research.web.gathering import Gatherer, no_pages
from asky.research.writing.prompts import EVIDENCE_PROMPT, Prompt
from asky.research.writing.quoting import TopicQuoter, quoting_messages
from asky.research.writing.templates import fill, template_text
from asky.runs.driver import BaseRunWorker
from asky.runs.journal.web import REPLAYED, JournaledSummaries, attach_web
from asky.runs.synthesis_prompt import synthesis_prompt
from asky.text.counting import counted

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from asky.evidence.citations.markers import MakeRewriter
    from asky.llm.port import ModelUsage
    from asky.notes.modes import Depth
    from asky.notes.topics import Topic
    from asky.research.web.access import Web
    from asky.research.web.gathering import TopicFindings
    from asky.research.web.run import WebRun
    from asky.runs.access import Access
    from asky.runs.context import RunContext, RunSpec
    from asky.runs.driver import PromptBuilder, PromptContext
    from asky.search.port import Candidate
    from asky.storage.runs import Run
    from asky.storage.sessions import Session
    from asky.storage.steps import Step
    from asky.values import Answer, Evidence, Hit

TOPIC_STAGE = "topics"
"""The name of the first stage in events; `asky.research.web.gathering.STAGE` and the synthesis follow."""

GATHERED = "gathered"
"""The kind of the ledger entry with what was found on each topic."""

_PASSAGES_OF_NOTES = 5  # for each topic
_PAGES = 2  # read for each topic, with the depth `deep`
_REASON = "these words come from the note {path}, and would be sent to search services"
_NOT_SENT = "nothing was sent to search services: the queries were not approved, so only the vault was searched"
_NOTHING = "nothing was found about the topics of {path}"


@dataclass(frozen=True, slots=True)
class NoteTask:
    """What a run does with a note: `path` is relative to the vault, `sha256` the hash of its bytes as they were read.

    `title` and `text` are what topics are taken from. If `writes`, the result is written into the note.
    """

    path: str
    sha256: str
    title: str
    text: str
    depth: Depth = "shallow"
    focus: str | None = None
    writes: bool = True

    def encode(self) -> dict[str, Any]:
        """Return this value as JSON."""
        return asdict(self)


def decode_task(data: Mapping[str, Any]) -> NoteTask:
    """Return the value that `NoteTask.encode` encoded."""
    return NoteTask(**data)


@dataclass(frozen=True, slots=True)
class VaultSearch:
    """The vault as a run sees it.

    `find` takes the path of a note, queries and a limit, and returns for each query the best passages of other notes;
    `source_of` returns the source that the target of a wikilink leads to, and `linked` the sources that the note at a
    path links to.
    """

    find: Callable[[str, Sequence[str], int], Sequence[Sequence[Hit]]]
    source_of: Callable[[str], str | None]
    linked: Callable[[str], Collection[str]]


class NotePrompt:
    """Builds the prompt of a run from the topics of a note and what is found on them."""

    def __init__(self, worker: NoteWorker, context: PromptContext) -> None:
        assert worker.vault is not None
        self._worker = worker
        self._vault = worker.vault
        self._context = context
        self._journal = context.journal
        self._research = context.journal.state.research
        self._task = decode_task(context.question.task)

    def prompt(self) -> AbstractAsyncContextManager[Prompt]:
        """Yield the first messages, without tools.

        Raises `NotEnoughEvidence` if the note has no topics, or nothing is found on them.
        """
        return synthesis_prompt(self._context, self._prepare, "Research synthesis failed")

    async def _prepare(self) -> Prompt:
        prepare, has_web = self._worker.prepare_reader, self._context.question.web is not None
        if prepare is not None and has_web and self._task.depth == "deep":
            prepare("text/html")
        topics = await self._topics()
        web = await self._open_web()
        may_search = web is not None and await self._may_send(web, topics)
        gatherer = Gatherer(
            self._research,
            self._worker.store(),
            self._worker.corpus,
            self._worker.runs,
            web=web if may_search else None,
            web_collection=self._context.question.web.collection_id if self._context.question.web else None,
            find_local=self._find_local,
            choose_pages=_first_pages if self._task.depth == "deep" else no_pages,
            emit=self._context.run.emit,
        )
        findings = await gatherer.gather(topics)
        self._report_failures(findings)
        record = {
            "path": self._task.path,
            "topics": [each.as_record() | {"type": each.topic.type} for each in findings],
        }
        await in_thread(self._worker.runs.record, self._research.run_id, GATHERED, record)
        if not any(each.passages() for each in findings):
            raise NotEnoughEvidence(_NOTHING.format(path=self._task.path), hint=_hint(web is not None))
        if self._worker.model.host is None:
            marker = self._research.marker
            return Prompt(
                [Message("system", EVIDENCE_PROMPT), *quoting_messages(_by_label(findings), marker)], ToolRegistry([])
            )
        return await in_thread(self._prompt, findings)

    def _find_local(self, queries: Sequence[str]) -> list[list[Evidence]]:
        """Return the passages of other notes for each query, best first."""
        documents = self._worker.store().tables.documents
        found = self._vault.find(self._task.path, queries, _PASSAGES_OF_NOTES)
        return [join_hits(hits, documents, self._research.keys, limit=_PASSAGES_OF_NOTES) for hits in found]

    def _report_failures(self, findings: Sequence[TopicFindings[Topic]]) -> None:
        """Warn of what could not be looked up. Raises the first such error if nothing was found at all."""
        errors = [error for each in findings for error in each.failures]
        if errors and not any(each.passages() for each in findings):
            raise errors[0]
        for message in dict.fromkeys(each.message for each in errors):
            self._context.warn(message)

    async def _topics(self) -> Sequence[Topic]:
        emit, started, task = self._context.run.emit, time.monotonic(), self._task
        emit(StageStarted(TOPIC_STAGE))
        worker = self._worker
        if worker.model.host is None:
            topics: Sequence[Topic] = await in_thread(find_topics, task.text, task.focus, task.title)
        else:
            model = JournaledSummaries(worker.model, self._journal)
            asked = await choose_topics(
                model, task.text, task.focus, marker=self._research.marker, budget=self._context.budget
            )
            for usage in asked.calls:
                self._count(usage)
            topics = asked.value
        emit(StageFinished(TOPIC_STAGE, time.monotonic() - started, counted(len(topics), "topic")))
        if not topics:
            raise NotEnoughEvidence(NO_TOPICS, hint="--focus names what to look for")
        return topics

    def _count(self, usage: ModelUsage) -> None:
        if usage is not REPLAYED:
            self._context.count(usage)

    async def _open_web(self) -> WebRun | None:
        """Return the web access of the run; `None` if it has none or no service is set up."""
        access, worker = self._context.question.web, self._worker
        self._research.private_notes.append(self._task.text)
        if access is None or worker.web is None:
            return None
        web = worker.web(self._context.run.access).open(self._research, access, is_private=True)
        attach_web(self._journal.state, web, self._journal, self._context.run.approve, is_private=True)
        await web.note_policy()
        return web if web.can_search else None

    async def _may_send(self, web: WebRun, topics: Sequence[Topic]) -> bool:
        """Return whether the user approves the queries, which are words of a private note."""
        queries = [each.label for each in topics]
        if await web.searches.request_approval(queries, _REASON.format(path=self._task.path)):
            return True
        self._context.warn(_NOT_SENT)
        return False

    def _prompt(self, findings: Sequence[TopicFindings[Topic]]) -> Prompt:
        """Return the prompt of a model, whose passages and note fit into its context."""
        room = self._worker.model.context_tokens * 2 // 5
        counter = self._worker.counter()
        note = self._task.text[:MAX_NOTE_CHARS]
        while counter.count_text(note) > room // 2:
            note = note[: len(note) * 3 // 4]
        if len(note) < len(self._task.text):
            self._context.warn(f"only the first {len(note):,} characters of the note were given to the model")
        share, linked = room // max(1, len(findings)), self._vault.linked(self._task.path)
        blocks = []
        for each in findings:
            spent = 0
            passages: list[Evidence] = []
            for passage in each.passages():
                spent += counter.count_text(passage.text)
                if passages and spent > share:
                    break
                passages.append(passage)
            if passages:
                blocks.append(self._block(each, passages, linked))
        values = {
            "NOTE": f"The note:\n{fence(note, self._research.marker, 'note')}",
            "RESEARCH": "\n\n".join(blocks),
        }
        user = fill(template_text("asky.notes", "note_synthesis_v1.md"), values)
        return Prompt([Message("system", EVIDENCE_PROMPT), Message("user", user)], ToolRegistry([]))

    def _block(self, findings: TopicFindings[Topic], passages: Sequence[Evidence], linked: Collection[str]) -> str:
        """Return what a model sees of one topic: what the note says, then its passages by origin."""
        topic, marker = findings.topic, self._research.marker
        note = f"Topic: {topic.label} ({topic.type})\nThe note says: {topic.context or 'nothing more'}"
        parts = [fence(note, marker, "topic")]
        web = [each for each in passages if each.source.kind != "note"]
        notes = [each for each in passages if each.source.kind == "note"]
        if web:
            parts.append(f"From the web:\n{render_passages(web, marker=marker)}")
        if notes:
            fresh = [each.key for each in notes if each.source.id not in linked]
            marked = f" (the note does not link to: {', '.join(fresh)})" if fresh else ""
            parts.append(f"From the vault{marked}:\n{render_passages(notes, marker=marker)}")
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class NoteWorker(BaseRunWorker):
    """Researches notes with one model, from the web and the `vault`.

    `prepare_reader` gets ready to read pages of a media type, in the background.
    `on_end` receives the task and the answer of each run that has one, and writes it into the note.
    """

    prompt_builder: ClassVar[Callable[[Any, PromptContext], PromptBuilder]] = NotePrompt
    vault: VaultSearch | None = None
    web: Callable[[Access], Web] | None = None
    prepare_reader: Callable[[str], None] | None = None
    on_end: Callable[[NoteTask, Answer], None] | None = None

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
        """Execute a run as every product does, and pass a complete answer to `on_end` first."""
        worker = replace(self, model=TopicQuoter(self.model)) if self.model.host is None and is_live else self
        execute = partial(BaseRunWorker.execute, worker, spec, session, run, context, steps=steps, is_live=is_live)
        kept: list[Answer] = []
        try:
            await execute(on_answer=kept.append)
        except EmptyReply as error:
            raise ProviderError(NO_SYNTHESIS, hint=error.hint) from error
        finally:
            for answer in kept:
                on_answer(answer)
        if is_live and self.on_end is not None and kept and kept[-1].stopped_by is None:
            await in_thread(self.on_end, decode_task(spec.question.task), kept[-1])

    def rewriter(self, shown: Mapping[str, Evidence]) -> MakeRewriter | None:
        """Return what reads `[Title](URL)` and `[[Name]]` where a model writes those in place of keys."""
        if self.vault is None:
            return None
        citations = LinkCitations(shown, self.vault.source_of)
        return lambda: LinkCitationStream(citations)


def _first_pages(results: Sequence[Sequence[Candidate]]) -> Sequence[Sequence[str]]:
    return [[each.url for each in listed[:_PAGES]] for listed in results]


def _by_label(findings: Sequence[TopicFindings[Topic]]) -> list[tuple[str, Sequence[Evidence]]]:
    return [(each.topic.label, each.passages()) for each in findings]


def _hint(has_web: bool) -> str:
    return "--focus names what to look for" if has_web else "with a search service, the web is searched too"
