"""Documents: stored once, read in part, kept while something cites them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asky.errors import StorageError
from asky.storage.corpus import CorpusStore
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.lexical import LexicalIndex
from asky.storage.migrations import BLOCK_CHARACTERS
from asky.storage.runs import RunStore
from asky.storage.scope import Scope
from asky.storage.vectors import Pack, VectorTable
from asky.values import Chunk, Document, Evidence, Location, NoteLink, Section, Source, Span, source_id
from tests.support.examples import examples


class Store:
    """All repositories over one file."""

    def __init__(self, path: Path) -> None:
        self.database = Database(path)
        self.documents = DocumentStore(self.database)
        self.corpus = CorpusStore(self.database, self.documents)
        self.lexical = LexicalIndex(self.database)
        self.vectors = VectorTable(self.database)
        self.runs = RunStore(self.database)
        self.collection = self.corpus.collection("default", create=True)

    def add(self, uri: str, text: str, *, collection: int | None = None) -> int:
        """One source with one document of chunks of 100 characters; returns the document's id."""
        chunks = [
            Chunk(number, Span(start, min(start + 100, len(text))), 25)
            for number, start in enumerate(range(0, len(text), 100))
        ]
        stored = self.documents.put_document(Document(text, "text/plain"), chunks, [""] * len(chunks))
        source = Source(source_id(uri), "file", uri, uri, fetched_at="now")
        self.corpus.put_source(source, collection or self.collection, document_id=stored.id)
        return stored.id

    def found(self, word: str, scope: Scope | None = None) -> list[int]:
        return list(self.lexical.search(f'"{word}"', scope or Scope(), limit=10))

    def cite(self, document_id: int, uri: str) -> None:
        run = self.runs.start(question="q", mode="research", model="m", session_id=None)
        source = Source(source_id(uri), "file", uri, uri)
        sha256, _ = self.documents.digest(document_id)
        self.runs.show(run.id, [Evidence("Pabcd", source, document_id, sha256, Span(0, 4), "text", Location())])


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(tmp_path / "asky.db")
    yield opened
    opened.database.close()


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=200),
    repeat=st.integers(1, 400),
    data=st.data(),
)
def test_any_part_of_a_text_reads_back_as_it_was_stored(
    store: Store, text: str, repeat: int, data: st.DataObject
) -> None:
    whole = text * repeat
    document_id = store.add("file:///a", whole)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    assert store.documents.text(document_id, Span(start, end)) == whole[start:end]
    assert store.documents.text(document_id) == whole


def test_a_chunk_that_straddles_two_blocks_is_whole(store: Store) -> None:
    text = "ä" * (BLOCK_CHARACTERS - 50) + "needle" + "ö" * 200
    document_id = store.add("file:///a", text)
    inputs = list(store.documents.chunk_inputs(store.documents.chunk_ids(document_id)))
    assert "".join(part for _, _, part in inputs) == text


def test_a_chunk_over_many_blocks_is_whole(store: Store) -> None:
    text = "".join(f"{number} träume 夢 " for number in range(BLOCK_CHARACTERS))
    spans = [Span(7, 7 + 4 * BLOCK_CHARACTERS), Span(BLOCK_CHARACTERS, 3 * BLOCK_CHARACTERS), Span(0, len(text))]
    chunks = [Chunk(number, span, 1) for number, span in enumerate(spans)]
    stored = store.documents.put_document(Document(text, "text/plain"), chunks, [""] * len(chunks))
    parts = [part for _, _, part in store.documents.chunk_inputs(stored.chunk_ids)]
    assert parts == [text[span.start : span.end] for span in spans]


def test_sources_with_the_same_text_share_a_document(store: Store) -> None:
    assert store.add("file:///a", "the same words") == store.add("file:///b", "the same words")
    assert len(store.found("words")) == 1


def test_structure_makes_a_different_document(store: Store) -> None:
    plain = store.documents.put_document(Document("x", "text/plain"), [], [])
    structured = store.documents.put_document(Document("x", "text/plain", sections=(Section("x", 1, 0, 1),)), [], [])
    assert plain.id != structured.id


def test_what_is_known_of_a_section_comes_back(store: Store) -> None:
    sections = (Section("Dock", 1, 0, 4, {"from": "Ada"}), Section("Pay", 1, 4, 8))
    document = Document("12345678", "message/rfc822", None, sections)
    stored = store.documents.put_document(document, [Chunk(0, Span(0, 8), 1)], [""])
    assert store.documents.document(stored.id) == document
    other = replace(document, sections=(replace(sections[0], metadata={"from": "Bob"}), sections[1]))
    assert store.documents.put_document(other, [Chunk(0, Span(0, 8), 1)], [""]).is_new


