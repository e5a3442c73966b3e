"""The paper library: what it holds, and how papers come in, are found and go."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from asky.concurrency import error_of, in_thread
from asky.config.limits import RunLimits
from asky.errors import AskyError, NotEnoughEvidence, SourceError, UsageError
from asky.events import Listener, StageAdvanced, StageFinished, StageStarted, ignore
from asky.evidence.export.bibliography import BibliographyFormat, bibliography
from asky.papers.adding import PaperAdder, PaperSources
from asky.papers.catalog import PaperCatalog, PaperHit, no_papers
from asky.papers.files import PaperFiles
from asky.papers.identity import read_name, without_version
from asky.papers.keeping import AddedPaper, PaperKeeper, PaperParts, unread_of
from asky.papers.modes import NOTHING_RELEVANT, PAPERS
from asky.papers.notes import PaperNotes
from asky.papers.references import cited_by_page, cited_names, reference_list
from asky.papers.states import INITIAL, SETTING, PaperState, encode_state, read_state
from asky.papers.summaries import PaperSummary, read_summary, summarize, summary_document, summary_source
from asky.papers.table import MAX_PAPERS, FilledTable, TableMaker, raise_if_all_failed, read_columns
from asky.papers.wanted import Wanted, read_arguments
from asky.papers.written_summaries import SUMMARY_QUESTION, summary_hits, written_summary
from asky.research.local.names import show_name, show_target
from asky.runs.access import BUILT_IN
from asky.runs.context import Question, raise_for_outcome
from asky.storage.papers import Paper, PaperTable
from asky.storage.scope import Scope
from asky.text.counting import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from asky.llm.port import ChatModel
    from asky.papers.online import OnlinePapers
    from asky.papers.research import PaperWorker
    from asky.reading.process.pool import ReaderPool
    from asky.research.corpus.ingest import Ingester
    from asky.research.local.files import LocalRoots
    from asky.research.vector_store import VectorStore
    from asky.runs.context import RunHandle
    from asky.runs.starter import OpenedSession, RunStarter
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database
    from asky.values import Answer, UnreadFile

_SESSION = "papers"
_STANDARD = "standard"  # the mode of other questions in a session with papers
_MAX_QUERY_CHARS = 4_000  # a page; what is longer is a document
_OUTSIDE = "{} that an export names outside of its own folder: not read; `--files-from FOLDER` reads those in a folder"

_ENDED: Mapping[str, str] = MappingProxyType(
    {"no_evidence": "the passages hold too little to answer this", "cancelled": "the run was stopped"}
)


@dataclass(frozen=True, slots=True)
class AddedPapers:
    """The outcomes of an add, and the number of passages embedded.

    Files come first, in order of their names, then papers by id and address, as they were named. `named` are those that
    an argument names itself, and not as part of a folder or an export. `unread` is what was not read of each file.
    """

    outcomes: tuple[AddedPaper, ...]
    embedded: int
    named: tuple[AddedPaper, ...] = ()
    unread: tuple[UnreadFile, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a research query.

    `papers` are those that the answer `content` cites, in order of their ids, which are `paper_ids`. Without `success`,
    `message` says why. `warnings` name the cited papers that were taken back or are in doubt.
    """

    success: bool
    papers: tuple[Paper, ...] = ()
    paper_ids: tuple[str, ...] = ()
    content: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()


