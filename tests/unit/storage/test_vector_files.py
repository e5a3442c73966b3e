"""Files of vectors that processes share: the same vectors as in the store, whatever happens to either."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from asky.research.index.matrix import matrix_of
from asky.research.vector_store_common import join_packs
from asky.storage.scope import Scope
from asky.storage.vector_files import MIN_ROWS, VectorBlock, VectorFiles
from asky.storage.vectors import Pack
from tests.support.asky_command import run_python
from tests.support.search_store import SearchStore

DIM = 4
EACH = MIN_ROWS // 4


class World:
    """A store whose documents have a pack of `EACH` vectors each, numbered from 1 in one sequence."""

    def __init__(self, folder: Path) -> None:
        self.store = SearchStore(folder)
        self.space = self.store.vectors.space("fake", DIM)
        self.documents: list[int] = []
        self.count = 0

    def add(self, documents: int, vectors: int = EACH) -> None:
        for _ in range(documents):
            source = self.store.add(f"document {len(self.documents)}", f"text {len(self.documents)} {self.count}")
            document = self.store.corpus.current_document(source.id)
            assert document is not None
            numbers = np.arange(self.count + 1, self.count + 1 + vectors)
            rows = np.sin(np.outer(numbers, np.arange(1, DIM + 1))).astype("<f4")
            self.store.vectors.put(self.space, [Pack(document, numbers.astype("<i8").tobytes(), rows.tobytes())])
            self.documents.append(document)
            self.count += vectors

    def remove(self, document: int) -> None:
        with self.store.database.write() as connection:
            connection.execute("UPDATE source SET document_id = NULL WHERE document_id = ?", (document,))
            connection.execute("DELETE FROM document WHERE id = ?", (document,))

    def files(self) -> list[Path]:
        return sorted((self.store.folder / "vectors").rglob("*.vectors"))

    def process(self) -> VectorFiles:
        """The files as another process opens them."""
        return VectorFiles(self.store.folder / "vectors", self.store.database)

    def check(self, blocks: Sequence[VectorBlock]) -> None:
        """Fail unless the blocks hold what the store does."""
        ids, vectors = join_packs(self.store.vectors.packs(self.space, Scope()), DIM)
        found = matrix_of(blocks, DIM, None)
        seen = found.ids >= 0
        assert found.ids[seen].tolist() == ids.tolist()
        assert np.array_equal(np.concatenate(found.parts)[seen] if len(found.ids) else vectors, vectors)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.store.close()


def packs_read(world: World, files: VectorFiles) -> tuple[list[VectorBlock], int]:
    """The blocks, and how many packs' vectors were read from SQLite for them."""
    statements: list[str] = []
    with world.store.database.read() as connection:
        connection.set_trace_callback(statements.append)
        blocks = files.blocks(world.space)
        connection.set_trace_callback(None)
        ranges = [each.partition(" AND id > ")[2] for each in statements if "chunk_ids, vectors" in each]
        count = sum(
            connection.execute(f"SELECT count(*) FROM vector_pack WHERE id > {each}").fetchone()[0] for each in ranges
        )
    return blocks, count


def test_few_vectors_make_no_file(world: World) -> None:
    world.add(3)
    blocks = world.process().blocks(world.space)
    world.check(blocks)
    assert world.files() == []
    assert [block.is_mapped for block in blocks] == [False]


def test_the_second_process_maps_what_the_first_has_written_and_reads_no_vector(world: World) -> None:
    world.add(4)
    world.check(world.process().blocks(world.space))
    (file,) = world.files()
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (file, file.parent, file.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]
    blocks, read = packs_read(world, world.process())
    world.check(blocks)
    assert read == 0
    assert [block.is_mapped for block in blocks] == [True]


def test_what_is_added_is_read_from_the_store_until_it_is_worth_a_file(world: World) -> None:
    world.add(4)
    files = world.process()
    files.blocks(world.space)
    world.add(1)
    blocks, read = packs_read(world, files)
    world.check(blocks)
    assert (read, len(world.files())) == (1, 1)
    before = world.files()[0].stat()
    world.add(3)
    world.check(files.blocks(world.space))
    assert len(world.files()) == 2
    assert world.files()[0].stat().st_mtime_ns == before.st_mtime_ns
    blocks, read = packs_read(world, world.process())
    world.check(blocks)
    assert read == 0


def test_removed_vectors_are_overwritten_in_the_file_that_others_are_reading(world: World) -> None:
    world.add(5)
    reading = world.process()
    (block,) = reading.blocks(world.space)
    removed = np.frombuffer(block.vectors, "<f4")[EACH * DIM : 2 * EACH * DIM].tobytes()
    (file,) = world.files()
    assert removed in file.read_bytes()
    world.remove(world.documents[1])
    world.process().forget_removed()
    assert removed[:64] not in file.read_bytes()
    ids = np.frombuffer(block.ids, "<i8")
    assert set(ids[EACH : 2 * EACH].tolist()) == {-1}
    blocks, read = packs_read(world, reading)
    world.check(blocks)
    assert read == 0
    assert matrix_of(blocks, DIM, None).nearest(np.ones(DIM, "<f4"), 10**6)[-1] > 0


def test_a_search_overwrites_what_a_killed_process_has_removed(world: World) -> None:
    world.add(5)
    world.process().blocks(world.space)
    world.remove(world.documents[0])
    blocks, read = packs_read(world, world.process())
    world.check(blocks)
    assert read == 0
    assert not np.frombuffer(blocks[0].vectors, "<f4")[: EACH * DIM].any()


