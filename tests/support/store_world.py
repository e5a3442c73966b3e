"""A store and a model of it side by side: what is done to the one is done to the other, and both must agree."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from asky.config.schema import Retrieval
from asky.research.vector_store_common import ids_from_bytes
from asky.storage.lexical import LexicalIndex
from asky.storage.pages import CACHE_COLLECTION, PageRow, PageTable
from asky.storage.runs import RunStore
from asky.storage.scope import Scope
from asky.values import Evidence, Location, Span, source_id
from tests.support.embedding import FakeEmbedder
from tests.support.forks import fork
from tests.support.search_store import SearchStore

Passages = tuple[str, ...]
Deed = tuple[str, tuple[Any, ...]]
"""What is done to a store: the name of a method of `Doer`, and what it is given."""

_KEPT_S = 10.0  # after a page that can be renewed is stale


@dataclass(slots=True)
class Model:
    """What a store should hold. Texts are told by their passages; `embedded` are those that have vectors."""

    files: dict[str, Passages] = field(default_factory=dict)
    pages: dict[str, tuple[Passages, float]] = field(default_factory=dict)
    shown: set[Passages] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)
    embedded: set[Passages] = field(default_factory=set)
    now: float = 1000.0

    @property
    def live(self) -> set[Passages]:
        """The texts that a source has."""
        return {*self.files.values(), *(passages for passages, _ in self.pages.values())}

    def do(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Do the deed to the model."""
        getattr(self, name)(*arguments)
        self.embedded &= self.live

    def save(self, name: str, passages: Passages) -> None:
        self.files[name] = passages

    def delete(self, name: str) -> None:
        self.files.pop(name, None)

    def cache(self, name: str, passages: Passages, lasts_s: float) -> None:
        self.pages[name] = passages, self.now + lasts_s

    def expire(self, seconds: float) -> None:
        self.now += seconds
        self.pages = {name: page for name, page in self.pages.items() if page[1] + _KEPT_S > self.now}

    def show(self, name: str) -> None:
        if name in self.files:
            self.shown.add(self.files[name])

    def note(self, text: str) -> None:
        if text not in self.findings:
            self.findings.append(text)

    def forget(self, text: str) -> None:
        if text in self.findings:
            self.findings.remove(text)

    def embed(self) -> None:
        self.embedded = self.live

    def forget_vectors(self) -> None:
        self.embedded = set()

    def rebuild_words(self) -> None:
        """The same words."""

    def rebuild_vectors(self) -> None:
        """The same vectors."""

    def follow(self) -> None:
        """The index follows."""


class Doer:
    """Does deeds to a real store. `engine` says whether it has a Chroma index."""

    def __init__(self, folder: Path, now: float, engine: str = "chroma") -> None:
        self.now = now
        self.store = SearchStore(folder, settings=Retrieval(engine=engine))  # type: ignore[arg-type] # a word
        self.cached = self.store.corpus.collection(CACHE_COLLECTION, create=True)
        self.scope = Scope((self.store.collection, self.cached))
        self.pages = PageTable(self.store.database, self.store.corpus)
        self.runs = RunStore(self.store.database)

    def save(self, name: str, passages: Passages) -> None:
        self.store.add(name, *passages)

    def delete(self, name: str) -> None:
        self.store.corpus.remove_sources(self.store.collection, [source_id(f"file:///{name}")])

    def cache(self, name: str, passages: Passages, lasts_s: float) -> None:
        with self.store.database.write():
            source = self.store.add(name, *passages, collection=self.cached)
            row = PageRow(name, name, self.now, self.now + lasts_s, self.now, source.id, etag="x", bytes=10)
            self.pages.put(row)

    def expire(self, seconds: float) -> None:
        self.now += seconds
        self.pages.remove(self.pages.outdated(self.now, keep_s=_KEPT_S, max_bytes=1 << 30))

    def show(self, name: str) -> None:
        source = self.store.corpus.source(source_id(f"file:///{name}"))
        if source is None:
            return
        document = self.store.corpus.current_document(source.id)
        assert document is not None
        sha256, _ = self.store.documents.digest(document)
        with self.store.database.write():
            run = self.runs.start(question="q", mode="standard", model="m", session_id=None)
            span = Span(0, 3)
            self.runs.show(run.id, [Evidence("P1234", source, document, sha256, span, "", Location(), 0.5)])
            self.runs.finish(run.id, "finished", None)
        self.runs.release(run.id)

    def note(self, text: str) -> None:
        self.store.search.store_finding(text, session_id=None, run_id=None, tags=("t",))

    def forget(self, text: str) -> None:
        id_ = self.store.findings.same(text, session_id=None)
        self.store.findings.remove([] if id_ is None else [id_])

    def embed(self) -> None:
        self.store.search.store_chunk_embeddings(self.scope)

    def forget_vectors(self) -> None:
        self.store.search.clear_cache_embeddings(self.scope)

    def rebuild_words(self) -> None:
        LexicalIndex(self.store.database).rebuild()

    def rebuild_vectors(self) -> None:
        self.store.search.rebuild_index()

    def follow(self) -> None:
        index = self.store.search.index(FakeEmbedder())
        assert index is not None
        index.follow()


