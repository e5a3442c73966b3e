from __future__ import annotations

from pathlib import Path

import pytest

from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.pages import CACHE_COLLECTION, PageRow, PageTable, SearchTable
from asky.values import Chunk, Document, Failure, Link, Source, Span, source_id

DAY = 86_400.0


class Shelf:
    """A store with pages, each with a text of its own."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "asky.db")
        self.documents = DocumentStore(self.database)
        self.corpus = CorpusStore(self.database, self.documents)
        self.pages = PageTable(self.database, self.corpus)
        self.cache = self.corpus.collection(CACHE_COLLECTION, create=True)

    def add(self, url: str, *, at: float = 0.0, size: int = 10, etag: str | None = None, used: float = 0.0) -> Source:
        source = Source(source_id(url), "web", url, url, url=url)
        text = f"Text of {url}."
        document = self.documents.put_document(Document(text, "text/html"), [Chunk(0, Span(0, len(text)), 5)], [""])
        self.corpus.put_source(source, self.cache, document_id=document.id)
        self.pages.put(
            PageRow(
                url, url, at, at + DAY, used, source_id=source.id, etag=etag, bytes=size, links=(Link(url, "x", 0),)
            )
        )
        return source


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_a_page_comes_back_as_it_was_put(shelf: Shelf) -> None:
    row = PageRow(
        "http://a.example/", "http://a.example/b", 1.0, 2.0, 3.0, etag='"x"', last_modified="Mon", is_cut=True, bytes=7,
        links=(Link("http://b.example/", "b", 4),),
        failure=Failure("http://a.example/", "blocked", "a captcha", hint="none", retryable=True),
    )  # fmt: skip
    shelf.pages.put(row)
    assert shelf.pages.get("http://a.example/") == row
    assert shelf.pages.get("http://other.example/") is None


def test_forgetting_a_page_drops_its_text_but_not_what_a_session_holds(shelf: Shelf) -> None:
    kept, dropped = shelf.add("http://a.example/"), shelf.add("http://b.example/")
    session = shelf.corpus.collection("session s1", create=True)
    shelf.corpus.hold(session, [kept.id, "no such source"])
    assert shelf.pages.remove(["http://a.example/", "http://b.example/", "http://c.example/"]) == 2
    assert shelf.corpus.source(kept.id) == shelf.corpus.source(kept.id)
    assert shelf.corpus.current_document(kept.id) is not None
    assert shelf.corpus.source(dropped.id) is None


def test_a_text_under_two_addresses_goes_with_the_last_of_them(shelf: Shelf) -> None:
    source = shelf.add("http://a.example/final")
    shelf.pages.put(PageRow("http://a.example/", "http://a.example/final", 0.0, DAY, 0.0, source_id=source.id))
    shelf.pages.remove(["http://a.example/final"])
    assert shelf.corpus.source(source.id) is not None
    shelf.pages.remove(["http://a.example/"])
    assert shelf.corpus.source(source.id) is None


def test_stale_pages_go_at_once_unless_they_can_be_renewed(shelf: Shelf) -> None:
    shelf.add("http://plain.example/")
    shelf.add("http://tagged.example/", etag='"1"')
    shelf.add("http://fresh.example/", at=2 * DAY)
    assert shelf.pages.outdated(2 * DAY, keep_s=7 * DAY, max_bytes=1000) == ["http://plain.example/"]
    assert set(shelf.pages.outdated(8.5 * DAY, keep_s=7 * DAY, max_bytes=1000)) == {
        "http://plain.example/",
        "http://tagged.example/",
        "http://fresh.example/",
    }


def test_the_longest_unused_pages_go_where_there_is_no_room(shelf: Shelf) -> None:
    for number in range(4):
        shelf.add(f"http://{number}.example/", size=30, used=float(number))
    assert shelf.pages.outdated(1.0, keep_s=0.0, max_bytes=70) == ["http://1.example/", "http://0.example/"]
    shelf.pages.note_use(["http://0.example/"], 9.0)
    assert shelf.pages.outdated(1.0, keep_s=0.0, max_bytes=70) == ["http://2.example/", "http://1.example/"]


def test_pages_are_counted_and_found_by_their_address(shelf: Shelf) -> None:
    shelf.add("http://a.example/100%_sure", size=5)
    shelf.add("http://b.example/", at=-2 * DAY, size=6)
    shelf.pages.put(PageRow("http://c.example/", "", 0.0, 60.0, 0.0, failure=Failure("c", "blocked", "no")))
    counts = shelf.pages.counts(0.0)
    assert (counts.pages, counts.stale, counts.failures, counts.bytes) == (2, 1, 1, 11)
    assert [each.url for each in shelf.pages.pages(matching="%_")] == ["http://a.example/100%_sure"]
    assert len(shelf.pages.pages(limit=2)) == 2


def test_a_lower_time_of_freshness_holds_for_what_was_kept_before_and_a_higher_one_does_not(shelf: Shelf) -> None:
    shelf.add("http://a.example/")
    row = shelf.pages.get("http://a.example/")
    assert row is not None
    assert [row.fresh_until(ttl_s) for ttl_s in (0.0, DAY / 2, DAY, 9 * DAY)] == [0.0, DAY / 2, DAY, DAY]
    assert [shelf.pages.counts(DAY / 2, ttl_s=ttl_s).stale for ttl_s in (0.0, DAY / 2, DAY, 9 * DAY)] == [1, 1, 0, 0]
    failed = PageRow("http://c.example/", "", 0.0, 60.0, 0.0, failure=Failure("c", "blocked", "no"))
    assert failed.fresh_until(0.0) == 60.0


def test_a_summary_is_of_the_text_that_it_was_made_of(shelf: Shelf) -> None:
    source = shelf.add("http://a.example/")
    document_id = shelf.corpus.current_document(source.id)
    assert document_id is not None
    assert shelf.pages.summary(source.id, document_id) is None
    shelf.pages.keep_summary(source.id, document_id, "About a.")
    assert shelf.pages.summary(source.id, document_id) == "About a."
    assert shelf.pages.summary(source.id, document_id + 1) is None


def test_searches_are_kept_until_they_are_too_old(shelf: Shelf) -> None:
    table = SearchTable(shelf.database)
    table.put("key", "[1]", expires_at=10.0)
    assert (table.get("key", 9.0), table.get("key", 10.0), table.get("other", 0.0)) == ("[1]", None, None)
    table.put("late", "[2]", expires_at=20.0)
    assert table.remove(15.0) == 1
    assert table.remove() == 1
