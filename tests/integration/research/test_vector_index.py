"""Chroma as an index: it follows SQLite, it is checked, and it is made anew when it cannot be trusted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from chromadb.config import Settings

from asky.config.schema import Retrieval
from asky.errors import StorageError
from asky.events import StageAdvanced, StageFinished, StageStarted, Warned
from asky.research.index.vector_index import open_index
from asky.storage.vectors import Pack
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore

CHROMA = Retrieval(engine="chroma")
WORDS = ["moon", "sea", "tide", "bread", "yeast", "flour", "stone", "river", "cloud", "rain", "wind", "snow"]


def filled(folder: Path, *, settings: Retrieval = CHROMA) -> SearchStore:
    store = SearchStore(folder, settings=settings)
    for number, word in enumerate(WORDS):
        store.add(word, f"{word} is thing number {number}", f"more of {word} and {WORDS[number - 1]}")
    store.search.store_chunk_embeddings(store.scope)
    return store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SearchStore]:
    opened = filled(tmp_path)
    yield opened
    opened.close()


def ids_in_sqlite(store: SearchStore) -> set[int]:
    with store.database.read() as connection:
        return {row["id"] for row in connection.execute("SELECT id FROM chunk")}


def ids_in_index(store: SearchStore) -> set[int]:
    embedder = store.search.embedder()
    assert embedder is not None
    index = store.search.index(embedder)
    assert index is not None
    index.follow()
    return index.ids()


def warnings(store: SearchStore) -> list[str]:
    """What a run would keep: each warning once."""
    return list(dict.fromkeys(each.message for each in store.heard if isinstance(each, Warned)))


def test_both_engines_rank_alike(tmp_path: Path) -> None:
    chroma = filled(tmp_path / "chroma")
    exact = filled(tmp_path / "exact", settings=Retrieval(engine="exact"))
    for word in WORDS:
        assert chroma.found(f"number of {word}", limit=5)[:2] == exact.found(f"number of {word}", limit=5)[:2]
    assert (tmp_path / "chroma" / "chroma" / "index.json").exists()
    assert not (tmp_path / "exact" / "chroma").exists()
    chroma.close()
    exact.close()


def test_the_index_follows_what_was_added_and_removed(store: SearchStore) -> None:
    assert ids_in_index(store) == ids_in_sqlite(store)
    gone = store.add("late", "a late comer")
    store.search.store_chunk_embeddings(store.scope)
    assert ids_in_index(store) == ids_in_sqlite(store)
    store.corpus.remove_sources(store.collection, [gone.id])
    assert ids_in_index(store) == ids_in_sqlite(store)
    assert store.found("late comer", limit=1) != ["/late"]


def test_the_index_holds_ids_and_vectors_and_says_whose_they_are(tmp_path: Path, store: SearchStore) -> None:
    import chromadb

    ids = ids_in_index(store)
    store.search.close()
    generation = next((tmp_path / "chroma").glob("generation-*"))
    client = chromadb.PersistentClient(path=str(generation), settings=Settings(anonymized_telemetry=False))
    collection = client.get_collection("content_chunks", embedding_function=None)
    held = collection.get(include=["documents", "metadatas", "embeddings", "uris"])
    assert {int(each) for each in held["ids"]} == ids
    assert len(held["embeddings"]) == len(ids)
    assert {*held["documents"], *held["metadatas"], *held["uris"]} == {None}
    embedder = store.search.embedder()
    assert embedder is not None
    assert collection.metadata == {"space": store.search.space(embedder), "fingerprint": embedder.fingerprint}
    client.close()


@pytest.mark.extended
def test_an_index_that_fails_at_work_is_said_once_and_sqlite_answers(tmp_path: Path, store: SearchStore) -> None:
    import chromadb

    assert ids_in_index(store) == ids_in_sqlite(store)
    generation = next((tmp_path / "chroma").glob("generation-*"))
    behind_its_back = chromadb.PersistentClient(path=str(generation), settings=Settings(anonymized_telemetry=False))
    behind_its_back.delete_collection("content_chunks")
    behind_its_back.close()
    for word in WORDS[:2]:
        assert store.found(f"number of {word}")
    assert len([each for each in warnings(store) if "searching SQLite directly" in each]) == 1
    store.search.close()
    next_time = SearchStore(tmp_path, settings=CHROMA)
    assert ids_in_index(next_time) == ids_in_sqlite(next_time)
    next_time.close()


def test_a_second_process_searches_sqlite_directly(tmp_path: Path, store: SearchStore) -> None:
    assert store.found("moon", limit=1) == ["/moon"]
    second = SearchStore(tmp_path, settings=CHROMA)
    assert second.found("moon", limit=1) == ["/moon"]
    assert second.found("bread", limit=1) == ["/bread"]
    assert [each for each in warnings(second) if "vector index is in use" in each] == [
        "the vector index is in use by another process; searching SQLite directly"
    ]
    second.close()


_KILLED = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from tests.support.search_store import SearchStore
    from asky.config.schema import Retrieval

    store = SearchStore(Path(sys.argv[1]), settings=Retrieval(engine="chroma"))
    first = int(sys.argv[2])
    for number in range(first, first + 400):
        store.add(f"doc{number}", f"document {number} about word{number % 97} and word{number % 31}")
        store.search.store_chunk_embeddings(store.scope)
        embedder = store.search.embedder()
        store.search.index(embedder).follow()
        print(number, flush=True)
    """
)


