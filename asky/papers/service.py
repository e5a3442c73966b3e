"""The paper library: what it holds, and how papers come in, are found and go."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asky.concurrency import in_thread
from asky.errors import SourceError, UsageError
from asky.events import Listener, StageAdvanced, StageFinished, StageStarted
from asky.evidence.export.bibliography import BibliographyFormat, bibliography
from asky.papers.adding import AddedPaper, PaperAdder, PaperParts
from asky.papers.files import PaperFiles
from asky.papers.identity import read_name, without_version
from asky.papers.summaries import PaperSummary, read_summary, summarize, summary_document, summary_source
from asky.research.ranking import DIVERSE, Selection
from asky.storage.papers import Paper, PaperTable
from asky.storage.scope import Scope
from asky.text.letters import fold
from asky.values import Hit

if TYPE_CHECKING:
    from collections.abc import Callable

    from asky.llm.port import ChatModel
    from asky.reading.process.pool import ReaderPool
    from asky.research.corpus.ingest import Ingester
    from asky.research.local.files import LocalRoots
    from asky.research.vector_store import VectorStore
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database

_NAMES_SHOWN = 5
SUMMARY_CUTOFF = 0.3
"""The least cosine of a summary's passage to a query: what leaves in the papers that may be about it.

Source: all-MiniLM-L6-v2, a library of 55 papers, 13 questions of ARAGOG with a known paper and 120 of ClapNQ about
other things. At .3 the right paper stays in 100 % (.35: 92 %) and nothing is found for 95 % of the others (.25: 89 %).
"""
CONTENT_CUTOFF = 0.35
"""The least cosine of a passage of a paper to a query.

