"""Whatever is done to a store, in whatever order, its tables and indexes hold what a dictionary would hold."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.support.store_world import Passages, StoreWorld

pytestmark = pytest.mark.slow

IS_LONG = settings.get_current_profile_name() == "fuzz"  # `make fuzz`
STEPS, RUNS = (2000, 50) if IS_LONG else (40, 2)

# Few of each, so that deeds meet: texts are shared, change and come back.
_FILES, _PAGES = ("a", "b", "c", "d"), ("p", "q", "r")
_TEXTS: tuple[Passages, ...] = (
    ("moon pulls",),
    ("moon pulls", "sea rises"),
    ("sea rises", "moon pulls"),
    ("bread rises", "yeast makes gas", "salt slows it"),
    ("stones sink", "stones sink again"),
    ("moon pulls", "bread rises", "stones sink", "sea rises"),
)
_SECONDS = (0.0, 5.0, 11.0)
_FINDINGS = ("The moon pulls.", "Bread rises.", "Stones sink.")
_DEEDS: tuple[tuple[str, tuple[tuple[Any, ...], ...]], ...] = (
    ("save", (_FILES, _TEXTS)),
    ("delete", (_FILES,)),
    ("cache", (_PAGES, _TEXTS, _SECONDS)),
    ("expire", (_SECONDS,)),
    ("show", (_FILES,)),
    ("note", (_FINDINGS,)),
    ("forget", (_FINDINGS,)),
    ("embed", ()),
    ("forget_vectors", ()),
    ("rebuild_words", ()),
    ("rebuild_vectors", ()),
)
"""What can be done, and what each argument can be."""

DEED = st.one_of(*(st.tuples(st.just(name), *map(st.sampled_from, choices)) for name, choices in _DEEDS))


class StoreModel(RuleBasedStateMachine):
    """Short lives of stores: of one that goes wrong, what it takes is found."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.world = StoreWorld(Path(self.folder.name))

    @rule(deed=DEED)
    def do(self, deed: tuple[Any, ...]) -> None:
        self.world.do(*deed)

    @rule(deed=DEED, statement=st.integers(1, 60))
    def kill(self, deed: tuple[Any, ...], statement: int) -> None:
        self.world.kill(statement, *deed)

    @rule()
    def reopen(self) -> None:
        self.world.reopen()

    @rule(word=st.sampled_from(["moon", "bread"]))
    def search(self, word: str) -> None:
        files, store = self.world.model.files, self.world.doer.store
        hits = store.search.search_content_chunks(word, store.scope, limit=50)
        found = {hit.source.path for hit in hits if f"{word} " in hit.text}
        # Sources with the same text share a document, which is shown once, under one of them.
        texts = {passages for passages in files.values() if any(each.startswith(word) for each in passages)}
        assert {files[str(path)[1:]] for path in found} == texts

    @invariant()
    def everything_agrees(self) -> None:
        if hasattr(self, "world"):
            self.world.check()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.close()
            self.folder.cleanup()


StoreModel.TestCase.settings = settings(max_examples=100 if IS_LONG else 3, stateful_step_count=15, deadline=None)
TestStoreModel = StoreModel.TestCase


def step(world: StoreWorld, random: Random) -> None:
    """Do something to the store. One step in twenty is a process that is killed at it."""
    name, choices = random.choice(_DEEDS[:-1])
    arguments = [random.choice(each) for each in choices]
    chance = random.random()
    if chance < 0.05:
        world.kill(random.randint(1, 60), name, *arguments)
    elif chance < 0.08:
        world.reopen()
    elif chance < 0.09:
        world.do("rebuild_vectors")  # 0.2 s
    else:
        world.do(name, *arguments)


@settings(max_examples=RUNS, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_long_lives_of_stores_end_as_their_models_do(seed: int) -> None:
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        world = StoreWorld(Path(folder))
        try:
            for _ in range(STEPS):
                step(world, random)
                world.check()
        finally:
            world.close()