def test_links_to_notes_come_back_and_go_with_their_text(store: Store) -> None:
    links = (NoteLink("Other", "A#B", "alias", False, 0, 21), NoteLink("", "^id", "", True, 30, 39))
    document = Document("[[Other#A#B|alias]] ...", "text/markdown")
    before = store.documents.put_document(document, [], [])
    assert store.documents.document(before.id).note_links == ()
    linked = replace(document, note_links=links)
    assert store.documents.put_document(linked, [], []).id == before.id  # links are no part of what makes it equal
    assert store.documents.document(before.id) == linked
    assert store.documents.put_document(linked, [], []).id == before.id
    for uri in ("b", "a"):
        store.corpus.put_source(Source(source_id(uri), "note", uri, uri), store.collection, document_id=before.id)
    targets = sorted(store.documents.link_targets(store.collection))
    assert targets == [("a", ""), ("a", "Other"), ("b", ""), ("b", "Other")]
    store.corpus.remove_sources(store.collection, [source_id("a"), source_id("b")])
    with store.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM note_link").fetchone()[0] == 0


def test_a_changed_source_drops_its_old_text_from_the_index(store: Store) -> None:
    store.add("file:///a", "apples and pears")
    store.add("file:///a", "oranges and lemons")
    assert store.found("apples") == []
    assert len(store.found("oranges")) == 1
    with store.database.read() as connection:
        assert connection.execute("SELECT count(*) FROM document").fetchone()[0] == 1
    assert store.lexical.check()


def test_a_cited_text_stays_readable_after_its_source_changed_but_is_not_found(store: Store) -> None:
    document_id = store.add("file:///a", "apples and pears")
    store.cite(document_id, "file:///a")
    store.add("file:///a", "oranges and lemons")
    assert store.documents.text(document_id) == "apples and pears"
    assert store.found("apples") == []


def test_a_document_that_was_dropped_meanwhile_is_a_trouble_that_a_retry_can_help(store: Store) -> None:
    document_id = store.add("file:///a", "apples and pears")
    store.add("file:///a", "oranges and lemons")
    for look in (store.documents.document, store.documents.structure, store.documents.digest):
        with pytest.raises(StorageError, match="no longer in the store") as caught:
            look(document_id)
        assert caught.value.retryable


def test_a_cited_text_that_comes_back_is_found_again_in_its_old_document(store: Store) -> None:
    document_id = store.add("file:///a", "apples and pears")
    store.cite(document_id, "file:///a")
    store.add("file:///a", "oranges and lemons")
    assert store.add("file:///a", "apples and pears") == document_id
    assert len(store.found("apples")) == 1


def test_chunk_ids_are_never_used_twice(store: Store) -> None:
    first = store.documents.chunk_ids(store.add("file:///a", "apples"))
    second = store.documents.chunk_ids(store.add("file:///a", "oranges"))
    assert not set(first) & set(second)


def test_a_source_in_two_collections_survives_leaving_one(store: Store) -> None:
    other = store.corpus.collection("other", create=True)
    store.add("file:///a", "apples", collection=store.collection)
    store.add("file:///a", "apples", collection=other)
    assert store.corpus.remove_sources(other, [source_id("file:///a")]) == 0
    assert len(store.found("apples")) == 1
    assert store.corpus.remove_sources(store.collection, [source_id("file:///a")]) == 1
    assert store.found("apples") == []


def test_a_scope_hides_other_collections_and_other_sources(store: Store) -> None:
    other = store.corpus.collection("other", create=True)
    store.add("file:///a", "apples one", collection=store.collection)
    store.add("file:///b", "apples two", collection=other)
    assert len(store.found("apples")) == 2
    assert len(store.found("apples", Scope(collections=(other,)))) == 1
    assert len(store.found("apples", Scope(sources=(source_id("file:///a"),)))) == 1
    assert store.found("apples", Scope(collections=())) == []


def test_dropping_a_document_tells_the_vector_index(store: Store) -> None:
    document_id = store.add("file:///a", "apples")
    space = store.vectors.space("model", 2)
    chunk = store.documents.chunk_ids(document_id)[0].to_bytes(8, "little")
    store.vectors.put(space, [Pack(document_id, chunk, b"\0" * 8)])
    before = store.vectors.version()
    store.add("file:///a", "oranges")
    entries = store.vectors.outbox(space, limit=10)
    assert [(each.operation, each.chunk_ids, each.vectors) for each in entries] == [
        ("add", chunk, None),
        ("delete", chunk, None),
    ]
    assert store.vectors.version() > before
    assert store.vectors.coverage(space, Scope()).embedded == 0


