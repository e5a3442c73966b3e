"""Faults to plant into a filled store under a home folder, one by one, and what a check-up says of each."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from asky.research.index.vector_index import open_index
from asky.storage.database import Database
from asky.storage.scope import Scope
from asky.storage.vectors import VectorTable


def build_index(home: Path) -> Path:
    """Make the Chroma index of the store and leave it clean; returns its generation's folder."""
    database = Database(home / "data" / "asky.db")
    table = VectorTable(database)
    index = open_index(home / "data" / "chroma", table, fingerprint="test-4", space_id=table.space("test-4", 4), dim=4)
    assert len(index) == table.coverage(table.space("test-4", 4), Scope()).embedded > 0
    index.close()
    database.close()
    (generation,) = (home / "data" / "chroma").glob("generation-*")
    return generation


def execute(home: Path, sql: str, *parameters: object) -> None:
    """Change the store behind its back."""
    connection = sqlite3.connect(home / "data" / "asky.db")
    with connection:
        connection.execute(sql, parameters)
    connection.close()


def cut(home: Path) -> None:
    path = home / "data" / "asky.db"
    os.truncate(path, path.stat().st_size // 2)


def overwrite(home: Path) -> None:
    (home / "data" / "asky.db").write_bytes(bytes(range(256)) * 40)


def scramble(home: Path) -> None:
    """Pages in the middle of the file become noise."""
    path = home / "data" / "asky.db"
    data = bytearray(path.read_bytes())
    data[8192 * 2 : 8192 * 12] = b"\xa5" * 8192 * 10
    path.write_bytes(bytes(data))


def of_another_program(home: Path) -> None:
    path = home / "data" / "asky.db"
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url)")
    connection.close()
    path.chmod(0o600)


def overwrite_pack(column: str, head: bytes) -> Callable[[Path], None]:
    """The first bytes of a pack's vectors or ids become `head`."""

    def plant(home: Path) -> None:
        connection = sqlite3.connect(home / "data" / "asky.db")
        with connection:
            (data,) = connection.execute(f"SELECT {column} FROM vector_pack").fetchone()
            connection.execute(f"UPDATE vector_pack SET {column} = ?", (head + data[len(head) :],))
        connection.close()

    return plant


def open_for_others(name: str, mode: int) -> Callable[[Path], None]:
    def plant(home: Path) -> None:
        place = home / name
        if name.endswith(".toml"):
            place.parent.mkdir(mode=0o700)
            place.write_text("")
        place.chmod(mode)

    return plant


def misspell(home: Path) -> None:
    (home / "config").mkdir(mode=0o700)
    (home / "config" / "research.toml").write_text("[research]\nmax_turn = 3\n")
    (home / "config" / "research.toml").chmod(0o600)


def forget_rows(home: Path) -> None:
    connection = sqlite3.connect(build_index(home) / "chroma.sqlite3")
    with connection:
        connection.execute("DELETE FROM embeddings WHERE embedding_id = '2'")
    connection.close()


def outdate_index(home: Path) -> None:
    """Runs are changed while SQLite does not know of an index of them."""
    index = ("type", "name", "tbl_name", "rootpage", "sql")
    execute(home, "PRAGMA journal_mode=DELETE")
    with closing(sqlite3.connect(home / "data" / "asky.db")) as connection, connection:
        connection.execute("PRAGMA writable_schema=ON")
        row = connection.execute(f"SELECT {', '.join(index)} FROM sqlite_master WHERE name = 'run_started'").fetchone()
        connection.execute("DELETE FROM sqlite_master WHERE name = 'run_started'")
    execute(home, "UPDATE run SET started_at = '2000-01-01T00:00:00.000000Z'")
    with closing(sqlite3.connect(home / "data" / "asky.db")) as connection, connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?,?,?,?,?)", row)
    execute(home, "PRAGMA journal_mode=WAL")


def lose_chroma(home: Path) -> None:
    (build_index(home) / "chroma.sqlite3").unlink()


def lose_generation(home: Path) -> None:
    shutil.rmtree(build_index(home))


def damage_note(home: Path) -> None:
    build_index(home)
    (home / "data" / "chroma" / "index.json").write_text('{"generation": "gen')


def inflate_graph(home: Path) -> None:
    segment = build_index(home) / "segment"
    segment.mkdir()
    with (segment / "link_lists.bin").open("wb") as file:
        file.truncate(2 << 20)


def flip_a_byte(home: Path) -> None:
    rows = build_index(home) / "chroma.sqlite3"
    content = bytearray(rows.read_bytes())
    content[60] ^= 1  # the version that a user of SQLite may set in its header
    rows.write_bytes(content)