@pytest.mark.extended
@pytest.mark.slow
def test_a_kill_while_writing_costs_nothing(tmp_path: Path) -> None:
    acknowledged: list[int] = []
    for round_number in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(tmp_path), str(round_number * 1000)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        assert process.stdout is not None
        for _ in range(25 + 10 * round_number):
            acknowledged.append(int(process.stdout.readline()))
        process.send_signal(signal.SIGKILL)
        process.stdout.close()
        process.wait()
    store = SearchStore(tmp_path, settings=CHROMA)
    assert ids_in_index(store) == ids_in_sqlite(store) - unembedded(store)
    for number in acknowledged:
        assert f"/doc{number}" in store.found(f"document {number}", limit=100)
    store.close()


_BUILDING = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from tests.integration.research.test_vector_index import large
    from asky.research.index.vector_index import open_index

    def stop(done, total):
        print(done, total, flush=True)
        sys.stdin.read()

    store = large(Path(sys.argv[1]))
    space = store.vectors.space("fake-8", 8)
    open_index(store.folder / "chroma", store.vectors, fingerprint="fake-8", space_id=space, dim=8, progress=stop)
    """
)


def large(folder: Path) -> SearchStore:
    return SearchStore(folder, settings=CHROMA, embedder=FakeEmbedder(dim=8, fingerprint="fake-8"))


@pytest.mark.extended
@pytest.mark.slow
def test_building_shows_progress_goes_on_after_a_kill_and_others_search_meanwhile(tmp_path: Path) -> None:
    count, first_batch = 14_000, 2_000
    store = large(tmp_path)
    store.add("moon", *(f"moon {number}" for number in range(count)))
    chunks = np.array(store.documents.chunk_ids(1), dtype="<i8")
    space = store.vectors.space("fake-8", 8)
    vectors = np.random.default_rng(1).normal(size=(count, 8)).astype("<f4")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for start in range(0, count, 500):
        part = slice(start, start + 500)
        store.vectors.put(space, [Pack(1, chunks[part].tobytes(), vectors[part].tobytes())])
    process = subprocess.Popen(
        [sys.executable, "-c", _BUILDING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f"{first_batch} {count}\n"
    assert store.found("moon", limit=1) == ["/moon"]
    assert warnings(store) == ["the vector index is in use by another process; searching SQLite directly"]
    process.kill()
    process.communicate()
    store.close()
    (generation,) = (tmp_path / "chroma").glob("generation-*")

    store = large(tmp_path)
    embedder = store.search.embedder()
    assert embedder is not None
    index = store.search.index(embedder)
    assert index is not None
    assert len(index) == count
    assert list((tmp_path / "chroma").glob("generation-*")) == [generation]
    started, *advanced, finished = [each for each in store.heard if type(each).__name__.startswith("Stage")]
    assert started == StageStarted("building the vector index", count - first_batch)
    assert advanced[-1] == StageAdvanced("building the vector index", count - first_batch, count - first_batch)
    assert isinstance(finished, StageFinished)
    assert finished.summary == f"{count - first_batch:,} passages"
    store.close()


def unembedded(store: SearchStore) -> set[int]:
    space = store.vectors.space("fake-64-1", 64)
    return {
        id_
        for document in store.vectors.incomplete_documents(space, store.scope)
        for id_ in store.documents.chunk_ids(document)
    }


def test_an_index_of_another_model_is_made_anew(tmp_path: Path, store: SearchStore) -> None:
    store.found("moon")
    store.close()
    space = store.vectors.space("other", 64)
    index = open_index(tmp_path / "chroma", store.vectors, fingerprint="other", space_id=space, dim=64)
    assert len(index) == 0
    index.close()


def test_a_folder_that_cannot_be_used_is_an_error_that_search_survives(tmp_path: Path) -> None:
    (tmp_path / "chroma").write_text("a file where the folder should be")
    store = filled(tmp_path)
    with pytest.raises(StorageError):
        open_index(tmp_path / "chroma", store.vectors, fingerprint="fake-64-1", space_id=1, dim=64)
    assert store.found("moon", limit=1) == ["/moon"]
    assert any("searching SQLite directly" in each for each in warnings(store))
    store.close()
