"""What is left of a session that was removed: nothing, in the tables or in the bytes of the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asky.storage.database import Database
from asky.storage.runs import Run
from asky.storage.scope import Scope
from asky.storage.sessions import NewMessage, Session, SessionStore, own_collection
from asky.values import Chunk, Document, Evidence, Source, Span, source_id
from tests.support.stores import FilledStore

CANARY = "zanzibar"


@pytest.fixture
def store(tmp_path: Path) -> FilledStore:
    return FilledStore(tmp_path)


def give(store: FilledStore, session_id: str, text: str) -> int:
    """Make `text` a source of the session alone, as a piped text is; returns its document."""
    document = store.documents.put_document(Document(text, "text/plain"), [Chunk(0, Span(0, len(text)), 9)], [""])
    source = Source(source_id(f"stdin:{text}"), "file", f"stdin:{text}", "standard input")
    store.corpus.put_source(
        source, store.corpus.collection(own_collection(session_id), create=True), document_id=document.id
    )
    return document.id


def bytes_of(store: FilledStore) -> bytes:
    store.database.close()
    return b"".join(path.read_bytes() for path in sorted(store.data.rglob("*")) if path.is_file())


def test_nothing_of_a_removed_session_is_left_in_the_file(store: FilledStore, tmp_path: Path) -> None:
    session = store.sessions.open(CANARY, mode="research")
    give(store, session.id, f"A text about {CANARY}.")
    note = store.add_text(tmp_path / "tides.md", "The tides of the sea.")
    run_id = store.answered(
        f"Where is {CANARY}?",
        f"In the sea, {CANARY}.",
        lambda run: [store.evidence(run, tmp_path / "tides.md", note, "tides")],
        session=CANARY,
    )
    store.findings.add(f"Of {CANARY}.", session_id=session.id, run_id=run_id)
    store.runs.record(run_id, "failed", {"partial": CANARY})
    assert CANARY.encode() in bytes_of(store)
    store.session_removal.remove(session.id)
    assert CANARY.encode() not in bytes_of(store)
    assert store.sessions.find(session.id) is None
    assert not store.runs.recent(limit=9)
    assert not store.findings.recent()
    assert store.documents.text(note) == "The tides of the sea."  # it has a source of its own
    store.database.close()


def test_a_text_that_only_a_removed_run_showed_goes_with_it_and_one_of_another_run_stays(
    store: FilledStore, tmp_path: Path
) -> None:
    path = tmp_path / "old.md"
    shown = {name: store.add_text(tmp_path / f"{name}.md", f"The {name} text.") for name in ("old", "both", "kept")}

    def show(*names: str) -> Callable[[Run], list[Evidence]]:
        return lambda run: [store.evidence(run, path, shown[name], name) for name in names]

    store.answered("?", "So.", show("old", "both", "kept"), session="gone")
    store.answered("?", "So.", show("both"), session="stays")
    for name in ("old", "both"):
        store.corpus.remove_sources(store.collection, [source_id((tmp_path / f"{name}.md").as_uri())])
    removed = store.sessions.find("gone")
    assert removed is not None
    store.session_removal.remove(removed.id)
    with store.database.read() as connection:
        left = {row["id"] for row in connection.execute("SELECT id FROM document")}
    assert left == {shown["both"], shown["kept"]}
    assert [run.question for run in store.runs.recent(limit=9)] == ["?"]
    assert store.corpus.count_sources(Scope((store.collection,))) == 1
    store.database.close()


def test_a_session_without_a_question_is_discarded_with_what_it_was_given_and_no_other(store: FilledStore) -> None:
    empty = store.sessions.open("empty", mode="lean")
    document = give(store, empty.id, "A text about tides.")
    begun = store.sessions.open("begun", mode="lean")
    run = store.runs.start(question="?", mode="lean", model="m", session_id=begun.id)
    store.runs.release(run.id)
    answered = store.sessions.open("answered", mode="lean")
    store.sessions.append(answered.id, [NewMessage("user", "?")], run_id=None)
    kept = give(store, begun.id, "A text about the moon.")
    for each in (empty, begun, answered, empty):
        store.session_removal.discard_unused(each)
    assert {each.name for each in store.sessions.recent()} == {"begun", "answered"}
    assert own_collection(empty.id) not in store.corpus.collections()
    assert own_collection(begun.id) in store.corpus.collections()
    assert store.documents.text(kept) == "A text about the moon."
    with store.database.read() as connection:
        assert not connection.execute("SELECT 1 FROM document WHERE id = ?", (document,)).fetchall()
    store.database.close()


USES: dict[str, Callable[[FilledStore, Session], object]] = {
    "noted in": lambda store, made: store.findings.add("Ebb at nine.", session_id=made.id, run_id=None),
    "shared": lambda store, made: store.sessions.share(made.id),
    "opened": lambda store, made: store.sessions.open(made.name, mode="lean"),
    "given a collection": lambda store, made: store.sessions.add_collections(made.id, [store.collection]),
    "set": lambda store, made: store.sessions.remember(made.id, mode=made.mode, settings={"web": True}),
    "of another mode": lambda store, made: store.sessions.remember(made.id, mode="research", settings={}),
    "renamed": lambda store, made: store.sessions.rename(made.id, "harbour"),
}


@pytest.mark.parametrize("use", USES)
def test_a_new_session_that_another_process_has_come_to_use_is_not_discarded(store: FilledStore, use: str) -> None:
    made = store.sessions.open("trip", mode="lean")
    USES[use](store, made)
    store.session_removal.discard_unused(made)
    assert store.sessions.find(made.id) is not None
    store.database.close()


class Late(Database):
    """A store that is written to just before a writer gets its turn."""

    before: Callable[[], object] | None = None

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        act, self.before = self.before, None
        if act is not None:
            act()
        with super().write() as connection:
            yield connection


def test_a_session_that_two_processes_make_at_once_is_discarded_by_neither(store: FilledStore) -> None:
    second, made = Late(store.database.path), []
    second.before = lambda: made.append(store.sessions.open("trip", mode="lean"))
    made.append(SessionStore(second).open("trip", mode="lean"))
    assert made[0].id == made[1].id
    for each in made:
        store.session_removal.discard_unused(each)
    assert store.sessions.find("trip") is not None
    second.close()
    store.database.close()
