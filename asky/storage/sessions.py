"""Sessions, their messages, and the findings that belong to them."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from asky.errors import UsageError
from asky.storage.database import Database

if TYPE_CHECKING:
    from asky.storage.corpus import CorpusStore
    from asky.storage.documents import DocumentStore

Trust = Literal["user", "model"]


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation. `collections` are the ids of the collections that its questions are asked of."""

    id: str
    name: str
    mode: str
    created_at: str
    updated_at: str
    collections: tuple[int, ...] = ()
    messages: int = 0


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of a session's transcript, which is never rewritten."""

    role: str
    content: str
    data: Mapping[str, Any]
    run_id: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class Finding:
    """An insight kept for later.

    `passages` are objects with `source_id`, `sha256`, `start` and `end`; `vector` is float32[dim] as bytes.
    """

    id: int
    session_id: str | None
    run_id: str | None
    text: str
    tags: tuple[str, ...]
    trust: Trust
    passages: tuple[Mapping[str, Any], ...]
    created_at: str
    space_id: int | None = None
    vector: bytes | None = None


def own_collection(session_id: str) -> str:
    """The name of the collection of what was given to that session alone: piped texts, files named in questions."""
    return f"session {session_id}"


class SessionStore:
    """The repository of sessions and messages."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def open(self, name: str | None, *, mode: str) -> Session:
        """The session called `name`, made on first use; `None` makes one with a name of its own."""
        if name is not None and (found := self.find(name)) is not None:
            return found
        now = self._db.clock()
        id_ = secrets.token_hex(6)
        chosen = _checked_name(name) if name is not None else f"{now[:10]}-{id_[:8]}"
        with self._db.write() as connection:
            connection.execute("INSERT OR IGNORE INTO session VALUES (?,?,?,?,?)", (id_, chosen, mode, now, now))
        found = self.find(chosen)
        assert found is not None
        return found

    def find(self, name_or_id: str) -> Session | None:
        """The session with that name or id, or `None`."""
        with self._db.read() as connection:
            row = connection.execute(
                _SESSIONS + " WHERE s.name = ? OR s.id = ? ORDER BY s.name = ? DESC",
                (name_or_id, name_or_id, name_or_id),
            ).fetchone()
            return self._session(connection, row) if row else None

    def recent(self, *, limit: int) -> list[Session]:
        """The sessions, the last used first."""
        with self._db.read() as connection:
            rows = connection.execute(_SESSIONS + " ORDER BY s.updated_at DESC, s.id LIMIT ?", (limit,)).fetchall()
            return [self._session(connection, row) for row in rows]

    def _session(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Session:
        collections = connection.execute(
            "SELECT collection_id FROM session_collection WHERE session_id = ? ORDER BY collection_id", (row["id"],)
        )
        return Session(
            row["id"], row["name"], row["mode"], row["created_at"], row["updated_at"],
            tuple(each["collection_id"] for each in collections), row["messages"],
        )  # fmt: skip

    def add_collections(self, session_id: str, collection_ids: Sequence[int]) -> None:
        """Let the session ask these collections too."""
        with self._db.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO session_collection VALUES (?, ?)",
                [(session_id, each) for each in collection_ids],
            )

    def remove(self, session_id: str, corpus: CorpusStore, documents: DocumentStore) -> None:
        """Forget a session and what belongs to it: runs, messages, findings, and texts that were only given to it.

        What its model calls used still counts for their day. The texts are overwritten in the store's file, where no
        other process is just reading it, and not only taken out of its tables.
        """
        with self._db.read() as connection:
            connection.execute("PRAGMA secure_delete=ON")
        with self._db.write() as connection:
            before = _count_documents(connection)
            shown = connection.execute(
                "SELECT DISTINCT document_id FROM passage WHERE run_id IN (SELECT id FROM run WHERE session_id = ?)",
                (session_id,),
            ).fetchall()
            own = connection.execute(
                "SELECT id FROM collection WHERE name = ?", (own_collection(session_id),)
            ).fetchone()
            connection.execute("DELETE FROM session WHERE id = ?", (session_id,))
            if own is not None:
                corpus.remove_collection(own["id"])
            for row in shown:  # a document that a run showed outlives its source
                documents.release(connection, row["document_id"])
            if _count_documents(connection) < before:  # words stay in the full-text index until it is merged
                connection.execute("INSERT INTO chunk_fts(chunk_fts) VALUES ('optimize')")  # 3 s for 96 MB of texts
        with self._db.read() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def append(
        self, session_id: str, role: str, content: str, *, run_id: str | None, data: Mapping[str, Any] | None = None
    ) -> None:
        """Add a message to the end of the transcript."""
        now = self._db.clock()
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO message(session_id, run_id, role, content, data, created_at) VALUES (?,?,?,?,?,?)",
                (session_id, run_id, role, content, json.dumps(data or {}, ensure_ascii=False), now),
            )
            connection.execute("UPDATE session SET updated_at = ? WHERE id = ?", (now, session_id))

    def messages(self, session_id: str) -> list[StoredMessage]:
        """The transcript, oldest first."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT role, content, data, run_id, created_at FROM message WHERE session_id = ? ORDER BY id",
                (session_id,),
            )
            return [
                StoredMessage(row["role"], row["content"], json.loads(row["data"]), row["run_id"], row["created_at"])
                for row in rows
            ]


