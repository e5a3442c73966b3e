"""Whatever is done to a store, in whatever order, its tables and indexes hold what a dictionary would hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from asky.config.schema import Retrieval
from asky.storage.lexical import LexicalIndex
from asky.values import source_id
from tests.support.search_store import SearchStore

NAMES = st.sampled_from(["a", "b", "c", "d"])
TEXTS = st.lists(st.sampled_from(["moon", "sea", "tide", "bread", "yeast", "stone"]), min_size=1, max_size=4)


class StoreModel(RuleBasedStateMachine):
    """`kept` is what should be there: name to passages."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.kept: dict[str, tuple[str, ...]] = {}
        self.open()

    def open(self) -> None:
        self.store = SearchStore(Path(self.folder.name), settings=Retrieval(engine="exact"))

    @rule(name=NAMES, passages=TEXTS)
    def add_or_change(self, name: str, passages: list[str]) -> None:
        self.store.add(name, *(f"{word} of passage {number}" for number, word in enumerate(passages)))
        self.kept[name] = tuple(passages)

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        self.store.corpus.remove_sources(self.store.collection, [source_id(f"file:///{name}")])
        self.kept.pop(name, None)

    @rule()
    def embed(self) -> None:
        self.store.search.store_chunk_embeddings(self.store.scope)
        coverage = self.store.search.coverage(self.store.scope)
        assert coverage is not None
        assert coverage.embedded == coverage.chunks

    @rule()
    def rebuild_words(self) -> None:
        LexicalIndex(self.store.database).rebuild()

    @rule()
    def forget_vectors(self) -> None:
        self.store.search.clear_cache_embeddings(self.store.scope)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.open()

    @rule(word=st.sampled_from(["moon", "bread"]))
    def search(self, word: str) -> None:
        hits = self.store.search.search_content_chunks(word, self.store.scope, limit=50)
        holders = {f"/{name}" for name, passages in self.kept.items() if word in passages}
        found = {hit.source.path for hit in hits if f"{word} of" in hit.text}
        # Sources with the same text share a document, which is shown once, under one of them.
        texts = {self.kept[path[1:]] for path in holders}
        assert {self.kept[str(path)[1:]] for path in found} == texts

    @invariant()
    def everything_agrees(self) -> None:
        if not hasattr(self, "store"):
            return
        sources = {source.path[1:] for source in self.store.corpus.sources(self.store.scope) if source.path}
        assert sources == set(self.kept)
        chunks = set(self.kept.values())
        assert self.store.search.tables.chunks.count(self.store.scope) == sum(map(len, chunks))
        assert LexicalIndex(self.store.database).check()

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()


StoreModel.TestCase.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
TestStoreModel = StoreModel.TestCase
