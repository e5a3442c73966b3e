"""The table of papers: notices, when they were checked, and a store of the version before that."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asky.storage.corpus import CorpusStore
from asky.storage.database import APPLICATION_ID, Database
from asky.storage.documents import DocumentStore
from asky.storage.migrations import MIGRATIONS
from asky.storage.papers import Paper, PaperNotice, PaperTable
from asky.values import Source, source_id

RETRACTED = PaperNotice("retraction", "2021-03-01", "crossref", "10.5555/notice")
NEWER = PaperNotice("newer_version", "2021-05-01", "arxiv", "2101.00001v3")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "asky.db")
    yield opened
    opened.close()


def put(database: Database) -> PaperTable:
    """The table with one paper, which has never been looked up."""
    corpus = CorpusStore(database, DocumentStore(database))
    uri = "paper:2101.00001"
    source = Source(source_id(uri), "file", uri, "Tides")
    corpus.put_source(source, corpus.collection("paper content", create=True), document_id=None)
    table = PaperTable(database)
    table.put(Paper("2101.00001", 2, None, None, "no_pdf", source), ["arxiv:2101.00001"])
    return table


def only(table: PaperTable) -> Paper:
    (paper,) = table.papers()
    return paper


def test_notices_are_replaced_only_by_those_that_were_checked(database: Database) -> None:
    table = put(database)
    assert (only(table).notices, only(table).notices_checked_at) == ((), None)
    table.put_notices("2101.00001", [RETRACTED], is_checked=False)
    assert (only(table).notices, only(table).notices_checked_at) == ((RETRACTED,), None)
    table.put_notices("2101.00001", [NEWER], is_checked=False)
    assert only(table).notices == (NEWER, RETRACTED)
    table.put_notices("2101.00001", [NEWER], is_checked=True)
    assert only(table).notices == (NEWER,)
    assert only(table).notices_checked_at is not None
    table.put_notices("2101.00001", [], is_checked=True)
    assert only(table).notices == ()


@pytest.mark.parametrize(
    ("notice", "text"),
    [
        (RETRACTED, "RETRACTED (2021-03-01, Crossref)"),
        (NEWER, "newer version 2101.00001v3 exists"),
        (PaperNotice("withdrawal", None, "arxiv"), "WITHDRAWN (arXiv)"),
        (PaperNotice("concern", "2020", "pubmed"), "expression of concern (2020, PubMed)"),
        (PaperNotice("correction", "2020-01", "crossref"), "corrected (2020-01, Crossref)"),
    ],
)
def test_a_notice_in_words(notice: PaperNotice, text: str) -> None:
    assert notice.text == text


def test_each_kind_is_said_once_and_a_version_that_is_here_is_not_newer(database: Database) -> None:
    paper = replace(only(put(database)), notices=(RETRACTED, replace(RETRACTED, source="openalex"), NEWER))
    assert paper.notice_texts == (RETRACTED.text, NEWER.text)
    assert replace(paper, version=3).notice_texts == (RETRACTED.text,)
    assert paper.warning == RETRACTED.text
    assert replace(paper, notices=(NEWER,)).warning is None


def test_papers_of_the_schema_before_have_never_been_checked(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    old = sqlite3.connect(path, isolation_level=None)
    for migrate in MIGRATIONS[:8]:
        migrate(old)
    old.execute("PRAGMA user_version=8")
    old.execute(f"PRAGMA application_id={APPLICATION_ID}")
    old.execute(
        "INSERT INTO source(id, kind, uri, title, verdict, metadata, fetched_at)"
        " VALUES ('s1', 'file', 'paper:2101.00001', 'Tides', 'indexed', '{}', '')"
    )
    old.execute("INSERT INTO paper VALUES ('2101.00001', 2, NULL, NULL, 'complete', 's1', NULL, '2026-01-01')")
    old.close()
    database = Database(path)
    paper = only(PaperTable(database))
    assert (paper.name, paper.notices, paper.notices_checked_at) == ("2101.00001v2", (), None)
    database.close()