class FindingStore:
    """The repository of findings."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(
        self,
        text: str,
        *,
        session_id: str | None,
        run_id: str | None,
        tags: Sequence[str] = (),
        trust: Trust = "model",
        passages: Sequence[Mapping[str, Any]] = (),
        space_id: int | None = None,
        vector: bytes | None = None,
    ) -> int:
        """Keep a finding and return its id; it is on disk when this returns."""
        with self._db.write() as connection:
            cursor = connection.execute(
                "INSERT INTO finding(session_id, run_id, text, tags, trust, passages, space_id, vector, created_at)"
                " VALUES (?,?,?,?,?,?,?,?,?)",
                (
                    session_id, run_id, text, json.dumps(list(tags), ensure_ascii=False), trust,
                    json.dumps([dict(each) for each in passages]), space_id, vector, self._db.clock(),
                ),
            )  # fmt: skip
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def recent(self, *, session_id: str | None = None, limit: int = 1_000_000) -> list[Finding]:
        """Findings of one session, or of all when `session_id` is `None`; the newest first."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT * FROM finding WHERE ? IS NULL OR session_id = ? ORDER BY id DESC LIMIT ?",
                (session_id, session_id, limit),
            )
            return [_finding(row) for row in rows]

    def set_vector(self, finding_id: int, space_id: int, vector: bytes) -> None:
        """Store the vector of a finding that had none in this space."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE finding SET space_id = ?, vector = ? WHERE id = ?", (space_id, vector, finding_id)
            )

    def remove(self, finding_id: int) -> bool:
        """Forget a finding; `False` if there is none with that id."""
        with self._db.write() as connection:
            return connection.execute("DELETE FROM finding WHERE id = ?", (finding_id,)).rowcount > 0


_SESSIONS = (
    "SELECT s.id, s.name, s.mode, s.created_at, s.updated_at,"
    " (SELECT count(*) FROM message WHERE session_id = s.id) AS messages FROM session AS s"
)


def _count_documents(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM document").fetchone()[0])


def _checked_name(name: str) -> str:
    if not name.strip() or len(name) > 80 or not name.isprintable() or "/" in name or "\\" in name:
        raise UsageError(f"not a session name: {name[:80]!r}", hint="use up to 80 printable characters without slashes")
    return name


def _finding(row: sqlite3.Row) -> Finding:
    return Finding(
        id=row["id"], session_id=row["session_id"], run_id=row["run_id"], text=row["text"],
        tags=tuple(json.loads(row["tags"])), trust=row["trust"], passages=tuple(json.loads(row["passages"])),
        created_at=row["created_at"], space_id=row["space_id"], vector=row["vector"],
    )  # fmt: skip
