"""Documents and their chunks: immutable texts, each indexed for full-text search once, however many sources share it.

A document without a source is dropped, unless a passage of it was shown in a run: then its text stays, out of every
index, so that a citation can always be opened. While a run is in progress, in whatever process, every text stays: the
run may have found a passage in it, and be about to show it. What nothing needed goes when the last run has ended.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from asky.errors import StorageError
from asky.storage.database import Database
from asky.storage.liveness import live_runs
from asky.storage.migrations import BLOCK_CHARACTERS
from asky.storage.stored_json import stored_json, template_of
from asky.values import Chunk, Document, NoteLink, Page, Section, Span

_LEFT = "left "  # before the fingerprint of a document that is dropped when no run is in progress
IS_LEFT = "fingerprint >= 'left ' AND fingerprint < 'left!'"
"""The condition for rows of `document` that wait for `DocumentStore.drop_left`; its index finds them."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """The row of a document. `chunk_ids` are in order of ordinal; `is_new` is false if an equal one existed."""

    id: int
    chunk_ids: tuple[int, ...]
    is_new: bool


class DocumentStore:
    """The repository of documents."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._live = live_runs(database.path)

    def put_document(self, document: Document, chunks: Sequence[Chunk], contexts: Sequence[str]) -> StoredDocument:
        """Store a text with its structure and chunks, with full-text index; `contexts[i]` belongs to `chunks[i]`.

        An equal document is used again, with the metadata and the links of this one.
        """
        fingerprint = _fingerprint(document, chunks, contexts)
        with self._db.write() as connection:
            row = connection.execute(
                "UPDATE document SET metadata = ? WHERE fingerprint = ? RETURNING id",
                (_metadata(document), fingerprint),
            ).fetchone()
            document_id = row["id"] if row is not None else self._insert_document(connection, document, fingerprint)
            _put_note_links(connection, document_id, document.note_links)
            if row is not None and (known := self.chunk_ids(document_id)):
                return StoredDocument(document_id, tuple(known), False)
            ids = _next_ids(connection, len(chunks))
            connection.executemany(
                "INSERT INTO chunk(id, document_id, ordinal, start, end, tokens, context) VALUES (?,?,?,?,?,?,?)",
                [
                    (id_, document_id, chunk.ordinal, chunk.span.start, chunk.span.end, chunk.tokens, context)
                    for id_, chunk, context in zip(ids, chunks, contexts, strict=True)
                ],
            )
            connection.executemany(
                "INSERT INTO chunk_fts(rowid, context, text) VALUES (?,?,?)",
                [
                    (id_, context, document.text[chunk.span.start : chunk.span.end])
                    for id_, chunk, context in zip(ids, chunks, contexts, strict=True)
                ],
            )
        return StoredDocument(document_id, tuple(ids), True)

    def _insert_document(self, connection: sqlite3.Connection, document: Document, fingerprint: str) -> int:
        cursor = connection.execute(
            "INSERT INTO document(fingerprint, sha256, title, media_type, characters, sections, pages, metadata,"
            " created_at) VALUES (?,?,?,?,?,?,?,?,?)",
            (
                fingerprint, document.sha256, document.title, document.media_type, len(document.text),
                json.dumps(list(map(_section, document.sections)), ensure_ascii=False),
                json.dumps([(p.index, p.label, p.start, p.end) for p in document.pages], ensure_ascii=False),
                _metadata(document), self._db.clock(),
            ),
        )  # fmt: skip
        document_id = cursor.lastrowid
        assert document_id is not None
        connection.executemany(
            "INSERT INTO text_block(document_id, ordinal, text) VALUES (?,?,?)",
            [
                (document_id, number, document.text[start : start + BLOCK_CHARACTERS])
                for number, start in enumerate(range(0, len(document.text), BLOCK_CHARACTERS))
            ],
        )
        return document_id

    def document(self, document_id: int) -> Document:
        """Return the whole document with its structure. Raises as `digest` does."""
        row = self._row(document_id, "*")
        sections, pages = _structure(row)
        return Document(
            text=self.text(document_id),
            media_type=row["media_type"],
            title=row["title"],
            sections=sections,
            pages=pages,
            note_links=self.note_links(document_id),
            metadata=_stored(row, "metadata"),
        )

    def note_links(self, document_id: int) -> tuple[NoteLink, ...]:
        """Return the document's links to other notes, in order."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT * FROM note_link WHERE document_id = ? ORDER BY start", (document_id,))
            return tuple(
                NoteLink(row["target"], row["part"], row["alias"], bool(row["is_embed"]), row["start"], row["end"])
                for row in rows
            )

    def link_targets(self, collection_id: int) -> Iterator[tuple[str, str]]:
        """Yield the URI of each source in the collection with each target of its links to notes, once."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT DISTINCT uri, target FROM note_link JOIN source USING (document_id)"
                " JOIN collection_source ON source_id = source.id WHERE collection_id = ?",
                (collection_id,),
            )
            yield from ((row["uri"], row["target"]) for row in rows)

    def structure(self, document_id: int) -> tuple[tuple[Section, ...], tuple[Page, ...]]:
        """Return the document's sections and pages, without its text. Raises as `digest` does."""
        return _structure(self._row(document_id, "id, sections, pages"))

    def media_type(self, document_id: int) -> str:
        """Return the document's media type. Raises as `digest` does."""
        return str(self._row(document_id, "media_type")["media_type"])

    def line(self, document_id: int, position: int) -> int:
        """Return the number of the line that holds the character at `position`, counted from 1."""
        block = position // BLOCK_CHARACTERS
        with self._db.read() as connection:
            (before,) = connection.execute(
                "SELECT coalesce(sum(length(text) - length(replace(text, char(10), ''))), 0) FROM text_block"
                " WHERE document_id = ? AND ordinal < ?",
                (document_id, block),
            ).fetchone()
        return 1 + int(before) + self.text(document_id, Span(block * BLOCK_CHARACTERS, position)).count("\n")

    def digest(self, document_id: int) -> tuple[str, int]:
        """Return the SHA-256 of the document's text, and its length in characters.

        Raises a retryable `StorageError` if another process has dropped the document.
        """
        row = self._row(document_id, "sha256, characters")
        return row["sha256"], row["characters"]

    def _row(self, document_id: int, columns: str) -> sqlite3.Row:
        with self._db.read() as connection:
            row: sqlite3.Row | None = connection.execute(
                f"SELECT {columns} FROM document WHERE id = ?", (document_id,)
            ).fetchone()
        if row is None:
            raise StorageError(
                f"document {document_id} is no longer in the store",
                hint="another process has changed the corpus; run the command again",
                retryable=True,
            )
        return row

    def text(self, document_id: int, span: Span | None = None) -> str:
        """Return the document's text, or the part of it in `span`; reads only the blocks that it needs."""
        first, last = (
            (0, -1) if span is None else (span.start // BLOCK_CHARACTERS, max(span.end - 1, 0) // BLOCK_CHARACTERS)
        )
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT text FROM text_block WHERE document_id = ? AND ordinal >= ? AND (? < 0 OR ordinal <= ?)"
                " ORDER BY ordinal",
                (document_id, first, last, last),
            )
            text = "".join(row["text"] for row in rows)
        return (
            text if span is None else text[span.start - first * BLOCK_CHARACTERS : span.end - first * BLOCK_CHARACTERS]
        )

    def chunk_ids(self, document_id: int) -> list[int]:
        """Return the ids of the document's chunks, in order of ordinal."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT id FROM chunk WHERE document_id = ? ORDER BY ordinal", (document_id,))
            return [row["id"] for row in rows]

    def chunk_inputs(self, chunk_ids: Sequence[int]) -> Iterator[tuple[int, str, str]]:
        """Yield `(chunk id, context, text)` of each chunk that exists, in order of id."""
        with self._db.read() as connection:
            yield from (
                (row["id"], row["context"], row["text"])
                for row in connection.execute(
                    "SELECT id, context, text FROM chunk_text WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
                    (json.dumps(list(chunk_ids)),),
                )
            )

    def release(self, connection: sqlite3.Connection, document_id: int) -> None:
        """Remove a document from the indexes if no source has it, and delete it if no run showed it either.

        While a run is in progress it is left to `drop_left`.
        """
        if connection.execute("SELECT 1 FROM source WHERE document_id = ? LIMIT 1", (document_id,)).fetchone():
            return
        connection.execute(
            "INSERT INTO chunk_fts(chunk_fts, rowid, context, text)"
            " SELECT 'delete', t.id, t.context, t.text FROM chunk AS c JOIN chunk_text AS t ON t.id = c.id"
            " WHERE c.document_id = ?",
            (document_id,),
        )
        connection.execute(
            "INSERT INTO outbox(space_id, operation, chunk_ids)"
            " SELECT space_id, 'delete', chunk_ids FROM vector_pack WHERE document_id = ?",
            (document_id,),
        )
        connection.execute("DELETE FROM vector_pack WHERE document_id = ?", (document_id,))
        connection.execute("DELETE FROM chunk WHERE document_id = ?", (document_id,))
        unshown = "id = ? AND NOT EXISTS (SELECT 1 FROM passage WHERE document_id = document.id)"
        if self._live.any():
            connection.execute(
                f"UPDATE document SET fingerprint = ? || fingerprint WHERE {unshown} AND NOT ({IS_LEFT})",
                (_LEFT, document_id),
            )
        else:
            connection.execute(f"DELETE FROM document WHERE {unshown}", (document_id,))

    def drop_left(self) -> None:
        """Delete the documents that `release` left to the end of a run and that none showed, unless one goes on."""
        with self._db.read() as connection:
            if connection.execute(f"SELECT 1 FROM document WHERE {IS_LEFT} LIMIT 1").fetchone() is None:
                return
        with self._db.write() as connection:
            if self._live.any():
                return
            connection.execute(
                f"DELETE FROM document WHERE {IS_LEFT}"
                " AND NOT EXISTS (SELECT 1 FROM passage WHERE document_id = document.id)"
            )
            connection.execute(  # the others are shown: found again by their text, unless an equal one has come since
                f"UPDATE OR IGNORE document SET fingerprint = substr(fingerprint, {len(_LEFT) + 1}) WHERE {IS_LEFT}"
            )


def _put_note_links(connection: sqlite3.Connection, document_id: int, links: Sequence[NoteLink]) -> None:
    connection.execute("DELETE FROM note_link WHERE document_id = ?", (document_id,))
    connection.executemany(
        "INSERT INTO note_link(document_id, start, end, target, part, alias, is_embed) VALUES (?,?,?,?,?,?,?)",
        [(document_id, it.start, it.end, it.target, it.part, it.alias, it.is_embed) for it in links],
    )


def _metadata(document: Document) -> str:
    return json.dumps(dict(document.metadata), ensure_ascii=False)


def _next_ids(connection: sqlite3.Connection, count: int) -> range:
    """Return `count` chunk ids that were never used: an index that lags behind cannot mistake one for another."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunk'").fetchone()
    first = (row["seq"] if row else 0) + 1
    return range(first, first + count)


