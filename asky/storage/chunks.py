"""Chunks for retrieval: looked up by id, with their text, document and source."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from asky.storage.corpus import source_of
from asky.storage.database import Database
from asky.storage.scope import Scope
from asky.values import Source, Span


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with its text, and the position of that text in its document."""

    id: int
    document_id: int
    ordinal: int
    span: Span
    context: str
    text: str


class ChunkTable:
    """Read access to chunks."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def fetch(self, chunk_ids: Sequence[int]) -> dict[int, StoredChunk]:
        """Return the chunks that still exist, by id."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT c.id, c.document_id, c.ordinal, c.start, c.end, c.context, t.text FROM chunk AS c"
                " JOIN chunk_text AS t ON t.id = c.id WHERE c.id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(chunk_ids)),),
            )
            return {
                row["id"]: StoredChunk(
                    row["id"],
                    row["document_id"],
                    row["ordinal"],
                    Span(row["start"], row["end"]),
                    row["context"],
                    row["text"],
                )
                for row in rows
            }

    def documents_of(self, chunk_ids: Sequence[int]) -> dict[int, int]:
        """Map chunk id to document id, for the chunks that still exist."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT id, document_id FROM chunk WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(chunk_ids)),),
            )
            return {row["id"]: row["document_id"] for row in rows}

    def documents_in(self, scope: Scope) -> list[int]:
        """Return the ids of the documents in scope, in no order, some perhaps twice."""
        documents, parameters = scope.documents()
        with self._db.read() as connection:
            return [row[0] for row in connection.execute(documents, parameters)]

    def is_everything(self, scope: Scope) -> bool:
        """Return whether the scope includes every source of the store; searching is then cheaper unfiltered."""
        if scope.sources is not None:
            return False
        if scope.collections is None:
            return True
        marks = ",".join("?" * len(scope.collections))
        inside = f"SELECT count(DISTINCT source_id) FROM collection_source WHERE collection_id IN ({marks})"
        with self._db.read() as connection:
            total = connection.execute("SELECT count(*) FROM source").fetchone()[0]
            return bool(connection.execute(inside, scope.collections).fetchone()[0] == total)

    def count(self, scope: Scope) -> int:
        """Return the number of chunks in scope."""
        return self._number("count(*)", scope)

    def newest(self, scope: Scope) -> int:
        """Return the highest chunk id in scope, 0 if there is none: chunks added later have higher ids."""
        return self._number("coalesce(max(id), 0)", scope)

    def _number(self, what: str, scope: Scope) -> int:
        sql, parameters = f"SELECT {what} FROM chunk", list[object]()
        if scope != Scope():
            documents, parameters = scope.documents()
            sql += f" WHERE document_id IN ({documents})"
        with self._db.read() as connection:
            return int(connection.execute(sql, parameters).fetchone()[0])

    def sources_of(self, document_ids: Sequence[int], scope: Scope) -> dict[int, Source]:
        """Return the source of each document in scope; of several with the same document the first by URI."""
        return {document: sources[0] for document, sources in self.all_sources_of(document_ids, scope).items()}

    def all_sources_of(self, document_ids: Sequence[int], scope: Scope) -> dict[int, list[Source]]:
        """Return the sources in scope of each document that has one, ordered by URI."""
        in_scope, parameters = scope.rows()
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT DISTINCT s.* {in_scope} AND s.document_id IN (SELECT value FROM json_each(?)) ORDER BY s.uri",
                [*parameters, json.dumps(list(document_ids))],
            )
            found: dict[int, list[Source]] = {}
            for row in rows:
                found.setdefault(row["document_id"], []).append(source_of(row))
            return found

    def hashes_of(self, document_ids: Sequence[int]) -> dict[int, str]:
        """Return the SHA-256 of the text of each document that still exists: equal ones have the same text."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT id, sha256 FROM document WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(document_ids)),),
            )
            return {row["id"]: row["sha256"] for row in rows}
