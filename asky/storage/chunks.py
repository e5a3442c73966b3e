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
        in_scope, parameters = scope.rows()
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT DISTINCT s.* {in_scope} AND s.document_id IN (SELECT value FROM json_each(?))"
                " ORDER BY s.uri DESC",
                [*parameters, json.dumps(list(document_ids))],
            )
            return {row["document_id"]: source_of(row) for row in rows}

    def holders_of(
        self, document_ids: Sequence[int], candidates: Sequence[int], scope: Scope
    ) -> dict[int, tuple[Source, tuple[Source, ...]]]:
        """Return the source of each document as `sources_of` does, and the other sources in scope with its text.

        The others are ordered by URI. Documents with the same text are looked for among `candidates`, which include
        `document_ids`: those of one text differ in their titles.
        """
        in_scope, parameters = scope.rows()
        same_text = (
            "SELECT id FROM document WHERE id IN (SELECT value FROM json_each(?))"
            " AND sha256 IN (SELECT sha256 FROM document WHERE id IN (SELECT value FROM json_each(?)))"
        )
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT DISTINCT s.*, (SELECT sha256 FROM document WHERE id = s.document_id) AS text_hash"
                f" {in_scope} AND s.document_id IN ({same_text}) ORDER BY s.uri",
                [*parameters, json.dumps(list(candidates)), json.dumps(list(document_ids))],
            ).fetchall()
        first: dict[int, tuple[Source, str]] = {}
        by_text: dict[str, list[Source]] = {}
        for row in rows:
            source = source_of(row)
            first.setdefault(row["document_id"], (source, row["text_hash"]))
            by_text.setdefault(row["text_hash"], []).append(source)
        wanted = set(document_ids)
        return {
            document: (source, tuple(each for each in by_text[text] if each.id != source.id))
            for document, (source, text) in first.items()
            if document in wanted
        }
