"""The JSON objects that asky prints, serves and writes. Rule: fields are added to them, never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.events import event_name
from asky.evidence.answer import answer_json
from asky.evidence.export.run_export import describe_ledger, describe_run, export_run
from asky.runs.status_line import status_line
from asky.text.printable import one_line
from asky.values import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from asky.agent.models import ResearchState as ResearchState
    from asky.agent.records import ResearchSummary as ResearchSummary
    from asky.app.cache import CachedPage, CacheStats
    from asky.app.corpus import AddedDocuments, CollectionSummary, IndexingStatus, ListedSource
    from asky.app.failures import ErrorReport
    from asky.app.memory import SavedFinding
    from asky.app.models import DefaultModel, ListedModel, ModelCatalog, ModelDetails, ModelTrial
    from asky.app.records import Listing, RunDetails, RunSummary, SessionDetails, SessionSummary
    from asky.chat.plan import Plan
    from asky.config.layers import Origin
    from asky.config.listing import ConfigEntry
    from asky.config.schema import BudgetSettings
    from asky.errors import AskyError
    from asky.events import Envelope
    from asky.evidence.citation_lookup import BetterPassage, OpenedCitation
    from asky.evidence.export.bundle_check import CheckedBundle
    from asky.health.check import Check
    from asky.notes.catalog import IndexedNotes as IndexedNotes
    from asky.notes.catalog import LinkedNote as LinkedNote
    from asky.notes.catalog import NoteEntry as NoteEntry
    from asky.notes.catalog import NoteHit as NoteHit
    from asky.notes.service import NoteResult as NoteResult
    from asky.papers.catalog import PaperHit
    from asky.papers.keeping import AddedPaper as AddedPaper
    from asky.papers.service import AddedPapers as AddedPapers
    from asky.papers.service import QueryResult
    from asky.papers.states import PaperState as PaperState
    from asky.papers.summaries import PaperSummary
    from asky.papers.table import CellQuote as CellQuote
    from asky.papers.table import FilledTable as FilledTable
    from asky.papers.table import TableCell as TableCell
    from asky.papers.table import TableRow
    from asky.research.corpus.report import AcquireReport
    from asky.research.embeddings import EmbeddingUsage
    from asky.storage.findings import Finding
    from asky.storage.papers import Paper as Paper
    from asky.storage.runs import LedgerEntry, Run, StoredPassage
    from asky.storage.sessions import Session, StoredMessage
    from asky.values import Answer, Hit, Unreadable

EVENT = "asky.event/1"


def event_object(envelope: Envelope, mask: Callable[[str], str] = str) -> dict[str, Any]:
    """Return an event as an `asky.event/1` object.

    `event` is the name of the event with words joined by `_`, beside the event's own fields; `seq` numbers the events
    of the `run` from 1, `at` is the time in UTC. `message` says it in plain words, see `status_line`. Secrets are
    masked; of local files, only unusable ones are named.
    """
    from asky.runs.feed import public_fields  # anyio: only for events

    head = {"schema": EVENT, "run": envelope.run, "seq": envelope.seq, "at": envelope.at}
    named = {"event": event_name(envelope.event), "message": status_line(envelope.event, mask)}
    return head | named | public_fields(envelope.event, mask)


# errors


def error_object(report: ErrorReport) -> dict[str, Any]:
    """Return an error as an `asky.error/1` object."""
    hint = one_line(report.hint) if report.hint else None
    value = {"schema": "asky.error/1", "code": report.code, "message": one_line(report.message), "hint": hint}
    return value if report.details is None else value | {"details": report.details}


# answers, runs and sessions


answer_object = answer_json


def run_object(
    run: Run,
    passages: Sequence[StoredPassage],
    texts: Mapping[int, str],
    ledger: Sequence[LedgerEntry],
    *,
    session: str | None,
) -> dict[str, Any]:
    """Return a run with its evidence as an `asky.run/1` object; see `export_run`."""
    return export_run(run, passages, texts, ledger, session=session)


def runs_object(listed: Sequence[RunSummary | Unreadable], session_names: Mapping[str, str | None]) -> dict[str, Any]:
    """Return runs as an `asky.runs/1` object; `session_names` are by run id."""
    found = [each for each in listed if not isinstance(each, Unreadable)]
    return {
        "schema": "asky.runs/1",
        "runs": [_listed_run(each, session_names.get(each.run.id)) for each in found],
        "damaged": damaged_objects([each for each in listed if isinstance(each, Unreadable)]),
    }


def _listed_run(summary: RunSummary, session: str | None) -> dict[str, Any]:
    answer = summary.run.answer or {}
    return describe_run(summary.run, session=session) | {
        "citations": len(answer.get("citations", ())),
        "stopped_by": answer.get("stopped_by"),
        "tokens": summary.tokens,
        "cost_usd": summary.cost_usd,
    }


def shown_run_object(details: RunDetails) -> dict[str, Any]:
    """Return a run with its ledger as an `asky.shown_run/1` object."""
    return {
        "schema": "asky.shown_run/1",
        "run": describe_run(details.run, session=details.session),
        "models": details.models,
        "hosts": details.hosts,
        "searches": details.searches,
        "answer": details.run.answer,
        "partial": details.partial,
        "ledger": describe_ledger(details.ledger),
    }


def run_status_object(
    run_id: str, details: RunDetails | None, events: Sequence[Envelope], mask: Callable[[str], str] = str
) -> dict[str, Any]:
    """Return how far a run is as an `asky.run_status/1` object; without `details`, it still reads its sources.

    `events` follow the number that the caller knows; `next` is the number of the last one, to go on after. `answer` is
    an `asky.answer/1` object once there is one, and `error` says why a run failed.
    """
    run = details.run if details is not None else None
    ledger = details.ledger if details is not None else ()
    failed = next((each.data for each in ledger if each.kind == "failed"), None)
    return {
        "schema": "asky.run_status/1",
        "run": run_id,
        "status": run.status if run is not None else "starting",
        "question": run.question if run is not None else None,
        "mode": run.mode if run is not None else None,
        "events": [event_object(each, mask) for each in events],
        "next": events[-1].seq if events else None,
        "answer": run.answer if run is not None else None,
        "error": None if failed is None else {"code": failed["code"], "message": one_line(str(failed["message"]))},
    }


def why_object(run: Run, opened: OpenedCitation) -> dict[str, Any]:
    """Return a citation of a run with its passage as an `asky.why/1` object."""
    context = opened.context
    return {
        "schema": "asky.why/1",
        "run": run.id,
        "question": run.question,
        "citation": opened.citation,
        "key": opened.key,
        "passage": opened.passage,
        "quoted": [{"start": each.start, "end": each.end} for each in opened.quoted],
        "before": context.before,
        "after": context.after,
        "sha256": opened.sha256,
        "checks": {"quote": opened.quote_matches, "sha256": opened.hash_matches},
        "source_now": opened.source_now,
        **({"better": [_better_object(each) for each in opened.better]} if opened.better else {}),
    }


def _better_object(better: BetterPassage) -> dict[str, Any]:
    return {
        "statement": better.claim,
        "key": better.key,
        "source_id": better.source.id,
        "title": better.source.title,
        "start": better.span.start,
        "end": better.span.end,
        "passage": better.text,
    }


def verified_object(checked: CheckedBundle) -> dict[str, Any]:
    """Return the verification of a bundle as an `asky.verified/1` object."""
    return {
        "schema": "asky.verified/1",
        "run": checked.run,
        "digest": checked.digest,
        "files": checked.files,
        "citations": checked.citations,
        "claims": checked.claims,
        "ok": not checked.faults,
        "faults": list(checked.faults),
    }


def sessions_object(listed: Sequence[SessionSummary | Unreadable]) -> dict[str, Any]:
    """Return sessions as an `asky.sessions/1` object."""
    found = [each for each in listed if not isinstance(each, Unreadable)]
    return {
        "schema": "asky.sessions/1",
        "sessions": [session_fields(each.session) | {"first_question": each.first_question} for each in found],
        "damaged": damaged_objects([each for each in listed if isinstance(each, Unreadable)]),
    }


def session_object(details: SessionDetails) -> dict[str, Any]:
    """Return a session with its messages and unfinished runs as an `asky.session/1` object."""
    name, unfinished = details.session.name, [each for each in details.runs[::-1] if each.status != "finished"]
    return {
        "schema": "asky.session/1",
        "collections": list(details.collections),
        "session": session_fields(details.session),
        "messages": [message_fields(each) for each in details.messages],
        "unfinished": [describe_run(each, session=name) for each in unfinished],
    }


def session_export_object(
    session: Session,
    messages: Sequence[StoredMessage],
    answers: Sequence[Mapping[str, Any]],
    findings: Sequence[Finding],
) -> dict[str, Any]:
    """Return a session with its answers and findings as an `asky.session/1` object."""
    return {
        "schema": "asky.session/1",
        "session": session_fields(session),
        "messages": [message_fields(each) for each in messages],
        "answers": list(answers),
        "findings": [finding_fields(each, session=session.name) for each in findings],
    }


def session_fields(session: Session) -> dict[str, Any]:
    """Return the fields of a session within other objects; `messages` is their number."""
    return {
        "id": session.id,
        "name": session.name,
        "mode": session.mode,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "messages": session.messages,
        "settings": dict(session.settings),
    }


def message_fields(message: StoredMessage) -> dict[str, Any]:
    """Return the fields of a message within other objects."""
    return {
        "role": message.role,
        "content": message.content,
        "data": dict(message.data),
        "run": message.run_id,
        "created_at": message.created_at,
        "withdrawn": message.is_withdrawn,
    }


# documents, passages, pages and findings


def with_embedding(made: dict[str, Any], usage: EmbeddingUsage | None) -> dict[str, Any]:
    """Return the object of a command with what the command embedded, as `embedding`; `None` if it was nothing."""
    return made | {"embedding": None if usage is None else asdict(usage) | {"seconds": round(usage.seconds, 3)}}


def hits_object(query: str, hits: Sequence[Hit]) -> dict[str, Any]:
    """Return the passages for a query as an `asky.hits/1` object."""
    return {"schema": "asky.hits/1", "query": query, "hits": [hit_object(hit) for hit in hits]}


def hit_object(hit: Hit) -> dict[str, Any]:
    """Return one passage of `asky.hits/1`."""
    return {
        "rank": hit.rank,
        "score": round(hit.score, 6),
        "semantic": None if hit.semantic is None else round(hit.semantic, 6),
        "lexical": None if hit.lexical is None else round(hit.lexical, 6),
        "linked_from": hit.linked_from,
        "source_id": hit.source.id,
        "external_id": hit.source.external_id,
        "external_ids": external_ids(hit),
        "title": hit.source.title,
        "url": hit.source.url,
        "path": hit.source.path,
        "page": hit.location.page,
        "page_label": hit.location.page_label,
        "section": hit.location.section,
        "start": hit.span.start,
        "end": hit.span.end,
        "text": hit.text,
    }


def external_ids(hit: Hit) -> list[str | int]:
    """Return the ids of all records with the text of a passage, that of its source first."""
    return [each.external_id for each in (hit.source, *hit.also_in) if each.external_id is not None]


def papers_object(papers: Sequence[Paper]) -> dict[str, Any]:
    """Return papers of the library as an `asky.papers/1` object."""
    return {"schema": "asky.papers/1", "papers": [_paper_object(each) for each in papers]}


def _paper_object(paper: Paper) -> dict[str, Any]:
    source = paper.source
    return {
        "paper": paper.name,
        "id": paper.id,
        "version": paper.version,
        "title": source.title,
        "authors": list(source.authors),
        "published": source.published,
        "published_in": source.published_in,
        "doi": paper.doi,
        "pmid": paper.pmid,
        "url": source.url,
        "path": source.path,
        "source_id": source.id,
        "status": paper.status,
        "notices": _notices(paper),
        "notices_checked_at": paper.notices_checked_at,
        "added_at": paper.added_at,
    }


def added_papers_object(added: AddedPapers) -> dict[str, Any]:
    """Return the outcomes of adding papers as an `asky.added_papers/1` object."""
    outcomes = [
        {
            "file": each.file,
            "outcome": each.outcome,
            "why": each.why,
            "paper": _paper_object(each.paper) if each.paper is not None else None,
        }
        for each in added.outcomes
    ]
    return {"schema": "asky.added_papers/1", "embedded": added.embedded, "outcomes": outcomes}


def research_object(answer: Answer, result: QueryResult) -> dict[str, Any]:
    """Return an answer from the library as an `asky.answer/1` object, with the papers it cites and their notices."""
    made = answer_object(answer)
    return {
        **made,
        "warnings": [*made["warnings"], *result.warnings],
        "papers": [each.name for each in result.papers],
        "notices": {each.name: _notices(each) for each in result.papers if each.notices},
    }


def _notices(paper: Paper) -> list[dict[str, Any]]:
    return [asdict(each) for each in paper.notices]


def paper_summary_object(paper: Paper, summary: PaperSummary) -> dict[str, Any]:
    """Return the summary of a paper, with the passages of its text that it rests on, as `asky.paper_summary/1`."""
    return {
        "schema": "asky.paper_summary/1",
        "paper": _paper_object(paper),
        "summary": summary.text,
        "made_by": summary.made_by,
        "passages": [asdict(each) for each in summary.passages],
    }


def paper_notes_object(paper: Paper, path: Path, notes: str) -> dict[str, Any]:
    """Return the user's notes on a paper, and the file that has them, as an `asky.paper_notes/1` object."""
    return {"schema": "asky.paper_notes/1", "paper": _paper_object(paper), "path": str(path), "notes": notes}


