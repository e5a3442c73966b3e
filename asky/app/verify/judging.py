"""Judges statements against the passages that search finds for them: in what they cite, and in all given documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from asky.evidence.references.cited import CitedReference
from asky.evidence.references.statements import CitedStatement
from asky.evidence.verification.best_passage import JudgedPassage, judge_claim
from asky.evidence.verification.claim_reader import ClaimReader
from asky.evidence.verification.meaning import ClaimCheck
from asky.evidence.verification.support import Passage, read_passage
from asky.evidence.verification.verify import check_claim, said_in
from asky.storage.scope import Scope
from asky.text.beside.remarks import is_about_remarks
from asky.text.terms import content_terms
from asky.values import Hit, Page

if TYPE_CHECKING:
    from asky.research.vector_store import VectorStore
    from asky.storage.documents import DocumentStore

_HITS = 8
_HITS_BY_PAGE = 60  # a paper has about as many chunks; those of other pages are dropped
_ANALYSED = 3
_BATCH = 64  # statements searched between two reports of progress
_QUERY_CHARS = 1_000
_KEPT_PASSAGES = 2_048
_UNSUPPORTED = ClaimCheck("unsupported", 0.0, {})


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a statement and the passage that decided, if there is one.

    `better` is a passage that supports a statement which what it cites does not. `cites` are the ids of the cited
    sources among the given ones, empty if it cites none of them.
    """

    check: ClaimCheck
    passage: Hit | None
    better: Hit | None = None
    cites: tuple[str, ...] = ()


