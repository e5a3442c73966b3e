"""What the library holds: its papers by name, and their passages by what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from asky.concurrency import in_thread
from asky.errors import UsageError
from asky.evidence.paper_names import noted_paper
from asky.evidence.unread import of_rows
from asky.papers.identity import read_name, without_version
from asky.papers.summaries import SUMMARIES
from asky.research.ranking import DIVERSE, Selection
from asky.search.identifiers import find_identifiers
from asky.storage.papers import Paper, PaperTable
from asky.storage.scope import Scope
from asky.text.letters import fold
from asky.values import Hit, UnreadFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from asky.research.vector_store import VectorStore
    from asky.storage.corpus import CorpusStore

CONTENT = "paper content"
"""The collection with the texts of all papers."""

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
class PaperHit:
    """A passage of a paper that matches a query."""

    paper: Paper
    hit: Hit


class PaperCatalog:
    """Lists, finds and searches papers. Synchronous methods only read tables; the others are coroutines."""

    def __init__(self, table: PaperTable, corpus: CorpusStore, store: VectorStore) -> None:
        self.table = table
        self._corpus = corpus
        self._store = store

    def collection(self) -> int:
        """Return the id of the collection with the texts of all papers."""
        return self._corpus.collection(CONTENT, create=True)

    def summaries(self) -> int:
        """Return the id of the collection with the summaries of all papers."""
        return self._corpus.collection(SUMMARIES, create=True)

    def papers(self) -> list[Paper]:
        """Return all papers in order of their ids."""
        return self.table.papers()

    def unread(self, papers: Sequence[Paper] | None = None) -> list[UnreadFile]:
        """Return what was not read of papers, by default of all: those without a text, and parts of the others.

        The path of each is the name of its paper.
        """
        if self.table.is_empty():
            return []
        sources = None if papers is None else tuple(each.source.id for each in papers)
        found = of_rows(self._corpus.unread(Scope((self.collection(),), sources)))
        if not found:
            return []
        known = self.papers() if papers is None else papers
        names = {each.source.path or each.source.url or each.source.uri: each.name for each in known}
        return [replace(each, path=names.get(each.path, each.path)) for each in found]

    def document_of(self, paper: Paper) -> int | None:
        """Return the id of the document with the text of a paper, `None` for one without text."""
        return self._corpus.current_document(paper.source.id)

    async def named_or_about(self, names: Sequence[str]) -> list[Paper]:
        """Return the papers with these names or, if none of them is the name of one, those that are about these words.

        Raises `UsageError` if some, but not all, name a paper, or an id is not that of one, and without papers.
        """
        if await in_thread(self.table.is_empty):
            raise no_papers()
        known = [await in_thread(self._names_one, each) for each in names]
        if any(known) or any(map(find_identifiers, names)):
            found = [await in_thread(self.resolve, each) for each in names]
        else:
            found = [each.paper for each in await self.search_summary_index(" ".join(names))]
        return list({each.id: each for each in found}.values())

    def _names_one(self, name: str) -> bool:
        try:
            self.resolve(name)
        except UsageError:
            return False
        return True

    def find(self, words: str) -> list[Paper]:
        """Return the papers whose id, title, authors or date have each of these words, in order of their ids.

        A word may be the beginning of one of theirs; if no paper has them so, a part of one.
        """
        wanted = fold(words).split()
        described = [(each, f" {_described(each)}") for each in self.papers()]
        beginning = [each for each, text in described if all(f" {word}" in text for word in wanted)]
        return beginning or [each for each, text in described if all(word in text for word in wanted)]

    def noticed(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return an `asky.answer/1` object whose citations of papers have `notices`, what is to be said of each."""
        papers = self.table.with_source(each["source_id"] for each in answer["citations"])
        said = {source: list(each.notice_texts) for source, each in papers.items() if each.notice_texts}
        if not said:
            return answer
        cited = [{**each, "notices": said.get(each["source_id"], [])} for each in answer["citations"]]
        return {**answer, "citations": cited}

    def resolve(self, name: str) -> Paper:
        """Return the paper that a user names: by its id, with or without version, a DOI, an address, or title words.

        Raises `UsageError` if there is none, or if several have these words.
        """
        table = self.table
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
        """Return the `k` passages of summaries and notes that match `query` best, best first: what papers are about it.

        With `use_mmr`, `mmr_alpha` in [0, 1] weighs how well a passage matches against how much it differs from those
        before it. `similarity_cutoff` is the least cosine to the query, by default `SUMMARY_CUTOFF`. Without vectors
        both are ignored, and words decide. Raises `UsageError` for other numbers, and without papers.
        """
        selection = _selection(use_mmr, mmr_alpha, SUMMARY_CUTOFF if similarity_cutoff is None else similarity_cutoff)
        return await in_thread(self._search, query, self._summaries, k, selection)

    async def search_content_index(self, query: str, k: int = 15) -> list[PaperHit]:
        """Return the `k` passages of all texts that match `query` best, best first; see `search_summary_index`.

        The least cosine is `CONTENT_CUTOFF`, and the weight of relevance .6.
        """
        return await in_thread(self._search, query, partial(self._content, ()), k, Selection(CONTENT_CUTOFF, 0.6))

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

    def _content(self, papers: Sequence[str]) -> Scope:
        sources = tuple(self.resolve(each).source.id for each in papers) if papers else None
        return Scope((self.collection(),), sources)

    def _summaries(self) -> Scope:
        return Scope((self.summaries(),))

    def _search(self, query: str, scope: Callable[[], Scope], limit: int, selection: Selection) -> list[PaperHit]:
        if self.table.is_empty():
            raise no_papers()
        hits = self._store.search_content_chunks(query, scope(), limit=limit, selection=selection)
        papers = self.table.with_source(each.source.id for each in hits)
        for source in {each.source.id: each.source for each in hits if each.source.id not in papers}.values():
            noted = self.table.get(noted_paper(source) or "")
            if noted is not None:
                papers[source.id] = noted
        return [PaperHit(papers[each.source.id], each) for each in hits if each.source.id in papers]


def _selection(use_mmr: bool, mmr_alpha: float, cutoff: float) -> Selection:
    try:
        return Selection(cutoff, mmr_alpha if use_mmr else None)
    except ValueError as error:
        raise UsageError(str(error)) from error


def no_papers() -> UsageError:
    """Return the error for a library without papers."""
    return UsageError("the library has no papers yet", hint="`asky papers add FILE` adds a PDF")


def _described(paper: Paper) -> str:
    """Return what a search for a paper looks at."""
    source = paper.source
    return fold(" ".join([paper.name, paper.doi or "", source.title, *source.authors, source.published or ""]))