def paper_table_object(table: FilledTable) -> dict[str, Any]:
    """Return a table of papers as an `asky.paper_table/1` object; cells are in the order of the columns."""
    return {
        "schema": "asky.paper_table/1",
        "columns": list(table.columns),
        "model": table.model,
        "rows": [_table_row(each) for each in table.rows],
        "left_out": table.left_out,
    }


def _table_row(row: TableRow) -> dict[str, Any]:
    failed = asdict(row.failure) if row.failure is not None else None
    return {
        "paper": _paper_object(row.paper),
        "cells": [
            {"text": each.text, "verdict": each.verdict, "quotes": [asdict(quote) for quote in each.quotes]}
            for each in row.cells
        ],
        "run": row.run,
        "failure": failed,
    }


def paper_hits_object(query: str, hits: Sequence[PaperHit]) -> dict[str, Any]:
    """Return the passages of papers for a query as an `asky.paper_hits/1` object."""
    found = [{"paper": each.paper.name, "notices": _notices(each.paper), **hit_object(each.hit)} for each in hits]
    return {"schema": "asky.paper_hits/1", "query": query, "hits": found}


def indexed_notes_object(indexed: IndexedNotes) -> dict[str, Any]:
    """Return what was read of the vault as an `asky.added/1` object."""
    return {
        "schema": "asky.added/1",
        "collection": indexed.collection,
        "embedded": indexed.embedded,
        "reports": [_report_object(indexed.report)],
    }


