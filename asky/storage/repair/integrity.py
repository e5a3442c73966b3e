"""Integrity queries on the whole store: is it still what was written to it? Only `rebuild_indexes` writes."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from asky.errors import StoreDamaged
from asky.storage.database import Database
from asky.storage.migrations import MIGRATIONS
from asky.storage.stored_json import ANSWER, stored_json

_FULL_TEXT = re.compile(r"\bFTS\d|fts\d|chunk_fts")
_OF_ROWS = re.compile(r"\bindex \w+$|PRIMARY KEY order|value in \w+\.|CHECK constraint failed")
_MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of rows of the main tables."""

    documents: int
    sources: int
    chunks: int
    runs: int


@dataclass(frozen=True, slots=True)
class FileProblems:
    """The problems of the file's pages, and those of single rows and their indexes, one line each."""

    of_pages: tuple[str, ...]
    of_rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpaceState:
    """One embedding space: `vectors` chunks have a vector; the length of `misshapen` packs is wrong."""

    id: int
    fingerprint: str
    dim: int
    vectors: int
    misshapen: int


class StoreIntegrity:
    """Queries on the store as a whole. Each reads a large part of it."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def counts(self) -> Counts:
        """Return the numbers of rows of the main tables."""
        with self._db.read() as connection:
            tables = ("document", "source", "chunk", "run")
            return Counts(*(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables))

    def file_problems(self) -> FileProblems:
        """Return what SQLite finds wrong with the file, at most 20 lines; the full-text index has a separate check."""
        with self._db.read() as connection:
            rows = connection.execute(f"PRAGMA integrity_check({_MAX_PROBLEMS})")
            found = [str(row[0]) for row in rows]
        found = [each for each in found if each != "ok" and not _FULL_TEXT.search(each)]
        of_rows = tuple(each for each in found if _OF_ROWS.search(each))
        return FileProblems(tuple(each for each in found if each not in of_rows), of_rows)

    def rebuild_indexes(self) -> None:
        """Rebuild the indexes of all tables. Raises `StorageError` if the rows violate one of them."""
        with self._db.write() as connection:
            connection.execute("REINDEX")

    def schema_problems(self) -> list[str]:
        """Return the tables, indexes, views and triggers that differ from asky's own, sorted.

        SQLite itself detects only definitions that it cannot parse. The full-text index's internal tables are ignored:
        they depend on the version of SQLite.
        """
        made = sqlite3.connect(":memory:")
        try:
            for migrate in MIGRATIONS:
                migrate(made)
            wanted = _schema(made)
        finally:
            made.close()
        with self._db.read() as connection:
            found = _schema(connection)
        return sorted(f"{kind} {name}" for kind, name in dict(wanted.items() ^ found.items()))

    def broken_references(self) -> list[tuple[str, str, int]]:
        """Return `(table, referenced table, number of rows)` for rows that refer to missing rows, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                'SELECT "table", parent, count(*) AS n FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2'
            )
            return [(row["table"], row["parent"], row["n"]) for row in rows]

    def changed_documents(self) -> list[int]:
        """Return the ids of documents whose text no longer matches its hash, sorted. Reads every text."""
        with self._db.read() as connection:
            documents = connection.execute(
                "SELECT id, CAST(sha256 AS BLOB) AS sha256, characters FROM document ORDER BY id"
            ).fetchall()
        return [row["id"] for row in documents if not self._is_unchanged(row)]

    def _is_unchanged(self, row: sqlite3.Row) -> bool:
        try:
            digest, characters = _digest(_blocks(self._db, row["id"]))
        except StoreDamaged:  # a part of it is not valid text
            return False
        return (digest.encode(), characters) == (row["sha256"], row["characters"])

    def answers(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the id and the answer of each run that has one, in order; unreadable answers are left out."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT rowid FROM run WHERE answer > '' ORDER BY rowid").fetchall()
        for row in rows:
            try:
                with self._db.read() as connection:
                    found = connection.execute("SELECT id, answer FROM run WHERE rowid = ?", (row["rowid"],)).fetchone()
                answer = stored_json(found["answer"], ANSWER, "an answer") if found is not None else None
            except StoreDamaged:
                continue
            if answer is not None:
                yield found["id"], answer

    def documents_by_hash(self) -> dict[str, int]:
        """Return the id of a document for the SHA-256 of each text."""
        with self._db.read() as connection:
            return {row["sha256"]: row["id"] for row in connection.execute("SELECT id, sha256 FROM document")}

    def lost_passages(self) -> list[tuple[str, str]]:
        """Return `(run id, key)` of the passages that lie outside of their document's text, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT p.run_id, p.key FROM passage AS p LEFT JOIN document AS d ON d.id = p.document_id"
                " WHERE d.id IS NULL OR p.start < 0 OR p.end > d.characters OR p.start > p.end ORDER BY 1, 2"
            )
            return [(row["run_id"], row["key"]) for row in rows]

    def spaces(self) -> list[SpaceState]:
        """Return the embedding spaces, those with the most vectors first."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT s.id, s.fingerprint, s.dim, coalesce(sum(length(p.chunk_ids)) / 8, 0) AS vectors,"
                " count(p.id) FILTER (WHERE length(p.chunk_ids) % 8 <> 0"
                "  OR length(p.vectors) <> length(p.chunk_ids) / 8 * s.dim * 4) AS misshapen"
                " FROM space AS s LEFT JOIN vector_pack AS p ON p.space_id = s.id"
                " GROUP BY s.id ORDER BY vectors DESC, s.id"
            )
            return [SpaceState(*row) for row in rows]

    def misshapen_findings(self) -> list[int]:
        """Return the ids of findings whose vector has the wrong length, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT f.id FROM finding AS f LEFT JOIN space AS s ON s.id = f.space_id"
                " WHERE f.vector IS NOT NULL AND s.id IS NOT NULL AND length(f.vector) <> s.dim * 4 ORDER BY f.id"
            )
            return [row["id"] for row in rows]

    def chunk_ids(self) -> list[int]:
        """Return the ids of all chunks, in order."""
        with self._db.read() as connection:
            return [row["id"] for row in connection.execute("SELECT id FROM chunk ORDER BY id")]


def _schema(connection: sqlite3.Connection) -> dict[tuple[str, str], bytes]:
    rows = connection.execute(
        "SELECT type, CAST(name AS BLOB), CAST(coalesce(sql, '') AS BLOB) FROM sqlite_master"
        " WHERE name NOT GLOB 'sqlite_*' AND name NOT GLOB 'chunk_fts_*'"
    )
    return {(kind, name.decode("utf-8", "replace")): sql for kind, name, sql in rows}


def _blocks(database: Database, document_id: int) -> Iterator[str]:
    with database.read() as connection:
        rows = connection.execute("SELECT text FROM text_block WHERE document_id = ? ORDER BY ordinal", (document_id,))
        yield from (row["text"] for row in rows)


def _digest(blocks: Iterator[str]) -> tuple[str, int]:
    """Return the SHA-256 of a text and its length in characters."""
    digest, characters = hashlib.sha256(), 0
    for block in blocks:
        digest.update(block.encode("utf-8", "surrogatepass"))
        characters += len(block)
    return digest.hexdigest(), characters