class PaperService(PaperCatalog):
    """Keeps papers. Synchronous methods only read the store; the others are coroutines."""

    def __init__(
        self,
        database: Database,
        corpus: CorpusStore,
        store: VectorStore,
        ingester: Ingester,
        readers: ReaderPool,
        *,
        folder: Path,
        roots: Callable[[Sequence[Path]], LocalRoots],
        online: Callable[[], OnlinePapers],
        summarizer: Callable[[], ChatModel],
        max_file_bytes: int,
        workers: int,
        listener: Listener,
        research: RunStarter[PaperWorker],
    ) -> None:
        super().__init__(PaperTable(database), corpus, store)
        self._parts = PaperParts(
            database,
            corpus,
            self.table,
            ingester,
            readers,
            PaperFiles(folder),
            max_file_bytes=max_file_bytes,
            workers=workers,
            listener=listener,
            documents=store.tables.documents,
        )
        self._notes = PaperNotes(self._parts)
        self._research = research
        self._roots = roots
        self._online = online
        self._summarizer = summarizer
        self._adder = PaperAdder(self._parts, PaperKeeper(self._parts))

    # reading

    def pdf(self, paper: Paper) -> Path:
        """Return the path of the library's copy of a paper."""
        return self._parts.files.pdf(paper.name)

    def summary(self, paper: Paper) -> PaperSummary:
        """Return the summary of a paper. Raises `SourceError` if it has none."""
        document_id = self._parts.corpus.current_document(paper.summary_source) if paper.summary_source else None
        if document_id is None:
            raise SourceError(f"{paper.name} has no summary", hint="`asky papers retry` completes papers")
        return read_summary(self._store.tables.documents.document(document_id))

    def bibliography(self, form: BibliographyFormat, names: Sequence[str] = ()) -> str:
        """Return an entry for each of the named papers, or for all, in order of their ids.

        Raises `UsageError` if a name is not that of one paper, or if there are no papers.
        """
        chosen = {each.id: each for each in map(self.resolve, names)} if names else {}
        papers = sorted(chosen.values(), key=lambda each: each.id) or self.papers()
        if not papers:
            raise no_papers()
        return bibliography([{"citations": [_cited(each) for each in papers]}], form)

    # research

    async def research_query(
        self, query: str, *, session: str = _SESSION, model: str | None = None, listen: Listener = ignore
    ) -> QueryResult:
        """Return the answer to `query` with the papers that it cites; an `AskyError` becomes its message."""
        try:
            async with self.start(query, session=session, model=model, listen=listen) as run:
                answer = await run.result()
        except AskyError as error:
            return QueryResult(success=False, message=error.message)
        return self.result(answer)

    def result(self, answer: Answer) -> QueryResult:
        """Return what an answer of `start` says: its text with citations by page, and the papers that it cites."""
        content, ids = self.format_research_result(cited_by_page(answer))
        papers = tuple(each for each in map(self.table.get, ids) if each is not None)
        ended = None
        if answer.stopped_by is not None:
            ended = _ENDED.get(answer.stopped_by, f"the run ended early: {answer.stopped_by}")
        message = ended or f"{counted(len(ids), 'paper')} cited"
        warnings = tuple(f"the answer cites {each.name}: {each.warning}" for each in papers if each.warning)
        return QueryResult(ended is None, papers, tuple(ids), content, message, warnings)

    async def synthesize_research_answer(
        self, query: str, evidence_chunks: Sequence[PaperHit], *, session: str = _SESSION, model: str | None = None
    ) -> str:
        """Return the answer to `query` from these passages alone, in Markdown with `[id, page N]` after its sentences.

        It is stored as a run. Raises as `start` does.
        """
        async with self.start(query, session=session, model=model, evidence=evidence_chunks) as run:
            return cited_by_page(await run.result())

    def format_research_result(self, synthesized_answer: str) -> tuple[str, list[str]]:
        """Return an answer with the list of the papers that it cites by page, and their ids in the order of that list.

        The order is that of the ids. Names that the library does not know are left out.
        """
        found = {each.id: each for each in map(self._named, cited_names(synthesized_answer)) if each is not None}
        papers = [found[each] for each in sorted(found)]
        return synthesized_answer.rstrip() + reference_list(papers), [each.id for each in papers]

    @asynccontextmanager
    async def start(
        self,
        query: str,
        *,
        feedback: str = "",
        evidence: Sequence[PaperHit] = (),
        session: str = _SESSION,
        model: str | None = None,
        limits: RunLimits | None = None,
        offline: bool = False,
        listen: Listener = ignore,
        notes: Callable[[], Sequence[str]] = tuple,
    ) -> AsyncIterator[RunHandle]:
        """Research `query` in the background of the body; leaving the body cancels the run if it has not finished.

        With `feedback`, the last answer of the session is improved. With `evidence`, only these passages are used, and
        nothing is searched. The state of the session is what the run ends in, see `asky.papers.states`. Raises
        `UsageError` for an empty or very long query, and without papers; the run raises `NotEnoughEvidence` if a stage
        finds nothing, and what the model raises.
        """
        opened = await in_thread(self._open, query, feedback, session, model, limits or RunLimits(), offline)
        scope = Scope((await in_thread(self.collection),))
        given = list({each.paper.id: each.paper for each in evidence}.values()) or None
        unread = tuple(await in_thread(self.unread, given))
        question = Question(query, query, PAPERS, scope, instructions=feedback, unread=unread)
        worker = replace(opened.worker, evidence=tuple(each.hit for each in evidence))
        async with self._research.start(replace(opened, worker=worker), question, listen=listen, notes=notes) as run:
            yield run

    async def tabulate(
        self,
        columns: str,
        names: Sequence[str] = (),
        *,
        session: str = _SESSION,
        model: str | None = None,
        **options: Any,
    ) -> FilledTable:
        """Return a table with a row for each paper and these `columns`, which are separated by commas.

        The papers are those with these names, or about these words, see `named_or_about`; without names those shown
        last in the session, else the first 20. With `model`, it fills each row in a run of its own; `options` are those
        of `start`. Without, the cells are quotations. A row that failed has a failure, unless all did: then the first
        error is raised. Raises `UsageError` as `read_columns` and `named_or_about` do.
        """
        wanted = read_columns(columns)
        state = await in_thread(self.state, session)
        shown = [state.numbered(each) for each in names] or list(state.last_query_set)
        papers = await self.named_or_about(shown) if shown else await in_thread(self.papers)
        if not papers:
            raise NotEnoughEvidence(NOTHING_RELEVANT.format(query=" ".join(names))) if names else no_papers()
        chosen = papers if names else papers[:MAX_PAPERS]
        worker = await in_thread(self._research.worker, model or BUILT_IN, RunLimits())
        maker = TableMaker(self, self._store.tables.documents, self._parts.listener, worker.claim_reader)
        if worker.model.host is None:
            rows = await maker.quoted(wanted, chosen, worker.model)
        else:
            rows = await maker.written(wanted, chosen, partial(self._row, f"{session} table", model, options))
        raise_if_all_failed(rows)
        return FilledTable(wanted, tuple(rows), worker.model.name, len(papers) - len(chosen))

    async def _row(
        self, session: str, model: str | None, options: Mapping[str, Any], question: str, hits: Sequence[PaperHit]
    ) -> Answer:
        async with self.start(question, evidence=hits, session=session, model=model, **options) as run:
            return await run.result()

    def state(self, session: str = _SESSION) -> PaperState:
        """Return the state of a session with the library."""
        found = self._research.sessions.find(session)
        return read_state(found.settings) if found is not None else INITIAL

    def enter(self, state: PaperState, session: str = _SESSION) -> None:
        """Make `state` that of a session, which is created if necessary; but not to be in the initial state."""
        sessions = self._research.sessions
        if state != INITIAL or sessions.find(session) is not None:
            sessions.put_setting(sessions.open(session, mode=_STANDARD).id, SETTING, encode_state(state))

    def keep_state(self, session: str, answer: Answer | None) -> None:
        """Make the state of a session that after `answer`, or the initial one after an error."""
        if answer is None:
            self.enter(INITIAL, session)
            return
        content, ids = self.format_research_result(cited_by_page(answer))
        self.enter(INITIAL.researched(answer.question, ids, content, answer.run), session)

    def save_result(self, state: PaperState) -> Path:
        """Write the draft of `state` to a new file of the folder `results`, named after its query, and return its path.

        Raises `UsageError` if there is no draft, and `StorageError` if it cannot be written.
        """
        text = state.require_draft()
        name = state.original_query or state.selected_paper or "papers"
        return self._parts.files.put_result(name, text, datetime.now())

    def _open(
        self, query: str, feedback: str, name: str, model: str | None, limits: RunLimits, offline: bool
    ) -> OpenedSession[PaperWorker]:
        if not query.strip():
            raise UsageError("the query is empty", hint="ask a question about the papers of the library")
        if len(query) + len(feedback) > _MAX_QUERY_CHARS:
            raise UsageError(f"the query is longer than {_MAX_QUERY_CHARS:,} characters", hint="ask a shorter question")
        if self.table.is_empty():
            raise no_papers()
        return self._research.open(name, model, limits, offline=offline)

    def _named(self, name: str) -> Paper | None:
        return self.table.get(name) or self.table.get(without_version(name)) or self.table.known_as(read_name(name))

    # changing

    async def add(
        self,
        documents: Sequence[Path | str],
        *,
        embed: bool = True,
        looks_up: bool = False,
        offline: bool = False,
        files_from: Sequence[Path] = (),
    ) -> AddedPapers:
        """Add PDFs, those in folders with everything below them, and papers by ids, addresses and in exports.

        An id is looked up in the registries, and its open PDF is fetched; of local PDFs nothing is sent, or with
        `looks_up` the id on their first page. With `offline` nothing is sent at all. A paper whose PDF cannot be had is
        kept without, and one that the library has, under whatever name, is not kept twice. A newer version of a paper
        of arXiv replaces an older one; cited passages of that stay readable. Of the PDFs that an export names, those in
        its own folder are read, and those in `files_from`.

        Raises `UsageError`, before anything is sent, for an argument that is neither a file nor an id or an address.
        """
        if not documents:
            raise UsageError("nothing to add", hint="name PDFs, folders with PDFs, or ids of papers")
        if looks_up and offline:
            raise UsageError("--lookup and --offline exclude each other", hint="use one of them")
        wanted = await in_thread(self._wanted, documents, files_from)
        wrong = [each for each in wanted.failures if each.code == UsageError.code]
        if wrong:
            raise error_of(wrong[0])
        pdfs = [pdf for paper in wanted.papers for pdf in paper.pdfs]
        sources = PaperSources(await in_thread(self._roots, [*wanted.files, *pdfs]), wanted.papers)
        online = self._online() if not offline and (wanted.papers or looks_up) else None
        outcomes = await self._adder.add(sources, online, looks_up=looks_up)
        broken = [
            AddedPaper(each.subject, "unread", why=each.message.removeprefix(f"{each.subject}: "))
            for each in wanted.failures
        ]
        broken += [
            AddedPaper(
                f"{show_name(str(folder))}{os.sep}", "unread", None, _OUTSIDE.format(counted(count, "PDF")), "refused"
            )
            for folder, count in wanted.outside.items()
        ]
        added = await self._completed([*broken, *outcomes], embed=embed)
        return replace(added, named=tuple(_named_among(documents, added.outcomes)))

    def files_outside(self, documents: Sequence[Path | str]) -> Mapping[Path, int]:
        """Return how many PDFs the exports among `documents` name outside of their own folders, by folder.

        Those that were added before are not counted.
        """
        return self._wanted(documents).outside

    def _wanted(self, documents: Sequence[Path | str], files_from: Sequence[Path] = ()) -> Wanted:
        known, max_bytes = self._parts.table.files(), self._parts.max_file_bytes
        return read_arguments(documents, max_bytes=max_bytes, files_from=files_from, known=known)

    async def summarize(
        self, paper: Paper, model: str, *, offline: bool = False, listen: Listener = ignore
    ) -> Answer | None:
        """Have `model` write the summary of a paper anew, from passages of it, and embed only that.

        It is the checked answer of a run in the session `papers summaries`, which is returned; `None` for the built-in
        model, which quotes again. The text is sent to no other model. If that fails or cites nothing, the old summary
        stays, and the error is raised; see `start`.
        """
        document_id = await in_thread(self.document_of, paper)
        if document_id is None:
            raise SourceError(f"{paper.name} has no text", hint="`asky papers retry` reads it again")
        document = await in_thread(self._store.tables.documents.document, document_id)
        worker = await in_thread(self._research.worker, model, RunLimits())
        answer: Answer | None = None
        if worker.model.host is None:
            summary = await summarize(self._summarizer(), paper, document, document_id)
        else:
            shown = [PaperHit(paper, each) for each in summary_hits(paper, document, document_id)]
            question = SUMMARY_QUESTION.format(title=paper.source.title)
            session = f"{_SESSION} summaries"
            async with self.start(
                question, evidence=shown, session=session, model=model, offline=offline, listen=listen
            ) as run:
                answer = await run.result()
            await in_thread(partial(raise_for_outcome, answer, self._research.runs, strict=False))
            summary = written_summary(paper, answer)
        await in_thread(self._keep_summary, paper, summary)
        await self._embed()
        return answer

    async def retry(self, *, looks_up: bool = False, offline: bool = False) -> AddedPapers:
        """Complete papers: those without a PDF are fetched, and those without a text read again, such as scans.

        So are those that an earlier version of asky read; and those without a summary or vectors get them. With
        `looks_up`, the notices on all papers with an id are looked up.
        """
        if looks_up and offline:
            raise UsageError("--lookup and --offline exclude each other", hint="use one of them")
        lacking = await in_thread(self._adder.lacking)
        checks = [each for each in await in_thread(self.papers) if self._adder.wanted(each).identifiers]
        needs = looks_up or any(each.status == "no_pdf" for each in lacking)
        online = self._online() if needs and not offline else None
        return await self._completed(
            await self._adder.retry(lacking, online, checks=checks if looks_up else ()), embed=True
        )

    def notes_path(self, paper: Paper) -> Path:
        """Return the path of the user's notes on a paper, whether they exist or not."""
        return self._notes.path(paper)

    async def begin_notes(self, paper: Paper) -> Path:
        """Write a file for notes on a paper, with its title, unless there is one; return its path."""
        await in_thread(self._notes.begin, paper)
        return self._notes.path(paper)

    def unread_notes(self, paper: Paper) -> list[UnreadFile]:
        """Return what is not read of the user's notes on a paper; its path is that of their file."""
        return self._notes.unread(paper)

    async def notes(self, paper: Paper, text: str | None = None) -> str:
        """Return the user's notes on a paper, with `text` added if it is given; they are indexed as they are now.

        Raises as `PaperNotes.append` and `PaperNotes.read` do.
        """
        if text is not None:
            await in_thread(self._notes.append, paper, text)
        written = await in_thread(self._notes.read, paper)
        await in_thread(self._notes.sync, [paper])
        await self._embed()
        return written

    async def remove(self, names: Sequence[str], *, with_notes: bool = False) -> list[Paper]:
        """Remove papers with their files, and return them. Cited passages stay readable, and notes unless `with_notes`.

        Raises `UsageError`, before anything is removed, if a name is not that of one paper.
        """
        return await in_thread(self._remove, names, with_notes)

    async def rebuild(self) -> int | None:
        """Rebuild the indexes from the stored texts and vectors, and write the files of all papers again.

        Returns the number of passages in the vector index, `None` without an embedding model. Nothing is embedded.
        """
        return await in_thread(self._rebuild)

    async def _completed(self, outcomes: Sequence[AddedPaper], *, embed: bool) -> AddedPapers:
        """Summarize papers without a summary, embed what is new, and return the outcomes with the papers as they are.

        An add that was interrupted before is completed too.
        """
        if not await in_thread(self.papers):
            return AddedPapers(tuple(outcomes), 0, unread=unread_of(outcomes, ()))
        await self._summarize()
        await in_thread(self._notes.sync_all)
        embedded = await self._embed() if embed else 0
        now = {each.id: each for each in await in_thread(self.papers)}
        found = tuple(replace(e, paper=now.get(e.paper.id)) if e.paper is not None else e for e in outcomes)
        kept = await in_thread(self.unread, [each.paper for each in found if each.paper is not None])
        return AddedPapers(found, embedded, unread=unread_of(found, kept))

    async def _summarize(self) -> None:
        papers = await in_thread(self.papers)
        lacking = [each for each in papers if each.summary_source is None and each.status == "complete"]
        if not lacking:
            return
        listener, started = self._parts.listener, time.monotonic()
        listener(StageStarted("summarize", len(lacking)))
        model = self._summarizer()
        for number, paper in enumerate(lacking, start=1):
            document_id = await in_thread(self._parts.corpus.current_document, paper.source.id)
            if document_id is not None:
                document = await in_thread(self._store.tables.documents.document, document_id)
                summary = await summarize(model, paper, document, document_id)
                await in_thread(self._keep_summary, paper, summary)
            listener(StageAdvanced("summarize", number, len(lacking)))
        listener(StageFinished("summarize", time.monotonic() - started, f"{len(lacking)} papers"))

    def _keep_summary(self, paper: Paper, summary: PaperSummary) -> None:
        parts = self._parts
        document = summary_document(paper, summary)
        source = summary_source(paper, str(parts.files.summary(paper.name)))
        cut = parts.ingester.cut(document)
        parts.files.put_summary(paper, summary.text)
        with parts.database.write():
            if parts.corpus.current_document(paper.source.id) is None:  # removed meanwhile
                return
            parts.ingester.keep(source, document, cut, parts.summaries())
            parts.table.put(replace(paper, summary_source=source.id))

    async def _embed(self) -> int:
        listener, started = self._parts.listener, time.monotonic()
        listener(StageStarted("embed"))
        scope = Scope((await in_thread(self._parts.collection), await in_thread(self._parts.summaries)))
        done = await in_thread(
            lambda: self._store.store_chunk_embeddings(
                scope, progress=lambda done, total: listener(StageAdvanced("embed", done, total))
            )
        )
        listener(StageFinished("embed", time.monotonic() - started, f"{done} passages"))
        return done

    def _remove(self, names: Sequence[str], with_notes: bool) -> list[Paper]:
        chosen = list({each.id: each for each in map(self.resolve, names)}.values())
        with self._parts.database.write():
            for each in chosen:
                self._parts.table.remove(each.id)
            self._parts.corpus.remove_sources(self._parts.collection(), [each.source.id for each in chosen])
            summaries = [each.summary_source for each in chosen if each.summary_source is not None]
            self._parts.corpus.remove_sources(self._parts.summaries(), summaries)
            self._notes.forget(chosen)
        for each in chosen:
            if with_notes:
                self._notes.path(each).unlink(missing_ok=True)
            self._parts.files.remove(each.name)
        return chosen

    def _rebuild(self) -> int | None:
        parts, store = self._parts, self._store
        self._notes.sync_all()
        store.tables.lexical.rebuild()
        store.tables.titles.rebuild()
        for each in self.papers():
            document_id = parts.corpus.current_document(each.source.id)
            if document_id is not None:
                parts.files.put_text(each, store.tables.documents.document(document_id))
            if each.summary_source is not None:
                parts.files.put_summary(each, self.summary(each).text)
            parts.files.put_metadata(each, parts.table.aliases(each.id))
        return store.rebuild_index()


def _named_among(arguments: Sequence[Path | str], outcomes: Sequence[AddedPaper]) -> list[AddedPaper]:
    """Return the outcomes for what the arguments name themselves."""
    files = {show_name(Path(each).name) for each in arguments if not os.path.isdir(each)}  # noqa: PTH112 - Path's raises for long names
    named = files | {show_target(str(each).strip()) for each in arguments}
    return [each for each in outcomes if each.file in named]


def _cited(paper: Paper) -> dict[str, Any]:
    """Return a citation of a whole paper, as an answer has them of its passages."""
    source = paper.source
    return {
        "source_id": source.id, "kind": "paper", "url": source.url, "path": None, "title": source.title, "page": None,
        "page_label": None, "authors": list(source.authors), "published": source.published,
        "published_in": source.published_in, "doi": paper.doi, "fetched_at": None, "sha256": "",
        "notices": list(paper.notice_texts),
    }  # fmt: skip