def notes_object(notes: Sequence[NoteEntry]) -> dict[str, Any]:
    """Return a list of notes as an `asky.notes/1` object."""
    return {"schema": "asky.notes/1", "notes": [asdict(each) for each in notes]}


def note_hits_object(query: str, mode: str, hits: Sequence[NoteHit]) -> dict[str, Any]:
    """Return the notes that match a query as an `asky.note_hits/1` object."""
    fields = ("path", "title", "heading", "snippet")
    found = [{**{name: getattr(each, name) for name in fields}, "score": round(each.score, 6)} for each in hits]
    return {"schema": "asky.note_hits/1", "query": query, "mode": mode, "hits": found}


def research_runs_object(runs: Sequence[ResearchSummary]) -> dict[str, Any]:
    """Return runs of the research agent as an `asky.research_runs/1` object."""
    return {"schema": "asky.research_runs/1", "runs": [asdict(each) for each in runs]}


def research_state_object(state: ResearchState, status: str) -> dict[str, Any]:
    """Return the state of a run of the research agent as an `asky.research_state/1` object."""
    fields = dict(state) | {"started_at": state["started_at"].isoformat()}
    return {"schema": "asky.research_state/1", "status": status, **fields}


def note_object(result: NoteResult) -> dict[str, Any]:
    """Return the result of research into a note as an `asky.note/1` object; `diff` if nothing was written."""
    return {
        "schema": "asky.note/1",
        "success": True,
        "path": result.path,
        "topics_researched": result.topics_researched,
        "preview": result.preview,
        "run": result.run,
        "written_to": result.written_to,
        "diff": result.diff if result.written_to is None else None,
        "warnings": list(result.warnings),
    }