def test_a_file_of_nothing_is_deleted(world: World) -> None:
    world.add(4)
    world.process().blocks(world.space)
    for document in world.documents:
        world.remove(document)
    world.process().forget_removed()
    assert world.files() == []
    world.check(world.process().blocks(world.space))


def test_a_store_that_was_restored_and_went_another_way_does_not_get_the_others_vectors(tmp_path: Path) -> None:
    world = World(tmp_path / "store")
    world.add(4)
    world.store.close()
    shutil.copytree(tmp_path / "store", tmp_path / "backup")
    world.add(2)
    world.process().blocks(world.space)
    world.store.close()
    shutil.copytree(tmp_path / "store" / "vectors", tmp_path / "backup" / "vectors")
    restored = World(tmp_path / "backup")
    restored.documents, restored.count = world.documents[:4], 10 * MIN_ROWS
    restored.add(2)  # packs with the ids of the other two
    blocks = restored.process().blocks(restored.space)
    restored.check(blocks)
    assert all(block.is_mapped for block in blocks)
    restored.store.close()


@pytest.mark.parametrize("damage", ["cut", "header", "empty", "twice"])
def test_a_damaged_file_is_made_again(world: World, damage: str) -> None:
    world.add(4)
    world.process().blocks(world.space)
    (file,) = world.files()
    whole = file.read_bytes()
    changed = {"cut": whole[:-8], "header": b"\0" * 9 + whole[9:], "empty": b"", "twice": whole}[damage]
    file.write_bytes(changed)
    if damage == "twice":
        file.with_name(f"f{file.name}").write_bytes(whole)
    blocks = world.process().blocks(world.space)
    world.check(blocks)
    assert [block.is_mapped for block in blocks] == [True]
    assert [each.read_bytes() for each in world.files()] == [whole]


def test_where_no_file_can_be_written_the_vectors_are_read_into_memory(world: World) -> None:
    world.add(4)
    (world.store.folder / "vectors").write_text("in the way")
    blocks = world.process().blocks(world.space)
    world.check(blocks)
    assert [block.is_mapped for block in blocks] == [False]
    world.process().forget_removed()


FULL = """
import resource, signal, sys
from pathlib import Path
from asky.storage.database import Database
from asky.storage.vector_files import VectorFiles
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
database = Database(Path(sys.argv[1]) / "asky.db")
blocks = VectorFiles(Path(sys.argv[1]) / "vectors", database).blocks(1)
print(sum(len(each.ids) // 8 for each in blocks), [each.is_mapped for each in blocks])
"""


def test_a_disk_that_fills_up_meanwhile_costs_the_file_only(world: World) -> None:
    world.add(4)
    done = run_python(("-c", FULL, str(world.store.folder)), home=world.store.folder)
    assert done.stdout.split(maxsplit=1) == [str(MIN_ROWS), "[False]\n"], done.stderr
    assert [each.name for each in (world.store.folder / "vectors").rglob("*") if each.is_file()] == ["lock"]


SEARCHING = """
import sys
from pathlib import Path
from zlib import crc32
from asky.storage.database import Database
from asky.storage.vector_files import VectorFiles
database = Database(Path(sys.argv[1]) / "asky.db")
blocks = VectorFiles(Path(sys.argv[1]) / "vectors", database).blocks(1)
print([(crc32(each.vectors), crc32(each.ids), each.is_mapped) for each in blocks])
"""


def test_several_processes_that_need_the_files_at_once_write_them_once(world: World) -> None:
    world.add(8)
    command = [sys.executable, "-c", SEARCHING, str(world.store.folder)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {process.communicate()[0] for process in started}
    assert [process.returncode for process in started] == [0] * 4
    assert len(said) == 1
    assert "False" not in said.pop()
    world.check(world.process().blocks(world.space))


def test_what_a_killed_writer_has_left_is_cleared_away(world: World) -> None:
    world.add(4)
    world.process().blocks(world.space)
    (file,) = world.files()
    left = file.with_name(f"{file.name}.new")
    file.rename(left)
    world.check(world.process().blocks(world.space))
    assert [each.name for each in world.files()] == [file.name]
    assert not left.exists()


def test_the_vectors_of_some_documents_are_chosen_among_those_of_all(world: World) -> None:
    world.add(8)
    world.add(2, 10)
    blocks = world.process().blocks(world.space)
    chosen = [world.documents[2], world.documents[3], world.documents[9]]
    query = np.array([0.5, -0.1, 0.3, 0.9], dtype="<f4")
    matrix = matrix_of(blocks, DIM, chosen)
    ids, vectors = [*range(2 * EACH + 1, 4 * EACH + 1), *range(8 * EACH + 11, 8 * EACH + 21)], []
    assert len(matrix) == len(ids)
    for pack in world.store.vectors.packs_of(world.space, chosen):
        vectors.append(np.frombuffer(pack.vectors, "<f4").reshape(-1, DIM))
    expected = np.concatenate(vectors) @ query
    order = np.argsort(-expected, kind="stable")[:50]
    assert matrix.nearest(query, 50) == [ids[at] for at in order]
    found, rows = matrix.rows_of(np.array([ids[0], ids[-1], 1]))
    assert found.tolist() == [ids[0], ids[-1]]
    assert np.array_equal(rows, np.concatenate(vectors)[[0, -1]])
    assert matrix_of(blocks, DIM, []).nearest(query, 5) == []


def test_clearing_deletes_the_files_and_leaves_the_vectors(world: World) -> None:
    world.add(4)
    files = world.process()
    files.blocks(world.space)
    files.clear()
    assert world.files() == []
    world.check(files.blocks(world.space))
    assert len(world.files()) == 1