Source: as above. At .35 the best passage of the right paper stays in 100 % (.45: 92 %), 89 % of its best 15 do, and
nothing is found for 97 % of the other questions (.3: 93 %).
"""

_LIST = "`asky papers list` lists the papers"


@dataclass(frozen=True, slots=True)
class AddedPapers:
    """The outcomes of an add, one for each file in order of their names, and the number of passages embedded."""

    outcomes: tuple[AddedPaper, ...]
    embedded: int


@dataclass(frozen=True, slots=True)
class PaperHit:
    """A passage of a paper that matches a query."""

    paper: Paper
    hit: Hit


class PaperService:
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
        summarizer: Callable[[], ChatModel],
        max_file_bytes: int,
        workers: int,
        listener: Listener,
    ) -> None:
        self._parts = PaperParts(
            database,
            corpus,
            PaperTable(database),
            ingester,
            readers,
            PaperFiles(folder),
            max_file_bytes=max_file_bytes,
            workers=workers,
            listener=listener,
        )
        self._store = store
        self._roots = roots
        self._summarizer = summarizer
        self._adder = PaperAdder(self._parts)

    # reading

    def papers(self) -> list[Paper]:
        """Return all papers in order of their ids."""
        return self._parts.table.papers()

    def find(self, words: str) -> list[Paper]:
        """Return the papers whose id, title, authors or date have each of these words, in order of their ids.

        A word may be the beginning of one of theirs; if no paper has them so, a part of one.
        """
        wanted = fold(words).split()
        described = [(each, f" {_described(each)}") for each in self.papers()]
        beginning = [each for each, text in described if all(f" {word}" in text for word in wanted)]
        return beginning or [each for each, text in described if all(word in text for word in wanted)]

    def resolve(self, name: str) -> Paper:
        """Return the paper that a user names: by its id, with or without version, a DOI, an address, or title words.

        Raises `UsageError` if there is none, or if several have these words.
        """
        table = self._parts.table
        found = table.get(name) or table.get(without_version(name)) or table.known_as(read_name(name))
        if found is not None:
            return found
        several = self.find(name) if name.strip() else []
        if len(several) == 1:
            return several[0]
        if not several:
            raise UsageError(f"{name}: no paper of the library", hint=_LIST)
        names = ", ".join(each.name for each in several[:_NAMES_SHOWN])
        more = f" and {len(several) - _NAMES_SHOWN:,} more" if len(several) > _NAMES_SHOWN else ""
        raise UsageError(f"{len(several):,} papers match {name!r}: {names}{more}", hint="name one by its id")

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
            raise _no_papers()
        return bibliography([{"citations": [_cited(each) for each in papers]}], form)

    async def search(self, query: str, *, papers: Sequence[str] = (), limit: int = 10) -> list[PaperHit]:
        """Return the passages that match `query` best, best first, of the named papers or else of all.

        Raises `UsageError` for a name that is not that of one paper, and without papers.
        """
        return await in_thread(self._search, query, partial(self._content, papers), limit, DIVERSE)

    async def search_summary_index(
        self,
        query: str,
        k: int = 8,
        use_mmr: bool = True,
        similarity_cutoff: float | None = None,
        mmr_alpha: float = 0.5,
    ) -> list[PaperHit]:
        """Return the `k` passages of summaries that match `query` best, best first: which papers are about it.

        With `use_mmr`, `mmr_alpha` in [0, 1] weighs how well a passage matches against how much it differs from those
        before it. `similarity_cutoff` is the least cosine to the query, by default `SUMMARY_CUTOFF`. Without vectors
        both are ignored, and words decide. Raises `UsageError` for other numbers, and without papers.
        """
        selection = _selection(use_mmr, mmr_alpha, SUMMARY_CUTOFF if similarity_cutoff is None else similarity_cutoff)
        return await in_thread(self._search, query, self._summaries, k, selection)

    async def search_content_index_filtered(
        self,
        query: str,
        paper_ids: Sequence[str],
        k: int = 15,
        use_mmr: bool = True,
        similarity_cutoff: float | None = None,
        mmr_alpha: float = 0.6,
    ) -> list[PaperHit]:
        """Return the `k` passages of the texts of some papers that match `query` best, best first.

        `paper_ids` name them as `resolve` reads it. For the others see `search_summary_index`; the least cosine is
        `CONTENT_CUTOFF` by default.
        """
        if not paper_ids:
            return []
        selection = _selection(use_mmr, mmr_alpha, CONTENT_CUTOFF if similarity_cutoff is None else similarity_cutoff)
        return await in_thread(self._search, query, partial(self._content, paper_ids), k, selection)

    # changing

    async def add(self, documents: Sequence[Path | str], *, embed: bool = True) -> AddedPapers:
        """Add PDFs, and those in folders with everything below them. Nothing is sent anywhere.

        A PDF that the library has, under whatever name, is not kept twice. Another version of a paper of arXiv replaces
        an older one; cited passages of that stay readable. Raises `UsageError` if a path does not exist.
        """
        if not documents:
            raise UsageError("nothing to add", hint="name PDFs, or folders with PDFs")
        roots = await in_thread(self._roots, [Path(each) for each in documents])
        outcomes = await self._adder.add(roots)
        return await self._completed(outcomes, embed=embed)

    async def retry(self) -> AddedPapers:
        """Read papers again that have no text, such as scans: the extra `ocr` may have been installed since.

        So are those that an earlier version of asky read; and those without a summary or vectors get them.
        """
        return await self._completed(await self._adder.retry(await in_thread(self._adder.lacking)), embed=True)

    async def remove(self, names: Sequence[str]) -> list[Paper]:
        """Remove papers with their files, and return them. Cited passages stay readable.

        Raises `UsageError`, before anything is removed, if a name is not that of one paper.
        """
        return await in_thread(self._remove, names)

    async def rebuild(self) -> int | None:
        """Rebuild the indexes from the stored texts and vectors, and write the files of all papers again.

        Returns the number of passages in the vector index, `None` without an embedding model. Nothing is embedded.
        """
        return await in_thread(self._rebuild)

    def _content(self, papers: Sequence[str]) -> Scope:
        sources = tuple(self.resolve(each).source.id for each in papers) if papers else None
        return Scope((self._parts.collection(),), sources)

    def _summaries(self) -> Scope:
        return Scope((self._parts.summaries(),))

    def _search(self, query: str, scope: Callable[[], Scope], limit: int, selection: Selection) -> list[PaperHit]:
        if self._parts.table.is_empty():
            raise _no_papers()
        hits = self._store.search_content_chunks(query, scope(), limit=limit, selection=selection)
        papers = self._parts.table.with_source(each.source.id for each in hits)
        return [PaperHit(papers[each.source.id], each) for each in hits if each.source.id in papers]

    async def _completed(self, outcomes: Sequence[AddedPaper], *, embed: bool) -> AddedPapers:
        """Summarize papers without a summary, embed what is new, and return the outcomes with the papers as they are.

        An add that was interrupted before is completed too.
        """
        if not await in_thread(self.papers):
            return AddedPapers(tuple(outcomes), 0)
        await self._summarize()
        embedded = await self._embed() if embed else 0
        now = {each.id: each for each in await in_thread(self.papers)}
        return AddedPapers(
            tuple(replace(each, paper=now.get(each.paper.id)) if each.paper is not None else each for each in outcomes),
            embedded,
        )

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

    def _remove(self, names: Sequence[str]) -> list[Paper]:
        chosen = list({each.id: each for each in map(self.resolve, names)}.values())
        with self._parts.database.write():
            for each in chosen:
                self._parts.table.remove(each.id)
            self._parts.corpus.remove_sources(self._parts.collection(), [each.source.id for each in chosen])
            summaries = [each.summary_source for each in chosen if each.summary_source is not None]
            self._parts.corpus.remove_sources(self._parts.summaries(), summaries)
        for each in chosen:
            self._parts.files.remove(each.name)
        return chosen

    def _rebuild(self) -> int | None:
        parts, store = self._parts, self._store
        store.tables.lexical.rebuild()
        for each in self.papers():
            document_id = parts.corpus.current_document(each.source.id)
            if document_id is not None:
                parts.files.put_text(each, store.tables.documents.document(document_id))
            if each.summary_source is not None:
                parts.files.put_summary(each, self.summary(each).text)
            parts.files.put_metadata(each, parts.table.aliases(each.id))
        return store.rebuild_index()


def _selection(use_mmr: bool, mmr_alpha: float, cutoff: float) -> Selection:
    try:
        return Selection(cutoff, mmr_alpha if use_mmr else None)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _no_papers() -> UsageError:
    return UsageError("the library has no papers yet", hint="`asky papers add FILE` adds a PDF")


def _cited(paper: Paper) -> dict[str, Any]:
    """Return a citation of a whole paper, as an answer has them of its passages."""
    source = paper.source
    return {
        "source_id": source.id, "kind": "paper", "url": source.url, "path": None, "title": source.title, "page": None,
        "page_label": None, "authors": list(source.authors), "published": source.published,
        "published_in": source.published_in, "doi": paper.doi, "fetched_at": None, "sha256": "",
    }  # fmt: skip


def _described(paper: Paper) -> str:
    """Return what a search for a paper looks at."""
    source = paper.source
    return fold(" ".join([paper.name, paper.doi or "", source.title, *source.authors, source.published or ""]))
