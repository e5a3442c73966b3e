"""Sources and the collections that hold them.

A source is the origin of a text and may change; its document is the latest version read. A source is kept as long as a
collection holds it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asky.errors import UsageError
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.scope import Scope
from asky.storage.source_names import put_names
from asky.storage.stored_json import OF_THE_WORK, SOURCE_METADATA, stored_json
from asky.values import Source, SourceKind

DEFAULT_COLLECTION = "default"


@dataclass(frozen=True, slots=True)
class FileState:
    """The stored facts about a file, used without opening it.

    `media_type` is that of its document, `None` if it has none. `read_with` is what `put_source` was told.
    """

    source_id: str
    size: int | None
    mtime_ns: int | None
    verdict: str
    why: str | None
    read_with: str | None
    media_type: str | None


_STATE = "s.id, s.size, s.mtime_ns, s.verdict, s.why, s.read_with, d.media_type"


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """Counts of one collection. `verdicts` maps a verdict to the number of its sources."""

    name: str
    roots: tuple[str, ...]
    sources: int
    chunks: int
    characters: int
    verdicts: dict[str, int]


class CorpusStore:
    """The repository of sources and collections."""

    def __init__(self, database: Database, documents: DocumentStore) -> None:
        self._db = database
        self._documents = documents

    # collections

    def collection(self, name: str, *, create: bool = False) -> int:
        """Return the id of the collection `name`. Raises `UsageError` if there is none and `create` is false."""
        with self._db.read() as connection:
            row = connection.execute("SELECT id FROM collection WHERE name = ?", (name,)).fetchone()
        if row is not None:
            return int(row["id"])
        if not create:
            raise UsageError(
                f"there is no collection {name!r}", hint="`asky corpus list --collections` lists the collections"
            )
        with self._db.write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO collection(name, created_at) VALUES (?, ?)", (name, self._db.clock())
            )
            return int(connection.execute("SELECT id FROM collection WHERE name = ?", (name,)).fetchone()["id"])

    def collections(self) -> list[str]:
        """Return the names of all collections, sorted."""
        with self._db.read() as connection:
            return [row["name"] for row in connection.execute("SELECT name FROM collection ORDER BY name")]

    def last_used(self, prefix: str) -> str | None:
        """Return the name of the collection that begins with `prefix` and was asked last, or else made last.

        Collections without sources do not count.
        """
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT c.name FROM collection c LEFT JOIN session_collection sc ON sc.collection_id = c.id"
                " LEFT JOIN run r ON r.session_id = sc.session_id WHERE substr(c.name, 1, length(?1)) = ?1"
                " AND EXISTS (SELECT 1 FROM collection_source cs WHERE cs.collection_id = c.id)"
                " ORDER BY r.rowid DESC, c.id DESC LIMIT 1",
                (prefix,),
            ).fetchone()
            return None if row is None else str(row["name"])

    def names(self, collection_ids: Iterable[int]) -> list[str]:
        """Return the names of those collections that exist, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT name FROM collection WHERE id IN (SELECT value FROM json_each(?)) ORDER BY name",
                (json.dumps(list(collection_ids)),),
            )
            return [row["name"] for row in rows]

    def add_root(self, collection_id: int, path: str) -> None:
        """Record that the collection follows `path` (a folder or file); known roots are unchanged."""
        with self._db.write() as connection:
            connection.execute("INSERT OR IGNORE INTO collection_root VALUES (?, ?)", (collection_id, path))

    def roots(self, collection_id: int) -> list[str]:
        """Return the paths that the collection follows, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT path FROM collection_root WHERE collection_id = ? ORDER BY path", (collection_id,)
            )
            return [row["path"] for row in rows]

    def followers(self, path: str) -> list[str]:
        """Return the names of the collections that follow the file at `path` or a folder above it, sorted."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT DISTINCT name FROM collection_root JOIN collection ON collection.id = collection_id"
                " WHERE path = ?1 OR substr(?1, 1, length(rtrim(path, '/')) + 1) = rtrim(path, '/') || '/'"
                " ORDER BY name",
                (path,),
            )
            return [row["name"] for row in rows]

    def remove_root(self, collection_id: int, path: str) -> bool:
        """Stop following `path`; return `False` if the collection did not follow it."""
        with self._db.write() as connection:
            cursor = connection.execute(
                "DELETE FROM collection_root WHERE collection_id = ? AND path = ?", (collection_id, path)
            )
            return cursor.rowcount > 0

    def remove_collection(self, collection_id: int) -> int:
        """Delete the collection, its roots and the sources only it holds; return the number of those sources."""
        with self._db.write() as connection:
            rows = connection.execute(
                "SELECT source_id FROM collection_source WHERE collection_id = ?", (collection_id,)
            )
            sources = [row["source_id"] for row in rows]
            removed = self.remove_sources(collection_id, sources)
            connection.execute("DELETE FROM collection WHERE id = ?", (collection_id,))
        return removed

    def status(self, collection_id: int) -> CollectionStatus:
        """Return the counts of the collection."""
        with self._db.read() as connection:
            name = connection.execute("SELECT name FROM collection WHERE id = ?", (collection_id,)).fetchone()["name"]
            verdicts = connection.execute(
                "SELECT verdict, count(*) AS n FROM source JOIN collection_source ON source_id = id"
                " WHERE collection_id = ? GROUP BY verdict ORDER BY verdict",
                (collection_id,),
            ).fetchall()
            documents, parameters = Scope((collection_id,)).documents()
            characters, chunks = connection.execute(
                "SELECT coalesce(sum(characters), 0),"
                " coalesce(sum((SELECT count(*) FROM chunk WHERE document_id = d.id)), 0)"
                f" FROM document AS d WHERE d.id IN ({documents})",
                parameters,
            ).fetchone()
        counts = {row["verdict"]: row["n"] for row in verdicts}
        return CollectionStatus(
            name, tuple(self.roots(collection_id)), sum(counts.values()), chunks, characters, counts
        )

    # sources

    def put_source(
        self,
        source: Source,
        collection_id: int,
        *,
        document_id: int | None,
        verdict: str = "indexed",
        why: str | None = None,
        size: int | None = None,
        mtime_ns: int | None = None,
        content_sha256: str | None = None,
        read_with: str | None = None,
        metadata: dict[str, object] | None = None,
    ) -> None:
        """Insert or update a source, add it to the collection, and drop its previous document.

        `read_with` is the version of what read a file: another one might find another text in the same bytes.
        A note stays one if it is also read as a file. In `metadata`, the name under which `describe` stores its values
        is ignored.
        """
        own = {name: value for name, value in (metadata or {}).items() if name != OF_THE_WORK}
        with self._db.write() as connection:
            before = connection.execute("SELECT document_id FROM source WHERE id = ?", (source.id,)).fetchone()
            connection.execute(
                "INSERT INTO source(id, kind, uri, title, url, path, external_id, document_id, size, mtime_ns,"
                " content_sha256, read_with, verdict, why, metadata, fetched_at)"
                " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
                " ON CONFLICT(id) DO UPDATE SET"
                " kind=iif(source.kind='note' AND excluded.kind='file', 'note', excluded.kind),"
                " title=excluded.title, url=excluded.url, path=excluded.path, document_id=excluded.document_id,"
                " size=excluded.size, mtime_ns=excluded.mtime_ns, content_sha256=excluded.content_sha256,"
                " read_with=excluded.read_with,"
                " verdict=excluded.verdict, why=excluded.why, metadata=json_patch(excluded.metadata,"
                f" json_object('{OF_THE_WORK}', json_extract(source.metadata, '$.{OF_THE_WORK}'))),"
                " fetched_at=excluded.fetched_at",
                (
                    source.id, source.kind, source.uri, source.title, source.url, source.path, source.external_id,
                    document_id, size, mtime_ns, content_sha256, read_with, verdict, why,
                    json.dumps(own, ensure_ascii=False), source.fetched_at or self._db.clock(),
                ),
            )  # fmt: skip
            put_names(connection, source.id)
            connection.execute("INSERT OR IGNORE INTO collection_source VALUES (?, ?)", (collection_id, source.id))
            if before is not None and before["document_id"] not in (None, document_id):
                self._documents.release(connection, before["document_id"])

    def hold(self, collection_id: int, source_ids: Sequence[str], kind: SourceKind = "file") -> None:
        """Add existing sources to one more collection; unknown ids are ignored. With the kind "note" they become notes.

        Others keep their kind.
        """
        with self._db.write() as connection:
            if kind == "note":
                marked = (json.dumps(list(source_ids)),)
                connection.execute(
                    "UPDATE source SET kind = 'note' WHERE id IN (SELECT value FROM json_each(?))", marked
                )
            connection.executemany(
                "INSERT OR IGNORE INTO collection_source SELECT ?, id FROM source WHERE id = ?",
                [(collection_id, each) for each in source_ids],
            )

    def describe(
        self,
        source_id: str,
        *,
        title: str | None = None,
        authors: Sequence[str] = (),
        published: str | None = None,
        published_in: str | None = None,
        doi: str | None = None,
    ) -> None:
        """Store bibliographic data from elsewhere about a source; it takes precedence over the source's own.

        Missing values leave the old ones. `title` replaces the source's. An unknown source is ignored.
        """
        fields = {"authors": list(authors) or None, "published": published, "published_in": published_in, "doi": doi}
        work = {OF_THE_WORK: {name: value for name, value in fields.items() if value is not None}}
        with self._db.write() as connection:
            connection.execute(
                "UPDATE source SET metadata = json_patch(metadata, ?), title = coalesce(?, title) WHERE id = ?",
                (json.dumps(work, ensure_ascii=False), title, source_id),
            )
            put_names(connection, source_id)

    def source(self, source_id: str) -> Source | None:
        """Return one source, in whatever collection."""
        with self._db.read() as connection:
            row = connection.execute("SELECT * FROM source WHERE id = ?", (source_id,)).fetchone()
        return source_of(row) if row is not None else None

    def remove_sources(self, collection_id: int, source_ids: Iterable[str]) -> int:
        """Remove the sources from the collection; delete those in no other collection, and return their number."""
        removed = 0
        with self._db.write() as connection:
            for source_id in source_ids:
                connection.execute(
                    "DELETE FROM collection_source WHERE collection_id = ? AND source_id = ?",
                    (collection_id, source_id),
                )
                row = connection.execute(
                    "DELETE FROM source WHERE id = ?"
                    " AND NOT EXISTS (SELECT 1 FROM collection_source WHERE source_id = id) RETURNING document_id",
                    (source_id,),
                ).fetchone()
                if row is not None:
                    removed += 1
                    if row["document_id"] is not None:
                        self._documents.release(connection, row["document_id"])
        return removed

    def sources(self, scope: Scope, *, limit: int | None = None) -> list[Source]:
        """Return the sources in scope, readable or not, in order of URI; at most `limit`."""
        condition, parameters = _in_scope(scope)
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT * FROM source WHERE {condition} ORDER BY uri LIMIT ?",
                [*parameters, -1 if limit is None else limit],
            )
            return [source_of(row) for row in rows]

    def count_sources(self, scope: Scope, kinds: Sequence[SourceKind] | None = None, *, with_text: bool = False) -> int:
        """Return the number of `sources`, or of those of some kinds or those `with_text`, without reading them."""
        condition, parameters = _in_scope(scope)
        if kinds is not None:
            condition += " AND kind IN (SELECT value FROM json_each(?))"
            parameters.append(json.dumps(list(kinds)))
        if with_text:
            condition += " AND document_id IS NOT NULL"
        with self._db.read() as connection:
            return int(connection.execute(f"SELECT count(*) FROM source WHERE {condition}", parameters).fetchone()[0])

    def unread(self, scope: Scope) -> list[tuple[str, str, str | None]]:
        """Return path, verdict and reason of the files in scope that have no text, and of those without some of it.

        The reason of a file that is `indexed` lists its parts. In order of URI; costs the number of such files.
        """
        condition, parameters = _in_scope(scope, exists=True)
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT coalesce(path, url, uri) AS name, verdict, why FROM source INDEXED BY source_unread"
                f" WHERE (verdict <> 'indexed' OR why IS NOT NULL) AND kind <> 'web' AND {condition} ORDER BY uri",
                parameters,
            )
            return [(row["name"], row["verdict"], row["why"]) for row in rows]

    def files(self, collection_id: int) -> dict[str, FileState]:
        """Return the stored facts about every source of the collection, by URI."""
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT s.uri, {_STATE} FROM collection_source AS cs JOIN source AS s ON s.id = cs.source_id"
                " LEFT JOIN document AS d ON d.id = s.document_id WHERE cs.collection_id = ?",
                (collection_id,),
            )
            return {uri: FileState(*state) for uri, *state in rows}

    def metadata(self, collection_id: int) -> dict[str, Mapping[str, Any]]:
        """Return the metadata of the collection's sources as they were read, by URI, in order of URI."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT id, uri, metadata FROM source JOIN collection_source ON source_id = id"
                " WHERE collection_id = ? ORDER BY uri",
                (collection_id,),
            )
            return {
                row["uri"]: stored_json(row["metadata"], SOURCE_METADATA, f"the metadata of the source {row['id']}")
                for row in rows
            }

    def file(self, source_id: str) -> FileState | None:
        """Return the stored facts about one source, in whatever collection."""
        with self._db.read() as connection:
            row = connection.execute(
                f"SELECT {_STATE} FROM source AS s LEFT JOIN document AS d ON d.id = s.document_id WHERE s.id = ?",
                (source_id,),
            ).fetchone()
        return FileState(*row) if row else None

    def same_content(self, content_sha256: str, suffix: str, read_with: str) -> int | None:
        """Return a document read from the same bytes, under a name with the same suffix and as now, or `None`."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT document_id FROM source WHERE content_sha256 = ? AND document_id IS NOT NULL"
                " AND read_with = ? AND lower(uri) LIKE ? ESCAPE '\\' LIMIT 1",
                (content_sha256, read_with, "%" + suffix.lower().replace("%", "\\%").replace("_", "\\_")),
            ).fetchone()
        return int(row["document_id"]) if row else None

    def current_document(self, source_id: str) -> int | None:
        """Return the id of the source's document, or `None`."""
        with self._db.read() as connection:
            row = connection.execute("SELECT document_id FROM source WHERE id = ?", (source_id,)).fetchone()
        return row["document_id"] if row else None


