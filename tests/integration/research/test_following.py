"""Documents that a question or the best passages for it lead to, found with words and vectors of a real store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.errors import ProviderError
from asky.research.ranking import Selection
from asky.storage.scope import Scope
from asky.values import NoteLink, Source
from tests.support.large_store import statements
from tests.support.search_store import SearchStore

QUESTION = "Who was the author of Killing Pablo married to?"
FILLER = [f"Record {number} of the office lists the author of a book and who was married there." for number in range(8)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SearchStore]:
    opened = SearchStore(tmp_path)
    for number, text in enumerate(FILLER):
        opened.add(f"filler{number}", text)
    yield opened
    opened.close()


def link(store: SearchStore, source: Source, target: str) -> None:
    """Give the first sentence of a note a link to `target`."""
    document_id = store.corpus.current_document(source.id)
    noted = NoteLink(target, "", "", False, 0, 4)
    with store.database.write() as connection:
        connection.execute(
            "INSERT INTO note_link VALUES (?, ?, ?, ?, ?, ?, ?)",
            (document_id, noted.start, noted.end, noted.target, noted.part, noted.alias, noted.is_embed),
        )


def origins(store: SearchStore, question: str = QUESTION, **options: object) -> dict[str, str | None]:
    """The title of what leads to each hit among the first three, by the path of the hit."""
    hits = store.search.search_content_chunks(question, store.scope, limit=3, **options)  # type: ignore[arg-type]  # a selection
    return {hit.source.path or "": hit.linked_from for hit in hits}


def test_what_a_named_document_mentions_is_found_next_to_it(store: SearchStore) -> None:
    store.add("book", "Killing Pablo is a book by Mark Bowden about Colombia.", title="Killing Pablo")
    store.add("writer", "He comes from St. Louis, and his wife is Gail.", title="Mark Bowden")
    found = origins(store)
    assert list(found)[:2] == ["/book", "/writer"]
    assert found == {**found, "/book": None, "/writer": "Killing Pablo"}


def test_a_question_for_the_meaning_alone_follows_nothing(store: SearchStore) -> None:
    store.add("book", "Killing Pablo is a book by Mark Bowden about Colombia.", title="Killing Pablo")
    store.add("writer", "He comes from St. Louis, and his wife is Gail.", title="Mark Bowden")
    assert set(origins(store, selection=Selection(mode="semantic")).values()) == {None}


def test_an_alias_in_a_link_leads_to_a_note_in_small_letters(store: SearchStore) -> None:
    book = store.add("book", "This is a book by him about Colombia.", title="Killing Pablo")
    store.add("people/mark-bowden", "He comes from St. Louis, and his wife is Gail.", title="mark-bowden")
    assert set(origins(store).values()) == {None}
    link(store, book, "people/mark-bowden.md")
    assert origins(store)["/people/mark-bowden"] == "Killing Pablo"


def test_common_words_and_one_word_without_a_named_document_lead_nowhere(store: SearchStore) -> None:
    store.add("first", "The author was married. It says so in Notes, in The Hague.", title="Register")
    for title in ("It", "The", "Notes"):
        store.add(title.lower(), "Nothing about that at all.", title=title)
    assert set(origins(store, "Which author was married in the office?").values()) == {None}


def test_a_note_that_all_link_to_does_not_rise_above_what_answers(store: SearchStore) -> None:
    for number in range(60):
        note = store.add(f"note{number}", f"Home. Entry {number} about the author of a book.", title=f"Entry {number}")
        link(store, note, "Home")
    store.add("home", "Welcome to all entries.", title="Home")
    store.add("answer", "Killing Pablo was written by an author who was married to Gail.", title="Killing Pablo")
    assert next(iter(origins(store))) == "/answer"
    assert "/home" not in list(origins(store))[:2]


def test_a_list_of_all_documents_leads_to_none(store: SearchStore) -> None:
    listed = [f"Chapter {chr(65 + number)}x" for number in range(25)]
    store.add("index", f"Killing Pablo and its author, married: {', '.join(listed)}.", title="Killing Pablo")
    for number, title in enumerate(listed):
        store.add(f"chapter{number}", "Something else entirely.", title=title)
    assert set(origins(store).values()) == {None}


def test_a_title_of_many_documents_leads_to_none(store: SearchStore) -> None:
    store.add("book", "Killing Pablo is a book by Mark Bowden about Colombia.", title="Killing Pablo")
    writers = [store.add(f"writer{n}", f"Number {n} comes from St. Louis.", title="Mark Bowden") for n in range(21)]
    assert set(origins(store).values()) == {None}
    with statements(store) as seen:
        origins(store)
    assert not [each for each in seen if "LIMIT 50" in each and "Bowden" in each]  # nor is it counted
    store.corpus.remove_sources(store.collection, [writers[0].id])
    assert "Killing Pablo" in origins(store).values()


def test_a_document_outside_of_the_scope_is_not_led_to(store: SearchStore) -> None:
    other = store.corpus.collection("other", create=True)
    store.add("book", "Killing Pablo is a book by Mark Bowden about Colombia.", title="Killing Pablo")
    store.add("writer", "He comes from St. Louis.", title="Mark Bowden", collection=other)
    assert "/writer" not in origins(store)
    everywhere = store.search.search_content_chunks(QUESTION, Scope(), limit=3)
    assert "/writer" in {hit.source.path for hit in everywhere}


def test_a_document_that_neither_words_nor_vectors_find_is_led_to(tmp_path: Path) -> None:
    store = SearchStore(tmp_path, embedder=ProviderError("no model"))
    store.add("book", "Killing Pablo is a book by Mark Bowden.", title="Killing Pablo")
    store.add("writer", "He comes from St. Louis.", "His wife is Gail.", title=None)
    store.corpus.describe(store.corpus.sources(store.scope)[1].id, title="Mark Bowden")
    assert list(origins(store)) == ["/book", "/writer"]
    store.close()


def test_a_removed_document_is_not_led_to(store: SearchStore) -> None:
    store.add("book", "Killing Pablo is a book by Mark Bowden about Colombia.", title="Killing Pablo")
    writer = store.add("writer", "He comes from St. Louis.", title="Mark Bowden")
    store.corpus.remove_sources(store.collection, [writer.id])
    assert set(origins(store).values()) == {None}


def test_looking_titles_up_takes_a_bounded_number_of_statements(store: SearchStore) -> None:
    names = [f"Mark Bowden{letter}" for letter in "abcdefgh"]
    store.add("book", f"Killing Pablo is a book by {' and '.join(names)}.", title="Killing Pablo")
    for number, name in enumerate(names):
        store.add(f"writer{number}", "He comes from St. Louis.", title=name)
    origins(store)
    with statements(store) as seen:
        origins(store)
    of_titles = [
        each for each in seen if "source_name" in each or "note_link" in each or "chunk_fts MATCH 'text" in each
    ]
    assert len([each for each in of_titles if "source_name" in each]) == 4
    assert len([each for each in seen if "LIMIT 50" in each]) == len(names) + 1  # each name is counted once