def note_failure_object(path: str, error: AskyError) -> dict[str, Any]:
    """Return research into a note that failed as an `asky.note/1` object."""
    return {"schema": "asky.note/1", "success": False, "path": path, "error": error.message, "hint": error.hint}


def note_undone_object(path: str) -> dict[str, Any]:
    """Return a note whose last change was taken back as an `asky.note_undone/1` object."""
    return {"schema": "asky.note_undone/1", "path": path}


def note_text_object(path: str, text: str) -> dict[str, Any]:
    """Return a note with what it embeds as an `asky.note_text/1` object."""
    return {"schema": "asky.note_text/1", "path": path, "text": text}


def note_links_object(path: str, links: Sequence[LinkedNote], backlinks: Sequence[NoteEntry]) -> dict[str, Any]:
    """Return the links of a note, and the notes that link to it, as an `asky.note_links/1` object."""
    return {
        "schema": "asky.note_links/1",
        "path": path,
        "links": [asdict(each) for each in links],
        "backlinks": [asdict(each) for each in backlinks],
    }


def added_object(added: AddedDocuments) -> dict[str, Any]:
    """Return what was added to one collection as an `asky.added/1` object."""
    return {
        "schema": "asky.added/1",
        "collection": added.collection,
        "embedded": added.embedded,
        "reports": [_report_object(each) for each in added.reports],
    }


