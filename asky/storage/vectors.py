"""Embedding spaces, packed vectors, and the outbox of changes that a vector index has not applied yet.

A space is everything that makes two vectors comparable, named by the embedder's fingerprint. Vectors are bytes here:
little-endian int64 chunk ids and float32 rows, in the same order, some chunks of one document per pack.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from asky.storage.database import PAGE_BYTES, Database
from asky.storage.scope import Scope

_ROW_OVERHEAD_BYTES = 24  # per row in its page: the record's header, the key, the pointer
_FIFTH_OF_A_PAGE = PAGE_BYTES // 5 - _ROW_OVERHEAD_BYTES
_SMALL_PACK_BYTES = 2 * PAGE_BYTES
_STAMP = "random() & 4294967295"  # 32 bits: the sum over 2 billion packs is an integer of SQLite


@dataclass(frozen=True, slots=True)
class Pack:
    """Vectors of some chunks of one document: `chunk_ids` int64[n] and `vectors` float32[n, dim], as bytes."""

    document_id: int
    chunk_ids: bytes
    vectors: bytes


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """One change to apply to the vector index.

    `chunk_ids` is int64[n] and `vectors` float32[n, dim], as bytes; `vectors` is `None` for a deletion, and for an
    addition that has been deleted again.
    """

    id: int
    operation: Literal["add", "delete"]
    chunk_ids: bytes
    vectors: bytes | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of `chunks` in scope, and of those that are `embedded`: that have a vector in a space."""

    chunks: int
    embedded: int


