"""What only a check-up asks of the store: whether it still says what was written to it. Nothing here writes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from asky.storage.database import Database

_FULL_TEXT = re.compile(r"\bFTS\d|fts\d|chunk_fts")
_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the store holds."""

    documents: int
    sources: int
    chunks: int
    runs: int


@dataclass(frozen=True, slots=True)
class SpaceState:
    """One embedding space: `vectors` chunks have a vector, `misshapen` packs have not the length that they should."""

    id: int
    fingerprint: str
    dim: int
    vectors: int
    misshapen: int


class StoreIntegrity:
    """Questions about the store as a whole. Each reads much of it."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def counts(self) -> Counts:
        """The number of rows of the main tables."""
        with self._db.read() as connection:
            tables = ("document", "source", "chunk", "run")
            return Counts(*(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables))

    def page_problems(self) -> list[str]:
        """What SQLite finds wrong with the file, at most 20 lines; the full-text index has a check of its own."""
        with self._db.read() as connection:
            rows = connection.execute(f"PRAGMA quick_check({_MOST_PROBLEMS})")
            found = [str(row[0]) for row in rows]
        return [each for each in found if each != "ok" and not _FULL_TEXT.search(each)]

    def broken_references(self) -> list[tuple[str, str, int]]:
        """`(table, the table it points at, number of rows)` where rows point at nothing, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                'SELECT "table", parent, count(*) AS n FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2'
            )
            return [(row["table"], row["parent"], row["n"]) for row in rows]

    def changed_documents(self) -> list[int]:
        """Ids of the documents whose text is not the one that was hashed, sorted; reads every text."""
        with self._db.read() as connection:
            documents = connection.execute("SELECT id, sha256, characters FROM document ORDER BY id").fetchall()
            return [
                row["id"]
                for row in documents
                if _digest(_blocks(self._db, row["id"])) != (row["sha256"], row["characters"])
            ]

    def lost_passages(self) -> list[tuple[str, str]]:
        """`(run id, key)` of the passages that lie outside of their document's text, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT p.run_id, p.key FROM passage AS p LEFT JOIN document AS d ON d.id = p.document_id"
                " WHERE d.id IS NULL OR p.start < 0 OR p.end > d.characters OR p.start > p.end ORDER BY 1, 2"
            )
            return [(row["run_id"], row["key"]) for row in rows]

    def spaces(self) -> list[SpaceState]:
        """The embedding spaces, the fullest first."""
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
        """Ids of the findings whose vector has not the length that it should, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT f.id FROM finding AS f LEFT JOIN space AS s ON s.id = f.space_id"
                " WHERE f.vector IS NOT NULL AND s.id IS NOT NULL AND length(f.vector) <> s.dim * 4 ORDER BY f.id"
            )
            return [row["id"] for row in rows]

    def chunk_ids(self) -> list[int]:
        """The ids of all chunks, in order."""
        with self._db.read() as connection:
            return [row["id"] for row in connection.execute("SELECT id FROM chunk ORDER BY id")]


def _blocks(database: Database, document_id: int) -> Iterator[str]:
    with database.read() as connection:
        rows = connection.execute("SELECT text FROM text_block WHERE document_id = ? ORDER BY ordinal", (document_id,))
        yield from (row["text"] for row in rows)


def _digest(blocks: Iterator[str]) -> tuple[str, int]:
    """The SHA-256 of a text, and its length in characters."""
    digest, characters = hashlib.sha256(), 0
    for block in blocks:
        digest.update(block.encode("utf-8", "surrogatepass"))
        characters += len(block)
    return digest.hexdigest(), characters
