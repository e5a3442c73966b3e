"""Papers of the library, their summaries, notes and tables as JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from asky.app.schemas.run import answer_object
from asky.app.schemas.search import hit_object
from asky.evidence.unread import unread_fields

if TYPE_CHECKING:
    from pathlib import Path

    from asky.papers.catalog import PaperHit
    from asky.papers.service import AddedPapers, QueryResult
    from asky.papers.summaries import PaperSummary
    from asky.papers.table import FilledTable, TableRow
    from asky.storage.papers import Paper
    from asky.values import Answer, UnreadFile


def papers_object(papers: Sequence[Paper], unread: Sequence[UnreadFile]) -> dict[str, Any]:
    """Return papers of the library as an `asky.papers/1` object, with what was not read of them."""
    return {
        "schema": "asky.papers/1",
        "papers": [_paper_object(each) for each in papers],
        **unread_fields(unread),
    }


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
    return {
        "schema": "asky.added_papers/1",
        "embedded": added.embedded,
        "outcomes": outcomes,
        **unread_fields(added.unread),
    }


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


def paper_summary_object(paper: Paper, summary: PaperSummary, unread: Sequence[UnreadFile]) -> dict[str, Any]:
    """Return the summary of a paper, with the passages of its text that it rests on, as `asky.paper_summary/1`."""
    return {
        "schema": "asky.paper_summary/1",
        "paper": _paper_object(paper),
        "summary": summary.text,
        "made_by": summary.made_by,
        "passages": [asdict(each) for each in summary.passages],
        **unread_fields(unread),
    }


def paper_notes_object(paper: Paper, path: Path, notes: str, unread: Sequence[UnreadFile]) -> dict[str, Any]:
    """Return the user's notes on a paper, and the file that has them, as an `asky.paper_notes/1` object.

    `unread` is what is not searched of them.
    """
    return {
        "schema": "asky.paper_notes/1",
        "paper": _paper_object(paper),
        "path": str(path),
        "notes": notes,
        **unread_fields(unread),
    }


def paper_table_object(table: FilledTable, unread: Sequence[UnreadFile]) -> dict[str, Any]:
    """Return a table of papers as an `asky.paper_table/1` object; cells are in the order of the columns."""
    return {
        "schema": "asky.paper_table/1",
        "columns": list(table.columns),
        "model": table.model,
        "rows": [_table_row(each) for each in table.rows],
        "left_out": table.left_out,
        **unread_fields(unread),
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


def paper_hits_object(query: str, hits: Sequence[PaperHit], unread: Sequence[UnreadFile]) -> dict[str, Any]:
    """Return the passages of papers for a query as an `asky.paper_hits/1` object, with what was not read of them."""
    found = [{"paper": each.paper.name, "notices": _notices(each.paper), **hit_object(each.hit)} for each in hits]
    return {"schema": "asky.paper_hits/1", "query": query, "hits": found, **unread_fields(unread)}