def _in_scope(scope: Scope, *, exists: bool = False) -> tuple[str, list[object]]:
    """Return the condition for rows of the table `source`, readable or not, and its parameters.

    With `exists`, it is tested row by row, for a query that has few.
    """
    conditions = ["1"]
    parameters: list[object] = []
    if scope.collections is not None:
        marks = ",".join("?" * len(scope.collections))
        held = f"SELECT source_id FROM collection_source WHERE collection_id IN ({marks})"
        conditions.append(f"EXISTS ({held} AND source_id = source.id)" if exists else f"id IN ({held})")
        parameters += list(scope.collections)
    if scope.sources is not None:
        conditions.append("id IN (SELECT value FROM json_each(?))")
        parameters.append(json.dumps(scope.sources))
    return " AND ".join(conditions), parameters


def _doi_of_arxiv(identifier: object) -> str | None:
    """Return the DOI that DataCite holds for every paper of arXiv; it names no version."""
    return f"10.48550/arxiv.{re.sub(r'v[0-9]+$', '', str(identifier).lower())}" if identifier else None


def source_of(row: sqlite3.Row) -> Source:
    """Return the `Source` of a row of the table `source`."""
    fields = stored_json(row["metadata"], SOURCE_METADATA, f"the metadata of the source {row['id']}")
    work = fields.get(OF_THE_WORK, {})
    authors = work.get("authors") or [name.strip() for name in str(fields.get("author") or "").split(";")]
    return Source(
        id=row["id"], kind=row["kind"], uri=row["uri"], title=row["title"], url=row["url"], path=row["path"],
        external_id=row["external_id"], fetched_at=row["fetched_at"],
        authors=tuple(name for name in authors if name),
        published=work.get("published") or fields.get("published"),
        published_in=(
            work.get("published_in") or fields.get("published_in") or fields.get("journal") or fields.get("site_name")
        ),
        doi=work.get("doi") or fields.get("doi") or _doi_of_arxiv(fields.get("arxiv")),
    )  # fmt: skip