class VectorTable:
    """The repository of vectors: the source of truth for every vector index."""

    def __init__(self, database: Database) -> None:
        self._db = database

    @property
    def read_only(self) -> bool:
        """Return whether no vector can be stored, because the store is read-only."""
        return self._db.read_only

    def space(self, fingerprint: str, dim: int) -> int:
        """Return the id of an embedder's space, created on first use; 0, never a real id, in a read-only store."""
        with self._db.read() as connection:
            row = connection.execute("SELECT id FROM space WHERE fingerprint = ?", (fingerprint,)).fetchone()
        if row is not None:
            return int(row["id"])
        if self.read_only:
            return 0
        with self._db.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO space(fingerprint, dim, created_at) VALUES (?, ?, ?)",
                (fingerprint, dim, self._db.clock()),
            )
            return int(
                connection.execute("SELECT id FROM space WHERE fingerprint = ?", (fingerprint,)).fetchone()["id"]
            )

    def other_spaces(self, space_id: int) -> list[str]:
        """Return the fingerprints of the spaces other than `space_id` that hold vectors, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT fingerprint FROM space AS s WHERE id <> ?"
                " AND EXISTS (SELECT 1 FROM vector_pack WHERE space_id = s.id) ORDER BY fingerprint",
                (space_id,),
            )
            return [row["fingerprint"] for row in rows]

    def put(self, space_id: int, packs: Sequence[Pack]) -> None:
        """Store packs, a small one in pieces, and add them to the outbox.

        Vectors that another process has stored meanwhile are left out, and so are documents that are gone.
        """
        with self._db.write() as connection:
            for given in packs:
                if connection.execute("SELECT 1 FROM document WHERE id = ?", (given.document_id,)).fetchone() is None:
                    continue
                for pack in _pieces(_without(given, self.ids_of(space_id, [given.document_id]))):
                    cursor = connection.execute(
                        "INSERT INTO vector_pack(space_id, document_id, chunk_ids, vectors, stamp)"
                        f" VALUES (?, ?, ?, ?, {_STAMP})",
                        (space_id, pack.document_id, pack.chunk_ids, pack.vectors),
                    )
                    connection.execute(
                        "INSERT INTO outbox(space_id, operation, pack_id, chunk_ids) VALUES (?, 'add', ?, ?)",
                        (space_id, cursor.lastrowid, pack.chunk_ids),
                    )

    def remove(self, space_id: int, scope: Scope) -> int:
        """Delete the vectors of the documents in scope and return how many chunks had one."""
        documents, parameters = scope.documents()
        where = f"space_id = ? AND document_id IN ({documents})"
        with self._db.write() as connection:
            removed = connection.execute(
                f"SELECT coalesce(sum(length(chunk_ids)), 0) / 8 FROM vector_pack WHERE {where}",
                [space_id, *parameters],
            ).fetchone()[0]
            connection.execute(
                "INSERT INTO outbox(space_id, operation, chunk_ids)"
                f" SELECT space_id, 'delete', chunk_ids FROM vector_pack WHERE {where}",
                [space_id, *parameters],
            )
            connection.execute(f"DELETE FROM vector_pack WHERE {where}", [space_id, *parameters])
        return int(removed)

    def packs(self, space_id: int, scope: Scope) -> Iterator[Pack]:
        """Yield the packs of the documents in scope, in order of insertion."""
        # Nearly every pack is read: row after row, not each looked up through the index of a space.
        chosen, parameters = "vector_pack NOT INDEXED WHERE space_id = ?", list[object]([space_id])
        if scope != Scope():
            documents, more = scope.documents()
            chosen = f"vector_pack WHERE space_id = ? AND document_id IN ({documents})"
            parameters += more
        with self._db.read() as connection:
            for row in connection.execute(f"SELECT document_id, chunk_ids, vectors FROM {chosen}", parameters):
                yield Pack(row["document_id"], row["chunk_ids"], row["vectors"])

    def packs_of(self, space_id: int, document_ids: Sequence[int]) -> list[Pack]:
        """Return the packs of some documents."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT document_id, chunk_ids, vectors FROM vector_pack"
                " WHERE space_id = ? AND document_id IN (SELECT value FROM json_each(?))",
                (space_id, json.dumps(list(document_ids))),
            )
            return [Pack(*row) for row in rows]

    def ids_of(self, space_id: int, document_ids: Sequence[int]) -> list[bytes]:
        """Return the `chunk_ids` of the packs of some documents, without their vectors: 200 times fewer bytes."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT chunk_ids FROM vector_pack"
                " WHERE space_id = ? AND document_id IN (SELECT value FROM json_each(?))",
                (space_id, json.dumps(list(document_ids))),
            )
            return [row["chunk_ids"] for row in rows]

    def version(self) -> int:
        """Return a number that changes with every change of vectors, collections or documents, in any process."""
        with self._db.read() as connection:
            return int(connection.execute("SELECT number FROM corpus_version").fetchone()[0])

    def coverage(self, space_id: int, scope: Scope) -> Coverage:
        """Return how much of the scope is embedded."""
        chunks, embedded = (
            "SELECT count(*) FROM chunk",
            "SELECT coalesce(sum(length(chunk_ids)), 0) / 8 FROM vector_pack",
        )
        parameters: list[object] = []
        where, where_embedded = "", " WHERE space_id = ?"
        if scope != Scope():
            documents, parameters = scope.documents()
            where = f" WHERE document_id IN ({documents})"
            where_embedded += f" AND document_id IN ({documents})"
        with self._db.read() as connection:
            total = connection.execute(chunks + where, parameters).fetchone()[0]
            done = connection.execute(embedded + where_embedded, [space_id, *parameters]).fetchone()[0]
        return Coverage(total, done)

    def incomplete_documents(self, space_id: int, scope: Scope) -> list[int]:
        """Return the ids of the documents in scope with a chunk that has no vector, in order of id."""
        documents, parameters = scope.documents()
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT d.id FROM document AS d WHERE d.id IN ({documents})"
                " AND (SELECT count(*) FROM chunk WHERE document_id = d.id) >"
                " (SELECT coalesce(sum(length(chunk_ids)), 0) / 8 FROM vector_pack"
                "  WHERE document_id = d.id AND space_id = ?)"
                " ORDER BY d.id",
                [*parameters, space_id],
            )
            return [row["id"] for row in rows]

    def begun_collections(self, space_id: int) -> tuple[int, ...]:
        """Return the ids of the collections with a document that has a vector, in order."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT c.id FROM collection AS c WHERE EXISTS ("
                " SELECT 1 FROM collection_source AS cs JOIN source AS s ON s.id = cs.source_id"
                " JOIN vector_pack AS v ON v.document_id = s.document_id AND v.space_id = ?"
                " WHERE cs.collection_id = c.id) ORDER BY c.id",
                (space_id,),
            )
            return tuple(row["id"] for row in rows)

    # outbox

    def outbox(self, space_id: int, *, limit: int, max_chunks: int | None = None) -> list[OutboxEntry]:
        """Return the oldest changes of a space that its index has not acknowledged.

        At most `limit`, and fewer once they are of `max_chunks` chunks or more.
        """
        entries: list[OutboxEntry] = []
        chunks = 0
        with self._db.read() as connection:
            for row in connection.execute(
                "SELECT o.id, o.operation, o.chunk_ids, p.vectors FROM outbox AS o LEFT JOIN vector_pack AS p"
                " ON p.id = o.pack_id WHERE o.space_id = ? ORDER BY o.id LIMIT ?",
                (space_id, limit),
            ):
                entries.append(OutboxEntry(*row))
                chunks += len(entries[-1].chunk_ids) // 8
                if max_chunks is not None and chunks >= max_chunks:
                    break
        return entries

    def outbox_chunks(self, space_id: int) -> int:
        """Return the number of chunks in the changes of a space that its index has not acknowledged."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT coalesce(sum(length(chunk_ids)), 0) / 8 FROM outbox WHERE space_id = ?", (space_id,)
            ).fetchone()
        return int(row[0])

    def acknowledge(self, entries: Sequence[OutboxEntry]) -> None:
        """Delete changes that the index has applied."""
        with self._db.write() as connection:
            connection.executemany("DELETE FROM outbox WHERE id = ?", [(entry.id,) for entry in entries])

    def restart_outbox(self, space_id: int) -> None:
        """Replace all pending changes of a space by the addition of each of its vectors: its index is empty."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM outbox WHERE space_id = ?", (space_id,))
            connection.execute(
                "INSERT INTO outbox(space_id, operation, pack_id, chunk_ids)"
                " SELECT space_id, 'add', id, chunk_ids FROM vector_pack WHERE space_id = ? ORDER BY id",
                (space_id,),
            )


