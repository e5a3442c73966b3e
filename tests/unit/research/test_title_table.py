"""The names that sources are kept under, and the links of their passages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.research.index.titles import MAX_COUNTED, TitleTable
from asky.storage.database import Database
from asky.storage.migrations import APPLICATION_ID, MIGRATIONS
from asky.storage.scope import Scope
from asky.values import Source, Span, source_id
from tests.support.search_store import SearchStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SearchStore]:
    opened = SearchStore(tmp_path)
    yield opened
    opened.close()


def titles(store: SearchStore) -> TitleTable:
    return store.search.tables.titles


def names(store: SearchStore) -> set[str]:
    with store.database.read() as connection:
        return {row["name"] for row in connection.execute("SELECT name FROM source_name")}


def test_a_source_is_kept_under_its_title_its_aliases_and_the_name_of_its_file(store: SearchStore) -> None:
    source = store.add("folder/ed-wood", "A film.", title="Ed Wood (film)")
    document_id = store.corpus.current_document(source.id)
    store.corpus.put_source(
        source, store.collection, document_id=document_id, metadata={"aliases": "Eddie; The Wood film"}
    )
    assert names(store) == {"Ed Wood film", "Ed Wood", "Eddie", "The Wood film"}  # the file's name is "Ed Wood" too
    assert titles(store).is_complete()


def test_a_source_that_is_removed_or_renamed_leaves_no_name(store: SearchStore) -> None:
    kept, removed = store.add("a", "One.", title="First Light"), store.add("b", "Two.", title="Last Light")
    store.corpus.describe(kept.id, title="Early Light")
    store.corpus.remove_sources(store.collection, [removed.id])
    assert names(store) == {"Early Light", "a"}
    assert titles(store).is_complete()


def test_a_source_without_a_text_has_no_name(store: SearchStore) -> None:
    uri = "file:///empty"
    store.corpus.put_source(
        Source(source_id(uri), "file", uri, "Empty Place", path="/empty"), store.collection, document_id=None
    )
    assert names(store) == set()


def test_documents_are_found_by_name_in_their_scope_alone(store: SearchStore) -> None:
    other = store.corpus.collection("other", create=True)
    for name, collection in (("a", None), ("b", other)):
        store.add(name, f"The text of {name}.", title="Ed Wood", collection=collection)
    here = titles(store).bearers(["ed wood"], store.scope)
    everywhere = titles(store).bearers(["ed wood", "nobody"], Scope())
    assert [len(each) for each in here.values()] == [1]
    assert {name: len(each) for name, each in everywhere.items()} == {"ed wood": 2}
    assert titles(store).longest(["ed wood", "ed", "wood"]) == {"ed wood": 2}


def test_a_name_that_thousands_have_is_none(store: SearchStore) -> None:
    first = store.add("first", "A text.", title="Untitled Note")
    with store.database.write() as connection:
        connection.executemany(
            "INSERT INTO source(id, kind, uri, title, document_id, fetched_at) VALUES (?, 'note', ?, ?, ?, '')",
            [
                (f"s{each}", f"u{each}", "Untitled Note", store.corpus.current_document(first.id))
                for each in range(10_000)
            ],
        )
    titles(store).rebuild()
    assert titles(store).bearers(["untitled note"], Scope()) == {}
    assert [len(each) for each in titles(store).bearers(["first"], Scope()).values()] == [1]


def test_passages_with_a_name_are_counted_up_to_a_bound(store: SearchStore) -> None:
    for number in range(MAX_COUNTED + 5):
        store.add(str(number), f"See the Index of all, {number}.", title="Other")
    store.add("rare", "See Blue Hour.")
    assert titles(store).mentions(("Index",)) == MAX_COUNTED
    assert titles(store).mentions(("Blue", "Hour")) == 1
    assert titles(store).mentions(('"', "OR")) == 0


def test_links_are_found_by_their_place(store: SearchStore) -> None:
    source = store.add("a", "One.", "Two.")
    document_id = store.corpus.current_document(source.id)
    assert document_id is not None
    with store.database.write() as connection:
        for start, target in ((0, "First"), (2, "First"), (3, ""), (8, "Second")):
            connection.execute(
                "INSERT INTO note_link VALUES (?, ?, ?, ?, '', '', 0)", (document_id, start, start + 1, target)
            )
    places = [(document_id, Span(0, 6)), (document_id, Span(6, 10)), (document_id + 1, Span(0, 6))]
    assert titles(store).links_in(places) == [["First"], ["Second"], []]
    assert titles(store).addresses_in(places) == [[], [], []]


def test_a_store_of_the_schema_before_knows_its_titles_at_once(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    old = sqlite3.connect(path, isolation_level=None)
    for migrate in MIGRATIONS[:11]:
        migrate(old)
    old.execute("PRAGMA user_version=11")
    old.execute(f"PRAGMA application_id={APPLICATION_ID}")
    old.execute(
        "INSERT INTO document(id, fingerprint, sha256, media_type, characters, created_at)"
        " VALUES (1, 'f', 's', 'text/plain', 0, '')"
    )
    old.executemany(
        "INSERT INTO source(id, kind, uri, title, path, document_id, metadata, fetched_at)"
        " VALUES (?, 'note', ?, ?, ?, 1, ?, '')",
        [
            ("s1", "file:///tides.md", "Tides", "/tides.md", '{"aliases": "Ebb; Flood"}'),
            ("s2", "file:///b", "Broken", None, "{"),
        ],
    )
    old.close()
    database = Database(path)
    with database.read() as connection:
        found = {row["name"] for row in connection.execute("SELECT name FROM source_name")}
    assert found == {"Tides", "Ebb", "Flood", "Broken"}
    assert TitleTable(database).is_complete()
    database.close()