def _fingerprint(document: Document, chunks: Sequence[Chunk], contexts: Sequence[str]) -> str:
    """Return a hash of everything stored of a document: equal documents are stored once."""
    digest = hashlib.sha256(document.sha256.encode())
    parts = [
        document.title,
        document.media_type,
        # `asdict` copies deeply, which was a twentieth of what it costs to keep a file of source code
        [
            {"heading": it.heading, "level": it.level, "start": it.start, "end": it.end, **_metadata_of(it)}
            for it in document.sections
        ],
        [{"index": it.index, "label": it.label, "start": it.start, "end": it.end} for it in document.pages],
        [(each.span.start, each.span.end, each.tokens) for each in chunks],
        list(contexts),
    ]
    digest.update(json.dumps(parts).encode())
    return digest.hexdigest()


def _section(section: Section) -> tuple[object, ...]:
    about = (dict(section.metadata),) if section.metadata else ()
    return (section.heading, section.level, section.start, section.end, *about)


def _metadata_of(section: Section) -> dict[str, object]:
    return {"metadata": dict(section.metadata)} if section.metadata else {}


def _structure(row: sqlite3.Row) -> tuple[tuple[Section, ...], tuple[Page, ...]]:
    sections, pages = _stored(row, "sections"), _stored(row, "pages")
    return tuple(Section(*each) for each in sections), tuple(Page(*each) for each in pages)


def _stored(row: sqlite3.Row, column: str) -> Any:
    return stored_json(row[column], template_of("document", column), f"the {column} of document {row['id']}")