def _without(pack: Pack, others: Sequence[bytes]) -> Pack:
    """Return `pack` without the chunks whose ids, int64[n] as bytes, are among the others."""
    have = {each[at : at + 8] for each in others for at in range(0, len(each), 8)}
    count = len(pack.chunk_ids) // 8
    rows = [row for row in range(count) if pack.chunk_ids[8 * row : 8 * row + 8] not in have]
    if len(rows) == count:
        return pack
    width = len(pack.vectors) // count
    return Pack(
        pack.document_id,
        b"".join(pack.chunk_ids[8 * row : 8 * row + 8] for row in rows),
        b"".join(pack.vectors[width * row : width * (row + 1)] for row in rows),
    )


def _pieces(pack: Pack) -> list[Pack]:
    """Split `pack` into the rows to store; none if it is empty.

    A row that takes more than half of a page leaves the rest of it empty. So a pack smaller than two pages is stored in
    pieces, five of which share a page; vectors too long for that, of over 390 numbers, stay together.

    Source: for documents of 1 to 10 chunks a 384-d vector takes 125 bytes of overhead on its 1,536, and 290 if those of
    a document are one row. Reading 100,000 vectors of documents of 7 chunks on average takes 0.17 s of CPU, not 0.13.
    """
    count = len(pack.chunk_ids) // 8
    width = len(pack.vectors) // max(count, 1)
    each = _FIFTH_OF_A_PAGE // (width + 8)
    if not count or not each or count * (width + 8) > _SMALL_PACK_BYTES:
        return [pack] if count else []
    return [
        Pack(
            pack.document_id,
            pack.chunk_ids[8 * first : 8 * (first + each)],
            pack.vectors[width * first : width * (first + each)],
        )
        for first in range(0, count, each)
    ]