def _report_object(report: AcquireReport) -> dict[str, Any]:
    return {
        "verdicts": report.verdicts,
        "problems": [asdict(each) for each in report.problems],
        "skipped": [{"first": first, "reason": reason, "count": count} for first, reason, count in report.skipped],
        "removed": report.removed,
        "passages_added": report.chunks_added,
        "seconds": round(report.seconds, 3),
    }


def synced_object(added: Sequence[AddedDocuments]) -> dict[str, Any]:
    """Return what was found in several collections as an `asky.synced/1` object."""
    return {"schema": "asky.synced/1", "collections": [added_object(each) for each in added]}


def collections_object(names: Sequence[str]) -> dict[str, Any]:
    """Return the names of the collections as an `asky.collections/1` object."""
    return {"schema": "asky.collections/1", "collections": list(names)}


def collection_object(summary: CollectionSummary, indexing: IndexingStatus | None) -> dict[str, Any]:
    """Return the contents of a collection, and how far the store is embedded, as an `asky.collection/1` object."""
    return {"schema": "asky.collection/1", **asdict(summary), "indexing": asdict(indexing) if indexing else None}


def sources_object(collection: str, sources: Sequence[ListedSource]) -> dict[str, Any]:
    """Return the sources of a collection as an `asky.sources/1` object."""
    listed = [asdict(each.source) | {"verdict": each.verdict, "why": each.why} for each in sources]
    return {"schema": "asky.sources/1", "collection": collection, "sources": listed}


def pages_object(pages: Listing[CachedPage]) -> dict[str, Any]:
    """Return pages of the cache as an `asky.pages/1` object."""
    described = [_page_object(each) for each in pages.found]
    return {"schema": "asky.pages/1", "pages": described, "damaged": damaged_objects(pages.damaged)}


def page_object(page: CachedPage, text: str | None) -> dict[str, Any]:
    """Return a page of the cache with its links and its text as an `asky.page/1` object."""
    links = [{"url": link.url, "text": link.text, "start": link.start} for link in page.links]
    return {"schema": "asky.page/1", **_page_object(page), "links": links, "text": text}


def _page_object(page: CachedPage) -> dict[str, Any]:
    from asky.app.cache import utc_time  # 35 ms: only for pages

    return {
        "url": page.url,
        "final_url": page.final_url,
        "source_id": page.source_id,
        "state": page.state,
        "failure": page.failure,
        "bytes": page.bytes,
        "links": len(page.links),
        "is_cut": page.is_cut,
        "fetched_at": utc_time(page.fetched_at),
        "expires_at": utc_time(page.expires_at),
    }


def cache_object(stats: CacheStats) -> dict[str, Any]:
    """Return the contents of the cache as an `asky.cache/1` object."""
    return {"schema": "asky.cache/1", **asdict(stats)}


def findings_object(findings: Listing[SavedFinding]) -> dict[str, Any]:
    """Return findings as an `asky.findings/1` object."""
    described = [finding_fields(each, session=each.session) for each in findings.found]
    return {"schema": "asky.findings/1", "findings": described, "damaged": damaged_objects(findings.damaged)}


def scored_findings_object(query: str, found: Sequence[tuple[SavedFinding, float]]) -> dict[str, Any]:
    """Return the findings that match a query, each with its relevance, as an `asky.findings/1` object."""
    scored = [finding_fields(each, session=each.session) | {"score": round(score, 4)} for each, score in found]
    return {"schema": "asky.findings/1", "query": query, "findings": scored}


def finding_object(finding: SavedFinding) -> dict[str, Any]:
    """Return one finding as an `asky.finding/1` object."""
    return {"schema": "asky.finding/1", **finding_fields(finding, session=finding.session)}


def finding_fields(finding: Finding, *, session: str | None) -> dict[str, Any]:
    """Return the fields of a finding within other objects; `session` is the name of its session."""
    return {
        "id": finding.id,
        "text": finding.text,
        "tags": list(finding.tags),
        "trust": finding.trust,
        "session": session,
        "run": finding.run_id,
        "passages": [dict(passage) for passage in finding.passages],
        "created_at": finding.created_at,
    }


