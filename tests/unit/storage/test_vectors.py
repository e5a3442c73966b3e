"""Packed vectors, and the order in which a vector index hears of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from asky.storage.database import Database
from asky.storage.scope import Scope
from asky.storage.vectors import Coverage, Pack, VectorTable
from tests.support.search_store import SearchStore

DIM = 4


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SearchStore]:
    opened = SearchStore(tmp_path)
    yield opened
    opened.close()


def document(store: SearchStore, name: str, chunks: int) -> int:
    source = store.add(name, *(f"Passage {number} of {name}." for number in range(chunks)))
    found = store.corpus.current_document(source.id)
    assert found is not None
    return found


def pack(document_id: int, ids: Sequence[int]) -> Pack:
    """Vectors that say whose they are."""
    rows = np.repeat(np.array(ids, dtype="<f4"), DIM)
    return Pack(document_id, np.array(ids, dtype="<i8").tobytes(), rows.tobytes())


def stored(store: SearchStore, space: int) -> list[tuple[int, float]]:
    """The chunks that have a vector, each with the first number of it, in order of insertion."""
    found = []
    for each in store.vectors.packs(space, Scope()):
        ids = np.frombuffer(each.chunk_ids, dtype="<i8")
        vectors = np.frombuffer(each.vectors, dtype="<f4").reshape(len(ids), DIM)
        found += list(zip(ids.tolist(), vectors[:, 0].tolist(), strict=True))
    return found


def test_a_vector_that_another_process_has_stored_meanwhile_is_not_stored_twice(store: SearchStore) -> None:
    one, space = document(store, "one", 4), store.vectors.space("fake", DIM)
    store.vectors.put(space, [pack(one, [1, 3])])
    store.vectors.put(space, [pack(one, [1, 2, 3, 4])])
    store.vectors.put(space, [pack(one, [4, 1])])
    assert stored(store, space) == [(1, 1.0), (3, 3.0), (2, 2.0), (4, 4.0)]
    assert store.vectors.coverage(space, store.scope) == Coverage(4, 4)
    heard = [np.frombuffer(each.chunk_ids, dtype="<i8").tolist() for each in store.vectors.outbox(space, limit=9)]
    assert heard == [[1, 3], [2, 4]]


def test_vectors_of_another_space_are_no_repetition(store: SearchStore) -> None:
    one = document(store, "one", 1)
    for name in ("first", "second"):
        store.vectors.put(store.vectors.space(name, DIM), [pack(one, [1])])
    assert [stored(store, store.vectors.space(name, DIM)) for name in ("first", "second")] == [[(1, 1.0)]] * 2


def test_vectors_of_a_document_that_is_gone_are_left_out(store: SearchStore) -> None:
    space = store.vectors.space("fake", DIM)
    store.vectors.put(space, [pack(77, [1])])
    assert stored(store, space) == []
    assert store.vectors.outbox(space, limit=9) == []


def test_the_index_hears_of_changes_in_their_order_however_few_it_takes_at_once(store: SearchStore) -> None:
    one, space = document(store, "one", 2), store.vectors.space("fake", DIM)
    store.vectors.put(space, [pack(one, [1, 2])])
    store.vectors.remove(space, store.scope)
    store.vectors.put(space, [pack(one, [1, 2])])
    heard = []
    while entries := store.vectors.outbox(space, limit=1):
        heard += [(each.operation, each.vectors is not None) for each in entries]
        store.vectors.acknowledge(entries)
    assert heard == [("add", False), ("delete", False), ("add", True)]


def bytes_read(path: Path, work: Callable[[VectorTable], object]) -> int:
    """How many bytes `work` reads of the store, of which nothing is in memory yet."""
    database = Database(path)
    with database.read() as connection:
        connection.execute("PRAGMA mmap_size=0")  # what is read through a map is not counted

    def so_far() -> int:
        return int(Path("/proc/self/io").read_text().split("rchar: ")[1].split()[0])

    before = so_far()
    work(VectorTable(database))
    spent = so_far() - before
    database.close()
    return spent


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="needs a system that counts what a process reads")
@pytest.mark.parametrize("chunks_each", [3, 20])
def test_counting_vectors_reads_none(store: SearchStore, chunks_each: int) -> None:
    dim, documents = 384, 600 // chunks_each
    space = store.vectors.space("long", dim)
    other = store.vectors.space("other", dim)
    with store.database.write():
        for number in range(documents):
            ids = store.documents.chunk_ids(document(store, str(number), chunks_each))
            one = Pack(number + 1, np.array(ids, dtype="<i8").tobytes(), np.ones((len(ids), dim), "<f4").tobytes())
            store.vectors.put(space, [one])
            store.vectors.put(other, [one])
    for scope in (Scope(), store.scope):
        everything = Coverage(600, 600)
        counted = bytes_read(store.database.path, lambda vectors, scope=scope: vectors.coverage(space, scope))
        all_of_them = bytes_read(store.database.path, lambda vectors, scope=scope: list(vectors.packs(space, scope)))
        assert store.vectors.coverage(space, scope) == everything
        assert all_of_them > 600 * dim * 4
        assert counted < all_of_them / 10
