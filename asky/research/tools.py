"""The research tools over sources in the corpus, called by a model while it answers.

A `ResearchRun` binds what the model must not choose (the run, the session, the sources in scope) and records which
passages were shown under which key. Tools raise `AskyError`s, which the registry turns into short messages for the
model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from asky.concurrency import in_thread
from asky.errors import UsageError
from asky.evidence.passages import render_passages
from asky.llm.tokens import token_bound
from asky.llm.tools import Tool, ToolResult
from asky.reading.formats import SOURCE_CODE
from asky.research.excerpts.locations import Places
from asky.research.excerpts.overview import MAX_HEADINGS, documents_meant, overview_spans
from asky.research.excerpts.passages import interleave, join_hits, read_passages
from asky.research.excerpts.records import MAX_CHARS, has_records, matching_records
from asky.research.index.embed_chunks import always
from asky.research.memory import (
    MAX_FINDINGS_OF_RUN,
    clean_finding,
    clean_tags,
    is_private,
    noted_record,
    passage_record,
    render_findings,
)
from asky.research.tool_specs import GET_FULL_CONTENT, GET_RELEVANT_CONTENT, QUERY_RESEARCH_MEMORY, SAVE_FINDING
from asky.storage.findings import FindingScope
from asky.storage.scope import Scope
from asky.text.addresses import without_addresses
from asky.text.counting import counted
from asky.text.document_questions import read_document_question
from asky.values import Evidence

if TYPE_CHECKING:
    from asky.research.run import ResearchRun
    from asky.research.vector_store import VectorStore
    from asky.storage.corpus import CorpusStore
    from asky.storage.runs import RunStore
    from asky.text.document_questions import DocumentQuestion
    from asky.values import Hit, Source

_FINDINGS = 5  # if the model asks for no number
_SCANNED_HITS = 8  # whose documents are scanned for records
_MOST_SCANNED = 3  # documents
_SOURCES_NAMED = 20  # in an error
_MOST_SOURCES = 2_000  # among which a question names the documents that it is about
_LEAST_SHARE = 3  # of the room for passages that ordinary hits get beside an overview: a third
_CHARACTERS_PER_TOKEN = 8  # more than any prose has: texts of so many fill the room for passages
_HITS_PER_PASSAGE = 2  # adjacent hits are joined to one passage, so more are requested than shown


class ResearchTools:
    """Makes the tools of a run."""

    def __init__(self, run: ResearchRun, store: VectorStore, corpus: CorpusStore, runs: RunStore) -> None:
        self._run = run
        self._store = store
        self._corpus = corpus
        self._runs = runs

    def all(self) -> list[Tool]:
        """Return all tools, in a fixed order."""
        return [
            Tool(GET_RELEVANT_CONTENT, self.get_relevant_content),
            Tool(GET_FULL_CONTENT, self.get_full_content),
            Tool(QUERY_RESEARCH_MEMORY, self.query_research_memory),
            Tool(SAVE_FINDING, self.save_finding),
        ]

    async def get_relevant_content(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return passages for one or several queries, interleaved by rank."""
        limit = min(arguments.get("max_passages", self._run.max_passages), self._run.max_passages)
        queries = list(dict.fromkeys(without_addresses(_without_notes(query)) for query in arguments["queries"]))
        scope, sources = self._run.scope, arguments.get("sources")
        if sources is not None:
            await in_thread(self._require_known, sources)
            scope = Scope(scope.collections, tuple(sources))
        found = await in_thread(partial(self.find, queries, scope, limit=limit))
        return await self._passages(found, f"for {_listed(queries)}")

    async def get_full_content(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return the text of one source from `start` on, within the budget, as consecutive citable passages."""
        found, rest = await in_thread(self._read_source, arguments["source"], arguments.get("start", 0))
        result = await self._passages(found, f"of {arguments['source']}")
        if rest is None:
            return result
        return ToolResult(f"{result.content}\n\nThe text goes on: ask again with start={rest}.", result.summary)

    async def show_hits(
        self, hits: Sequence[Hit], query: str, *, limit: int, first: Sequence[Evidence] = ()
    ) -> list[Evidence]:
        """Make the passages `first` and those of `hits` citable in this run, and return them.

        They are at most `limit` beside the first, and no more than there is room for. Adjacent hits are joined.
        """
        found = await in_thread(self._joined, hits, query, limit, first)
        await self._show(found)
        return found

    def find(
        self,
        queries: Sequence[str],
        scope: Scope,
        *,
        limit: int | None = None,
        known: Sequence[Evidence] = (),
        may_embed: Callable[[], bool] = always,
    ) -> list[Evidence]:
        """Return at most `limit` passages in `scope` that there is room for, interleaved by rank; none is shown yet.

        Parts of documents that a query asks about as a whole come first, then the records that share most with one.
        What stands in passages that are `known` is left out. `limit` is that of the run by default, and `may_embed` as
        `VectorStore.search_several` has it.
        """
        run, limit = self._run, self._run.max_passages if limit is None else limit
        rankings = self._store.search_several(
            queries, scope, limit=limit * _HITS_PER_PASSAGE, first=run.pages, may_embed=may_embed
        )
        hits = interleave(rankings)
        self._log_search(queries, scope.sources, hits[:limit])
        seen = {each.key for each in known}
        first = self._overview(queries, scope, limit) + self._records(queries, hits)
        first = [each for each in first if each.key not in seen]
        found = join_hits(
            [hit for hit in hits if not _is_shown(hit, (*first, *known))],
            self._store.tables.documents,
            run.keys,
            limit=max(limit - len(first), limit // _LEAST_SHARE, 1),
        )
        beside = self._fitting([*first, *found], run.passage_tokens) - len(first)
        least = self._fitting(found, run.passage_tokens // _LEAST_SHARE)
        return [*first, *found[: max(beside, least, 1)]]

    async def query_research_memory(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Return findings about a query: of this session, or of all if the user chose that."""
        shown = await in_thread(self._recall, arguments["query"], arguments.get("limit", _FINDINGS))
        if not shown:
            return ToolResult("No finding is about that.", "no findings")
        return shown

    async def save_finding(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Save an insight for later questions of this session, linked to its supporting passages."""
        keys = dict.fromkeys(arguments["passages"])
        unknown = [key for key in keys if key not in self._run.shown]
        if unknown:
            raise UsageError(f"not shown in this run: {', '.join(unknown)}")
        text, tags = clean_finding(arguments["finding"]), clean_tags(arguments.get("tags", ()))
        return await in_thread(self._save, text, tags, [self._run.shown[key] for key in keys])

    # disk access, in threads

    def _recall(self, query: str, limit: int) -> ToolResult | None:
        run = self._run
        scope = FindingScope("all") if run.memory == "all" else FindingScope("recalled", run.session_id)
        found = [finding for finding, _ in self._store.search_findings(query, scope, limit=limit)]
        of_web = any(finding.trust == "web" for finding in found)
        entry = {"query": query, "findings": [finding.id for finding in found], "reach": run.memory, "of_web": of_web}
        self._runs.record(run.run_id, "recalled", entry)
        if not found:
            return None
        run.private_notes += [each.text for each in found if is_private(each)]
        known = {each["id"] for each in run.noted}
        run.noted += [noted_record(each) for each in found if each.id not in known]
        rest_on = tuple({passage["source_id"] for finding in found for passage in finding.passages})
        readable = {each.id for each in self._corpus.sources(Scope(run.scope.collections, rest_on))} if rest_on else ()
        shown = render_findings(found, readable=readable, marker=run.marker)
        return ToolResult(shown, f"{len(found)} finding{'s' * (len(found) != 1)}")

    def _save(self, text: str, tags: Sequence[str], passages: Sequence[Evidence]) -> ToolResult:
        run, findings = self._run, self._store.tables.findings
        known = findings.same(text, session_id=run.session_id)
        if known is not None:
            return ToolResult(f"Finding {known} says that already.", "knew that finding")
        if findings.count_of_run(run.run_id) >= MAX_FINDINGS_OF_RUN:
            raise UsageError(f"this run has saved {MAX_FINDINGS_OF_RUN} findings, which is the limit")
        id_ = self._store.store_finding(
            text,
            session_id=run.session_id,
            run_id=run.run_id,
            tags=tags,
            trust="web" if findings.may_depend_on_web(run.run_id, run.session_id) else "local",
            passages=[passage_record(each) for each in passages],
        )
        self._runs.record(run.run_id, "saved", {"finding": id_})
        return ToolResult(f"Saved as finding {id_}.", "saved a finding")

    def _joined(self, hits: Sequence[Hit], query: str, limit: int, first: Sequence[Evidence]) -> list[Evidence]:
        self._log_search([query], None, hits[:limit])
        fresh = [hit for hit in hits if not _is_shown(hit, first)]
        found = join_hits(fresh, self._store.tables.documents, self._run.keys, limit=limit)
        return self._first_fitting([*first, *found])

    def _log_search(self, queries: Sequence[str], sources: Sequence[str] | None, hits: Sequence[Hit]) -> None:
        run = self._run
        run.queries += [query for query in queries if query not in run.queries]
        entry = {
            "queries": list(queries),
            "sources": sources,
            "hits": [[hit.source.id, round(hit.score, 4)] for hit in hits],
        }
        self._runs.record(run.run_id, "searched", entry)

    def _first_fitting(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        """Return the first of `evidence` that fit the room for passages; one always does."""
        return list(evidence[: max(1, self._fitting(evidence, self._run.passage_tokens))])

    def _fitting(self, evidence: Sequence[Evidence], tokens: int) -> int:
        return self._fitting_texts([each.text for each in evidence], tokens)

    def _fitting_texts(self, texts: Sequence[str], tokens: int) -> int:
        """Return how many of the first `texts` have at most `tokens` tokens together.

        They are only tokenized if a bound does not decide: to read the model's tokenizer takes a tenth of the CPU time
        of a question.
        """
        if sum(map(token_bound, texts)) <= tokens:
            return len(texts)
        return sum(spent <= tokens for spent in accumulate(self._store.tokenizer().count(texts)))

    def _overview(self, queries: Sequence[str], scope: Scope, limit: int) -> list[Evidence]:
        """Return the parts of documents that answer those of `queries` that ask about documents as a whole."""
        asked = [found for query in queries if (found := read_document_question(query)) is not None]
        if not asked:
            return []
        known = self._corpus.sources(scope, limit=_MOST_SOURCES)
        evidence: dict[str, Evidence] = {}
        characters = 0
        for question in asked:
            meant = documents_meant(question, known, self._run.recent)
            is_list = {"outline", "definitions"}.issuperset(question.aspects)
            most = max(limit, MAX_HEADINGS if is_list else len(meant))
            for source in meant:
                for each in self._overview_of(source, question, documents=1 if is_list else len(meant)):
                    if characters > self._run.passage_tokens * _CHARACTERS_PER_TOKEN or len(evidence) >= most:
                        return self._first_fitting(list(evidence.values()))
                    characters += len(each.text) if each.key not in evidence else 0
                    evidence.setdefault(each.key, each)
        return self._first_fitting(list(evidence.values()))

    def _records(self, queries: Sequence[str], hits: Sequence[Hit]) -> list[Evidence]:
        """Return the rows, settings and log entries that share most with a query, of the documents that hits are in."""
        store, evidence = self._store.tables.documents, dict[str, Evidence]()
        places = Places(store)
        of_records = {
            hit.document_id: hit.source for hit in hits[:_SCANNED_HITS] if has_records(_file_name(hit.source))
        }
        for document_id, source in list(of_records.items())[:_MOST_SCANNED]:
            sha256, length = store.digest(document_id)
            if length > MAX_CHARS:
                continue
            text = store.text(document_id)
            for query in queries:
                for span in matching_records(query, text):
                    key = self._run.keys.key_for(sha256, span)
                    location = places.at(document_id, span.start)
                    shown = text[span.start : span.end]
                    inside = places.sections_in(document_id, span)
                    found = Evidence(key, source, document_id, sha256, span, shown, location, sections=inside)
                    evidence.setdefault(key, found)
        return list(evidence.values())

    def _overview_of(self, source: Source, question: DocumentQuestion, *, documents: int) -> Iterator[Evidence]:
        store, document_id = self._store.tables.documents, self._corpus.current_document(source.id)
        if document_id is None:
            return
        places = Places(store)
        sha256, length = store.digest(document_id)
        sections, pages = store.structure(document_id)
        spans = overview_spans(
            question.aspects,
            lambda span: store.text(document_id, span),
            length,
            sections,
            pages,
            documents=documents,
            is_code=store.media_type(document_id) == SOURCE_CODE,
            kinds=question.kinds,
        )
        for span in spans:
            key = self._run.keys.key_for(sha256, span)
            location = places.at(document_id, span.start)
            text, inside = store.text(document_id, span), places.sections_in(document_id, span)
            yield Evidence(key, source, document_id, sha256, span, text, location, sections=inside)

    def _read_source(self, source_id: str, start: int) -> tuple[list[Evidence], int | None]:
        scope = Scope(self._run.scope.collections, (source_id,))
        found = self._corpus.sources(scope)
        document_id = self._corpus.current_document(source_id) if found else None
        if document_id is None:
            raise self._unknown([source_id])
        return read_passages(
            found[0],
            document_id,
            start,
            self._store.tables.documents,
            self._run.keys,
            budget=self._run.passage_tokens,
            fitting=self._fitting_texts,
            limit=self._run.max_passages,
        )

    def _require_known(self, source_ids: Sequence[str]) -> None:
        """Raise `UsageError` if one of these is no source of the run: that nothing is found there says nothing."""
        known = {each.id for each in self._corpus.sources(Scope(self._run.scope.collections, tuple(source_ids)))}
        if unknown := [each for each in source_ids if each not in known]:
            raise self._unknown(unknown)

    def _unknown(self, source_ids: Sequence[str]) -> UsageError:
        """Return the error for ids that are no sources of the run; it names the first ones that are."""
        scope = self._run.scope
        known = ", ".join(each.id for each in self._corpus.sources(scope, limit=_SOURCES_NAMED)) or "none"
        count = self._corpus.count_sources(scope)
        named = f"the first {_SOURCES_NAMED} of {count:,} sources are" if count > _SOURCES_NAMED else "its sources are"
        listed = ", ".join(map(repr, source_ids))
        return UsageError(f"no source {listed} can be read in this run; {named}: {known}")

    async def _show(self, evidence: Sequence[Evidence]) -> None:
        """Record passages in the ledger, before the model sees them."""
        await in_thread(self._runs.show, self._run.run_id, evidence)
        self._run.shown |= {each.key: each for each in evidence}

    async def _passages(self, evidence: Sequence[Evidence], what: str) -> ToolResult:
        if not evidence:
            return ToolResult(f"Nothing found {what}.", f"nothing found {what}")
        await self._show(evidence)
        count = counted(len(evidence), "passage")
        return ToolResult(f"{count} {what}:\n\n{render_passages(evidence, marker=self._run.marker)}", f"{count} {what}")


def _without_notes(query: str) -> str:
    """Return a query without the notes below the question, which a model may copy along with it."""
    return query.split("\n\n", 1)[0] if "<data " in query else query


def _is_shown(hit: Hit, evidence: Sequence[Evidence]) -> bool:
    """Return whether most of `hit` is in one of these passages."""
    return any(
        each.document_id == hit.document_id
        and 2 * (min(each.span.end, hit.span.end) - max(each.span.start, hit.span.start)) > len(hit.span)
        for each in evidence
    )


def _file_name(source: Source) -> str:
    return re.split(r"[/\\]", source.path or source.url or "")[-1]


def _listed(queries: Sequence[str]) -> str:
    return "; ".join(f"“{query[:80]}”" for query in queries)