def test_a_vector_that_is_there_is_not_stored_twice(store: Store) -> None:
    document_id = store.add("file:///a", "x" * 250)
    first, second, third = (each.to_bytes(8, "little") for each in store.documents.chunk_ids(document_id))
    space = store.vectors.space("model", 2)
    store.vectors.put(space, [Pack(document_id, first + second, b"A" * 8 + b"B" * 8)])
    store.vectors.put(space, [Pack(document_id, second + third, b"X" * 8 + b"C" * 8)])
    store.vectors.put(space, [Pack(document_id, first, b"X" * 8)])
    assert store.vectors.packs_of(space, [document_id]) == [
        Pack(document_id, first + second, b"A" * 8 + b"B" * 8),
        Pack(document_id, third, b"C" * 8),
    ]
    assert len(store.vectors.outbox(space, limit=10)) == 2


def put_vectors(store: Store, count: int, dim: int) -> tuple[int, Pack]:
    """A document with so many chunks, all different vectors; returns the space and the pack that was put."""
    document_id = store.add("file:///a", "x" * 100 * count)
    ids = b"".join(each.to_bytes(8, "little") for each in store.documents.chunk_ids(document_id))
    pack = Pack(document_id, ids, b"".join(number.to_bytes(4, "little") * dim for number in range(count)))
    space = store.vectors.space("model", dim)
    store.vectors.put(space, [pack])
    return space, pack


@pytest.mark.parametrize(
    ("count", "dim", "rows"),
    [
        (1, 384, 1),
        (3, 384, 3),
        (10, 384, 10),
        (11, 384, 1),  # fills more than two pages
        (10, 96, 3),
        (3, 768, 1),  # of which no five share a page
    ],
)
def test_vectors_of_a_small_document_are_stored_in_pieces(store: Store, count: int, dim: int, rows: int) -> None:
    space, pack = put_vectors(store, count, dim)
    stored = list(store.vectors.packs(space, Scope()))
    assert len(stored) == rows
    assert b"".join(each.chunk_ids for each in stored) == pack.chunk_ids
    assert b"".join(each.vectors for each in stored) == pack.vectors
    entries = store.vectors.outbox(space, limit=100)
    assert [(each.chunk_ids, each.vectors) for each in entries] == [(each.chunk_ids, each.vectors) for each in stored]
    assert store.vectors.coverage(space, Scope()).embedded == count


def test_vectors_of_small_documents_fill_their_pages(store: Store) -> None:
    space = store.vectors.space("model", 384)
    documents = [store.add(f"file:///{number}", f"{number}" + "x" * 250) for number in range(100)]

    def used_bytes() -> int:
        with store.database.read() as connection:
            pages, free, size = (
                connection.execute(f"PRAGMA {each}").fetchone()[0]
                for each in ("page_count", "freelist_count", "page_size")
            )
        return int((pages - free) * size)

    before = used_bytes()
    for document_id in documents:
        ids = b"".join(each.to_bytes(8, "little") for each in store.documents.chunk_ids(document_id))
        store.vectors.put(space, [Pack(document_id, ids, b"v" * (len(ids) // 8) * 384 * 4)])
    assert used_bytes() - before < 1.15 * 300 * 384 * 4


def test_a_text_that_a_run_in_progress_may_show_stays_until_the_last_run_ends(store: Store) -> None:
    """Another source, or another process that reads a folder again, may replace it between finding and showing."""
    other = RunStore(Database(store.database.path))
    run = store.runs.start(question="q", mode="research", model="m", session_id=None)
    also = other.start(question="q", mode="research", model="m", session_id=None)
    found = store.add("/a.txt", "barrage of the Rance")
    sha256, _ = store.documents.digest(found)
    unshown = store.add("/b.txt", "barrage of Annapolis")
    store.add("/a.txt", "lock of the Rance")
    store.add("/b.txt", "lock of Annapolis")
    assert store.found("barrage") == []
    source = Source(source_id("/a.txt"), "file", "/a.txt", "/a.txt")
    store.runs.show(run.id, [Evidence("Pabcd", source, found, sha256, Span(0, 7), "barrage", Location())])
    store.runs.release(run.id)
    assert store.documents.text(unshown) == "barrage of Annapolis"
    other.release(also.id)
    assert store.documents.text(unshown) == ""
    assert store.documents.text(found) == "barrage of the Rance"
    assert store.add("/c.txt", "barrage of the Rance") == found, "an equal text is stored once"


def test_a_text_that_is_removed_while_nothing_runs_is_gone_at_once(store: Store) -> None:
    found = store.add("/a.txt", "barrage of the Rance")
    store.corpus.remove_sources(store.collection, [source_id("/a.txt")])
    with pytest.raises(StorageError):
        store.documents.digest(found)