@dataclass(slots=True)
class StatementJudge:
    """Judges statements within a scope. `cited` maps the number of a reference to the ids of the sources it names.

    `reader` is as in `verify_claim`.
    """

    vectors: VectorStore
    documents: DocumentStore
    scope: Scope
    cited: Mapping[int, tuple[str, ...]]
    on_progress: Callable[[int], None]
    reader: ClaimReader | None = None
    _everywhere: dict[str, list[Hit]] = field(default_factory=dict)
    _within: dict[tuple[tuple[str, ...], int], dict[str, list[Hit]]] = field(default_factory=dict)
    _pages: dict[int, Sequence[Page]] = field(default_factory=dict)
    _analysed: Callable[[str], Passage] = field(default_factory=lambda: lru_cache(_KEPT_PASSAGES)(read_passage))
    _words: Callable[[str], frozenset[str]] = field(default_factory=lambda: lru_cache(_KEPT_PASSAGES)(_words_of))

    def judge(self, statements: Sequence[CitedStatement]) -> Iterator[Judgement]:
        """Yield the judgement of each statement, in order; all are searched for before the first."""
        queries = list(dict.fromkeys(_query(each) for each in statements))
        done = 0
        for batch in _batches(queries):
            self.vectors.embed_queries(batch)
            self._everywhere |= self._search(batch, self.scope, _HITS)
            done += len(batch)
            self.on_progress(done)
        for key, wanted in self._searches(statements).items():
            ids, limit = key
            scope = Scope(self.scope.collections, ids)
            self._within[key] = self._search(list(wanted), scope, limit)
        return map(self._judge, statements)

    def _search(self, queries: Sequence[str], scope: Scope, limit: int) -> dict[str, list[Hit]]:
        return dict(zip(queries, self.vectors.search_several(queries, scope, limit=limit), strict=True))

    def _searches(self, statements: Iterable[CitedStatement]) -> dict[tuple[tuple[str, ...], int], dict[str, None]]:
        """Return the queries for each set of cited sources."""
        found: dict[tuple[tuple[str, ...], int], dict[str, None]] = {}
        for each in statements:
            for reference in each.references:
                if ids := self.cited.get(reference.n):
                    found.setdefault((ids, _limit(reference)), {})[_query(each)] = None
        return found

    def _judge(self, statement: CitedStatement) -> Judgement:
        everywhere = self._everywhere[_query(statement)]
        resolved = [each for each in statement.references if self.cited.get(each.n)]
        cited = [each for each in resolved if not each.is_mention]
        if cited:
            return self._judge_cited(statement, cited, everywhere)
        mentioned = [hit for each in resolved for hit in self._cited_hits(statement, each)]
        hits = [*mentioned, *(hit for hit in everywhere if hit not in mentioned)]
        best = self._best(statement, hits)
        return Judgement(best.check, hits[best.index]) if best else Judgement(_UNSUPPORTED, None)

    def _judge_cited(
        self, statement: CitedStatement, resolved: Sequence[CitedReference], everywhere: Sequence[Hit]
    ) -> Judgement:
        groups = [self._cited_hits(statement, each) for each in resolved]
        own = list({hit.chunk_id: hit for group in groups for hit in group}.values())
        cites = tuple(dict.fromkeys(id_ for each in resolved for id_ in self.cited[each.n]))
        best = self._best(statement, own)
        check, passage = (best.check, own[best.index]) if best else (_UNSUPPORTED, None)
        if check.verdict not in ("supported", "contradicted") and len(groups) > 1:
            check = self._together(statement, groups, check)
        if check.verdict == "supported":
            return Judgement(check, passage, cites=cites)
        others = [hit for hit in self._elsewhere(statement, resolved, everywhere) if hit not in own]
        other = self._best(statement, others)
        better = others[other.index] if other is not None and other.check.verdict == "supported" else None
        return Judgement(check, passage, better, cites)

    def _cited_hits(self, statement: CitedStatement, reference: CitedReference) -> list[Hit]:
        hits = self._within[self.cited[reference.n], _limit(reference)][_query(statement)]
        return [hit for hit in hits if self._is_on(hit, reference.pages)]

    def _elsewhere(
        self, statement: CitedStatement, resolved: Sequence[CitedReference], everywhere: Sequence[Hit]
    ) -> Iterator[Hit]:
        """Yield the passages on other pages of what is cited, then those of all documents."""
        for each in resolved:
            if each.pages is not None:
                yield from self._within[self.cited[each.n], _limit(each)][_query(statement)][:_HITS]
        yield from everywhere

    def _together(self, statement: CitedStatement, groups: Sequence[Sequence[Hit]], alone: ClaimCheck) -> ClaimCheck:
        """Return the check against the best passage of each cited source together, if that supports the statement."""
        best = [(group, self._best(statement, group)) for group in groups]
        remarks = is_about_remarks(statement.text)
        texts = (group[each.index].text for group, each in best if each is not None)
        passages = [self._analysed(said_in(text, remarks=remarks)) for text in texts]
        check = (
            check_claim(statement.text, passages, written=statement.written, reader=self.reader)
            if len(passages) > 1
            else alone
        )
        return check if check.verdict == "supported" else alone

    def _best(self, statement: CitedStatement, hits: Sequence[Hit]) -> JudgedPassage | None:
        """Judge by the passages that share most words with the statement; analysing one takes milliseconds."""
        wanted, remarks = self._words(statement.text), is_about_remarks(statement.text)
        said = [said_in(hit.text, remarks=remarks) for hit in hits]
        shared = [len(wanted & self._words(text)) for text in said]
        chosen = sorted(range(len(hits)), key=lambda at: -shared[at])[:_ANALYSED]
        passages = (self._analysed(said[at]) for at in chosen)
        judged = judge_claim(statement.text, passages, written=statement.written, reader=self.reader)
        return None if judged is None else replace(judged, index=chosen[judged.index])

    def _is_on(self, hit: Hit, pages: tuple[int, int] | None) -> bool:
        """Return whether a passage touches one of these pages, by number or by label; also if there are no pages."""
        if pages is None:
            return True
        if hit.document_id not in self._pages:
            self._pages[hit.document_id] = self.documents.structure(hit.document_id)[1]
        known = self._pages[hit.document_id]
        wanted = range(pages[0], pages[1] + 1)
        touched = [each for each in known if each.start < hit.span.end and hit.span.start < each.end]
        return not known or any(_number(each) in wanted or each.index in wanted for each in touched)


def _words_of(text: str) -> frozenset[str]:
    return frozenset(content_terms(text))


def _number(page: Page) -> int | None:
    return int(page.label) if page.label is not None and page.label.isdecimal() else None


def _limit(reference: CitedReference) -> int:
    return _HITS_BY_PAGE if reference.pages is not None else _HITS


def _query(statement: CitedStatement) -> str:
    return statement.text[:_QUERY_CHARS]


def _batches(queries: Sequence[str]) -> Iterator[list[str]]:
    rest = iter(queries)
    while batch := list(islice(rest, _BATCH)):
        yield batch
