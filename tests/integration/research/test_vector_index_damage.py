"""A damaged index of Chroma: no answer comes from it, whatever its note says, and no process ends of it.

Chroma can end the process on a damaged file, so each damaged index is opened by a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from asky.config.schema import Retrieval
from asky.research.index.files import file_checksums, file_sizes
from asky.research.index.state import probe, read_state
from asky.research.index.vector_index import ChromaIndex, open_index
from tests.support.forks import result_of
from tests.support.indexes import ask, leave_open, remove_rows
from tests.support.search_store import SearchStore

WORDS = ["moon", "sea", "tide", "bread", "yeast", "flour", "stone", "river", "cloud", "rain", "wind", "snow"]
NUMBERS = 12  # 144 passages: Chroma writes `index_metadata.pickle` from 100 on
QUESTIONS = [f"{word} number word{number}" for word in WORDS for number in (1, 7)]
FILES = ["chroma.sqlite3", "data_level0.bin", "header.bin", "index_metadata.pickle", "length.bin", "link_lists.bin"]


@dataclass(frozen=True, slots=True)
class Whole:
    """A store with a clean index, and what it must say: the answers of an exact scan, and the ids of its chunks."""

    folder: Path
    answers: list[list[str]]
    ids: list[int]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    folder = tmp_path_factory.mktemp("whole")
    exact = SearchStore(folder, settings=Retrieval(engine="exact"))
    for number in range(NUMBERS):
        for place, word in enumerate(WORDS):
            exact.add(f"{word}{number}", f"{word} thing number {place} {number} word{number}")
    exact.search.store_chunk_embeddings(exact.scope)
    answers = [exact.found(question, limit=5) for question in QUESTIONS]
    with exact.database.read() as connection:
        ids = [row["id"] for row in connection.execute("SELECT id FROM chunk ORDER BY id")]
    opened(exact).close()
    exact.close()
    assert sorted(path.name for path in generation_in(folder).rglob("*") if path.is_file()) == FILES
    return Whole(folder, answers, ids)


@pytest.fixture
def folder(whole: Whole, tmp_path: Path) -> Path:
    return shutil.copytree(whole.folder, tmp_path / "store")


@pytest.fixture
def store(folder: Path) -> Iterator[SearchStore]:
    store = SearchStore(folder)
    yield store
    store.close()


def opened(store: SearchStore) -> ChromaIndex:
    space = store.vectors.space("fake-64-1", 64)
    return open_index(store.folder / "chroma", store.vectors, fingerprint="fake-64-1", space_id=space, dim=64)


def generation_in(folder: Path) -> Path:
    (generation,) = (folder / "chroma").glob("generation-*")
    return generation


def file_in(generation: Path, name: str) -> Path:
    (file,) = generation.rglob(name)
    assert file.stat().st_size
    return file


def emptied(name: str) -> Callable[[Path], None]:
    return lambda generation: os.truncate(file_in(generation, name), 0)


def missing(name: str) -> Callable[[Path], None]:
    return lambda generation: file_in(generation, name).unlink()


def cut(name: str) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        file = file_in(generation, name)
        os.truncate(file, file.stat().st_size // 2)

    return damage


def flipped(name: str, seed: int) -> Callable[[Path], None]:
    """A hundred bytes at random places are inverted."""

    def damage(generation: Path) -> None:
        file = file_in(generation, name)
        data = bytearray(file.read_bytes())
        draw = random.Random(seed)
        for _ in range(100):
            data[draw.randrange(len(data))] ^= 0xFF
        file.write_bytes(data)

    return damage


def without_segment(generation: Path) -> None:
    shutil.rmtree(file_in(generation, "header.bin").parent)


def without_schema(generation: Path) -> None:
    database = file_in(generation, "chroma.sqlite3")
    data = bytearray(database.read_bytes())
    data[100:4000:7] = bytes(len(data[100:4000:7]))
    database.write_bytes(data)


def without_rows(generation: Path) -> None:
    assert result_of(remove_rows, generation)[0] == 0


def with_endless_links(generation: Path) -> None:
    with file_in(generation, "link_lists.bin").open("wb") as file:
        file.truncate(100 << 30)


def noted(**changes: Any) -> Callable[[Path], None]:
    def damage(generation: Path) -> None:
        note = generation.parent / "index.json"
        note.write_text(json.dumps({**json.loads(note.read_text()), **changes}))

    return damage


def without_note(generation: Path) -> None:
    (generation.parent / "index.json").write_text("{ not json")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "pickle empty": emptied("index_metadata.pickle"),
    "pickle missing": missing("index_metadata.pickle"),
    "vectors cut": cut("data_level0.bin"),
    "vectors flipped": flipped("data_level0.bin", 1),
    "links cut": cut("link_lists.bin"),
    "links endless": with_endless_links,
    "header cut": cut("header.bin"),
    "header flipped": flipped("header.bin", 3),
    "segment missing": without_segment,
    "database cut": cut("chroma.sqlite3"),
    "database missing": missing("chroma.sqlite3"),
    "database flipped": flipped("chroma.sqlite3", 2),
    "database without schema": without_schema,
    "rows removed": without_rows,
    "everything missing": shutil.rmtree,
    "older version": noted(chromadb="0.4.0"),
    "another model": noted(fingerprint="other"),
    "note damaged": without_note,
    "note of other files": noted(sizes=7, checksums=None),
}


@pytest.mark.few(6)
@pytest.mark.parametrize("clean", [True, False], ids=["clean", "unclean"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_index_is_made_anew_without_embedding_again(
    whole: Whole, folder: Path, damage: Callable[[Path], None], clean: bool
) -> None:
    noted(clean=clean)(generation_in(folder))  # a process that died leaves it unclean
    damage(generation_in(folder))
    assert result_of(ask, folder, QUESTIONS) == (0, [whole.answers, whole.ids, [], []])


@pytest.mark.parametrize("name", FILES)
def test_one_changed_bit_in_any_file_of_a_clean_index_is_noticed(store: SearchStore, name: str) -> None:
    generation = generation_in(store.folder)
    data = bytearray(file_in(generation, name).read_bytes())
    data[len(data) // 2] ^= 1
    file_in(generation, name).write_bytes(data)
    opened(store).close()
    assert generation_in(store.folder) != generation


def test_a_file_that_chroma_did_not_leave_is_noticed(store: SearchStore) -> None:
    generation = generation_in(store.folder)
    (generation / "chroma.sqlite3-journal").write_bytes(b"hot")
    opened(store).close()
    assert generation_in(store.folder) != generation


def test_a_hidden_file_of_a_file_manager_is_no_damage(store: SearchStore) -> None:
    generation = generation_in(store.folder)
    (generation / ".DS_Store").write_bytes(b"\0")
    opened(store).close()
    assert generation_in(store.folder) == generation


def test_an_index_in_use_stays_what_it_is(store: SearchStore) -> None:
    """Chroma changes its files when they are opened, and when they are written to: neither is damage."""
    generation = generation_in(store.folder)
    for number in range(3):
        index = opened(store)
        index.query(store._embedder().embed_query("moon"), 3)
        index.close()
        source = store.add(f"late{number}", f"a late comer {number}")
        store.search.store_chunk_embeddings(store.scope)
        index = opened(store)
        assert len(index) == 145
        store.corpus.remove_sources(store.collection, [source.id])
        index.follow()
        index.close()
    assert generation_in(store.folder) == generation
    assert len(opened_once(store)) == 144


def opened_once(store: SearchStore) -> set[int]:
    index = opened(store)
    ids = index.ids()
    index.close()
    return ids


@pytest.mark.extended
def test_a_probe_leaves_a_clean_index_clean(store: SearchStore) -> None:
    generation = generation_in(store.folder)
    assert probe(generation)
    opened(store).close()
    assert generation_in(store.folder) == generation


def test_a_probe_does_not_call_a_damaged_index_clean(store: SearchStore) -> None:
    generation = generation_in(store.folder)
    without_rows(generation)
    note = read_state(generation.parent)
    probe(generation)
    assert read_state(generation.parent) == note
    opened(store).close()
    assert generation_in(store.folder) != generation


@pytest.mark.extended
def test_a_probe_that_fails_leaves_the_index_unclean(store: SearchStore) -> None:
    generation = generation_in(store.folder)
    cut("data_level0.bin")(generation)
    noted(sizes=file_sizes(generation), checksums=file_checksums(generation))(generation)
    assert not probe(generation)
    state = read_state(generation.parent)
    assert state is not None
    assert not state.clean


@pytest.mark.extended
def test_a_probe_notices_a_vector_that_finds_itself_but_is_not_what_it_was(store: SearchStore) -> None:
    generation = generation_in(store.folder)
    data = bytearray(file_in(generation, "data_level0.bin").read_bytes())
    start = 10 * (132 + 64 * 4 + 8) + 132  # of each row: its neighbours, its vector, its label
    vector = np.frombuffer(data, np.float32, count=64, offset=start).copy()
    assert np.linalg.norm(vector) == pytest.approx(1)
    data[start : start + 64 * 4] = (vector * 2).tobytes()
    file_in(generation, "data_level0.bin").write_bytes(data)
    assert not probe(generation)


def test_two_processes_at_once_leave_the_index_whole(whole: Whole, folder: Path, store: SearchStore) -> None:
    generation = generation_in(folder)
    index = opened(store)
    code, said = result_of(ask, folder, QUESTIONS)
    index.close()
    warning = "the vector index is in use by another process; searching SQLite directly"
    assert (code, said) == (0, [whole.answers, None, [warning], []])
    assert opened_once(store) == set(whole.ids)
    assert generation_in(folder) == generation


def test_an_undamaged_index_that_was_left_open_is_used_again(whole: Whole, folder: Path, store: SearchStore) -> None:
    generation = generation_in(folder)
    assert result_of(leave_open, folder)[0] == 0
    state = read_state(folder / "chroma")
    assert state is not None
    assert not state.clean
    assert opened_once(store) == set(whole.ids)
    assert generation_in(folder) == generation