class StoreWorld:
    """A store of a folder, and the model of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = Model()
        self.doer = Doer(folder, self.model.now)

    def do(self, name: str, *arguments: Any) -> None:
        """Do the deed to both."""
        getattr(self.doer, name)(*arguments)
        self.model.do(name, arguments)

    def reopen(self) -> None:
        self.doer.store.close()
        self.doer = Doer(self.folder, self.model.now)

    def kill(self, statement: int, name: str, *arguments: Any) -> None:
        """Have a process do the deed that is killed before it runs its statement of that number.

        What it did is there as a whole or not at all; it is there where the process had come to its end.
        """
        self.doer.store.close()
        told = self.folder / "done"
        told.unlink(missing_ok=True)
        process = fork(_do_and_die, self.folder, self.model.now, statement, name, arguments)
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
        self.doer = Doer(self.folder, self.model.now)
        before, after = self.model, deepcopy(self.model)
        after.do(name, arguments)
        self.model = after if told.exists() or self._is_done(after) else before
        self.doer.now = self.model.now = after.now  # time goes on for everybody

    def _is_done(self, after: Model) -> bool:
        try:
            check(self.doer, after)
        except AssertionError:
            return False
        return True

    def check(self) -> None:
        """Have the model, the tables, the index of words and the vectors say the same."""
        check(self.doer, self.model)

    def close(self) -> None:
        self.doer.store.close()


def _do_and_die(folder: Path, now: float, statement: int, name: str, arguments: tuple[Any, ...]) -> None:
    doer = Doer(folder, now)
    left = statement

    def count(_: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with doer.store.database.read() as connection:
        connection.set_trace_callback(count)
    getattr(doer, name)(*arguments)
    (folder / "done").touch()
    os.kill(os.getpid(), signal.SIGKILL)


def check(doer: Doer, model: Model) -> None:
    """Raise `AssertionError` where a store does not hold what the model says."""
    store = doer.store
    with store.database.read() as connection:
        _check_sources(doer, model)
        texts = {row["id"]: _passages(store.documents.text(row["id"])) for row in _all(connection, "document", "id")}
        assert sorted(texts.values()) == sorted(model.live | model.shown)
        shown = connection.execute("SELECT document_id FROM passage").fetchall()
        assert {texts[row["document_id"]] for row in shown} == model.shown
        chunks = {row["id"]: row["document_id"] for row in _all(connection, "chunk", "id, document_id")}
        assert sorted(texts[each] for each in chunks.values()) == sorted(
            passages for passages in model.live for _ in passages
        )
        assert [row["text"] for row in _all(connection, "finding", "text, id")] == model.findings
    assert LexicalIndex(store.database).check()
    embedded = set(_check_vectors(doer))
    assert embedded == {id_ for id_, document in chunks.items() if texts[document] in model.embedded}
    index = store.search.index(FakeEmbedder())
    assert index is not None
    index.follow()
    assert index.ids() == embedded
    with store.database.read() as connection:
        assert list(_all(connection, "outbox", "id")) == []


def _check_sources(doer: Doer, model: Model) -> None:
    wanted = {**model.files, **{name: passages for name, (passages, _) in model.pages.items()}}
    store = doer.store
    found = {}
    for source in store.corpus.sources(doer.scope):
        document = store.corpus.current_document(source.id)
        assert document is not None
        found[str(source.path)[1:]] = _passages(store.documents.text(document))
    assert found == wanted
    assert {row.url: row.expires_at for row in doer.pages.pages()} == {
        name: expires_at for name, (_, expires_at) in model.pages.items()
    }


def _check_vectors(doer: Doer) -> Iterator[int]:
    """The chunks that have a vector, each of which must be that of its text."""
    store, embedder = doer.store, FakeEmbedder()
    for pack in store.vectors.packs(store.vectors.space(embedder.fingerprint, embedder.dim), Scope()):
        ids = ids_from_bytes(pack.chunk_ids).tolist()
        texts = {id_: text for id_, _, text in store.documents.chunk_inputs(ids)}
        assert embedder.embed([texts[each] for each in ids]).tobytes() == pack.vectors
        yield from ids


def _passages(text: str) -> Passages:
    return tuple(text.split("\n\n"))


def _all(connection: sqlite3.Connection, table: str, columns: str) -> list[sqlite3.Row]:
    return connection.execute(f"SELECT {columns} FROM {table} ORDER BY id").fetchall()