def damaged_objects(damaged: Sequence[Unreadable]) -> list[dict[str, str]]:
    """Return the unreadable rows of a list as they stand in other objects."""
    return [{"name": each.name, "message": each.why} for each in damaged]


# models


def models_object(catalog: ModelCatalog) -> dict[str, Any]:
    """Return models and providers as an `asky.models/1` object."""
    providers = [
        {"name": each.name, "base_url": each.base_url, "api_key_env": each.api_key_env, "key_is_set": each.key_is_set}
        for each in catalog.providers
    ]
    models = [_listed_model(each) for each in catalog.models]
    return {"schema": "asky.models/1", "default": catalog.default, "models": models, "providers": providers}


def _listed_model(model: ListedModel) -> dict[str, Any]:
    return {
        "alias": model.alias,
        "default": model.is_default,
        "provider": model.provider,
        "id": model.id,
        "base_url": model.base_url,
        "context_tokens": model.context_tokens,
        "context_is_assumed": model.context_is_assumed,
        "max_output_tokens": model.max_output_tokens,
        "prices": model.prices,
        "api_key_env": model.api_key_env,
        "key_is_set": model.key_is_set,
    }


def model_object(model: ModelDetails) -> dict[str, Any]:
    """Return the properties of a model as an `asky.model/1` object."""
    origins = {each.name: origin_object(each.origin) for each in model.properties if each.origin is not None}
    values = {each.name: each.value for each in model.properties}
    head: dict[str, Any] = {"schema": "asky.model/1", "alias": model.alias, "default": model.is_default}
    return head | values | {"origins": origins}


def default_model_object(default: DefaultModel) -> dict[str, Any]:
    """Return the default model as an `asky.default_model/1` object."""
    assert default.origin is not None  # the packaged configuration names one
    return {"schema": "asky.default_model/1", "default": default.name, "origin": origin_object(default.origin)}


def model_test_object(trial: ModelTrial) -> dict[str, Any]:
    """Return the result of a test as an `asky.model_test/1` object."""
    target, found, report = trial.target, trial.abilities, trial.report
    error = None if report is None else {"code": report.code, "message": report.message, "hint": report.hint}
    head: dict[str, Any] = {
        "schema": "asky.model_test/1",
        "alias": target.alias,
        "provider": target.provider,
        "id": target.id,
    }
    head |= {"host": target.host, "ok": report is None}
    if found is None:
        return head | {"error": error}
    official = trial.official
    return head | {
        "reachable": found.reachable,
        "streams": found.streams,
        "reports_usage": found.reports_usage,
        "tool_calls": found.tool_calls,
        "honours_tool_choice": found.honours_tool_choice,
        "first_token_ms": None if found.first_token_ms is None else round(found.first_token_ms, 1),
        "context_tokens": {"configured": target.context_tokens, "found": found.context_tokens},
        "warnings": list(found.warnings),
        "error": error,
        "official_client": None
        if official is None
        else {"replied": official.failure is None, "failure": official.failure},
    }


def origin_object(origin: Origin) -> dict[str, Any]:
    """Return the origin of a value as it stands in other objects."""
    return {"layer": origin.layer, "source": origin.source, "line": origin.line}


# the configuration and the check-up


def config_object(entries: Sequence[ConfigEntry]) -> dict[str, Any]:
    """Return all values of the configuration as an `asky.config/1` object."""
    default = {"layer": "default", "source": None, "line": None}
    values = [
        {"key": each.key, "value": each.value, "origin": origin_object(each.origin) if each.origin else default}
        for each in entries
    ]
    return {"schema": "asky.config/1", "values": values}


def doctor_object(checks: Sequence[Check]) -> dict[str, Any]:
    """Return the checks as an `asky.doctor/1` object."""
    problems, notes = (sum(each.state == state for each in checks) for state in ("problem", "note"))
    found = [{"name": c.name, "state": c.state, "message": c.message, "hint": c.hint} for c in checks]
    return {"schema": "asky.doctor/1", "problems": problems, "notes": notes, "checks": found}


# a plan


def plan_object(plan: Plan, limits: BudgetSettings) -> dict[str, Any]:
    """Return the plan of a question as an `asky.plan/1` object."""
    return {"schema": "asky.plan/1", **asdict(plan), "limits": asdict(limits)}