# A name for each fault: how to plant it, the check that finds it, and a part of what that says.
FAULTS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "data folder open to others": (open_for_others("data", 0o755), "permissions", "others can open"),
    "store open to others": (open_for_others("data/asky.db", 0o644), "permissions", "asky.db (mode 0644)"),
    "configuration open to others": (
        open_for_others("config/models.toml", 0o666),
        "permissions",
        "others can change",
    ),
    "misspelt key": (misspell, "configuration", "max_turn"),
    "cut store": (cut, "store", "damaged"),
    "overwritten store": (overwrite, "store", "is not a database"),
    "noise in the store": (scramble, "store", "damaged"),
    "database of another program": (of_another_program, "store", "another program"),
    "newer schema": (lambda home: execute(home, "PRAGMA user_version=99"), "store", "schema 99"),
    "changed text": (
        lambda home: execute(home, "UPDATE text_block SET text = replace(text, 'moon', 'mood')"),
        "texts",
        "do not match the hash",
    ),
    "lost text": (lambda home: execute(home, "DELETE FROM text_block"), "texts", "do not match the hash"),
    "passage outside of its text": (
        lambda home: execute(home, "UPDATE passage SET end = 100000"),
        "texts",
        "outside of their text",
    ),
    "lost words": (
        lambda home: execute(home, "DELETE FROM chunk_fts_docsize WHERE id = 1"),
        "full-text index",
        "differs from the stored passages",
    ),
    "damaged words": (
        lambda home: execute(home, "DELETE FROM chunk_fts_data WHERE id > 10"),
        "full-text index",
        "differs from the stored passages",
    ),
    "lost titles": (
        lambda home: execute(home, "DELETE FROM source_name"),
        "titles",
        "differ from those of the stored sources",
    ),
    "row that its index lacks": (outdate_index, "tables", "missing from index run_started"),
    "text that is no UTF-8": (
        lambda home: execute(home, "UPDATE run SET question = CAST(x'ff41' AS TEXT)"),
        "rows",
        "it is not UTF-8",
    ),
    "answer of another shape": (
        lambda home: execute(home, "UPDATE run SET answer = '[1]'"),
        "rows",
        "it is not what asky writes there",
    ),
    "damaged step": (
        lambda home: execute(home, "INSERT INTO step SELECT id, 0, 'begun', '', x'00ff' FROM run"),
        "rows",
        "it cannot be unpacked",
    ),
    "altered answer": (
        lambda home: execute(home, "UPDATE run SET answer = json_set(answer, '$.answer', 'Thy moon [1].')"),
        "answers",
        "claim 1: the answer has different text at its offsets",
    ),
    "altered quote": (
        lambda home: execute(home, "UPDATE run SET answer = replace(answer, 'pulls on', 'pushes')"),
        "answers",
        "citation 1: the text at its offsets is not its quote",
    ),
    "dangling source": (
        lambda home: execute(home, "UPDATE source SET document_id = 77"),
        "references",
        "1 rows of source refer to a missing document",
    ),
    "vector that is not a number": (
        overwrite_pack("vectors", b"\0\0\xc0\x7f" * 4),
        "vectors",
        "1 vectors of test-4 are zero or not",
    ),
    "zero vector": (overwrite_pack("vectors", bytes(16)), "vectors", "1 vectors of test-4 are zero or not finite"),
    "short vectors": (
        lambda home: execute(home, "UPDATE vector_pack SET vectors = substr(vectors, 5)"),
        "vectors",
        "1 vector packs of test-4 have the wrong length",
    ),
    "vector of no passage": (
        overwrite_pack("chunk_ids", (99).to_bytes(8, "little")),
        "vectors",
        "1 vectors of test-4 belong to no passage",
    ),
    "vectors twice": (
        lambda home: execute(
            home,
            "INSERT INTO vector_pack(space_id, document_id, chunk_ids, vectors)"
            " SELECT space_id, document_id, chunk_ids, vectors FROM vector_pack",
        ),
        "vectors",
        "3 are duplicates",
    ),
    "short vector of a finding": (
        lambda home: execute(
            home,
            "INSERT INTO finding(text, trust, space_id, vector, created_at)"
            " SELECT 'x', 'user', id, x'00', '' FROM space",
        ),
        "vectors",
        "the vectors of 1 findings",
    ),
    "vector index without a passage": (forget_rows, "vector index", "lacks 1 of 3 passages"),
    "vector index without its rows": (lose_chroma, "vector index", "rows cannot be read"),
    "vector index gone": (lose_generation, "vector index", "is missing"),
    "vector index without its note": (damage_note, "vector index", "missing or damaged"),
    "vector index flipped": (flip_a_byte, "vector index", "its files have changed since it was closed"),
    "vector index grown": (inflate_graph, "vector index", "far larger than it should be"),
}
