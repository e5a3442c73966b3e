"""Deletion of a session with its runs, messages, findings, and the texts that only it had."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from asky.errors import UsageError
from asky.storage.documents import IS_LEFT
from asky.storage.liveness import live_runs
from asky.storage.sessions import own_collection

if TYPE_CHECKING:
    from asky.storage.corpus import CorpusStore
    from asky.storage.database import Database
    from asky.storage.documents import DocumentStore
    from asky.storage.sessions import Session


class SessionRemoval:
    """Deletes sessions from the store, with everything that belongs to no other."""

    def __init__(self, database: Database, corpus: CorpusStore, documents: DocumentStore) -> None:
        self._db = database
        self._corpus = corpus
        self._documents = documents
        self._live = live_runs(database.path)

    def remove(self, session_id: str) -> int:
        """Delete a session and its data: runs, messages, findings, and texts that only it had.

        Returns how many runs there were. The usage of its model calls still counts for their day. The texts are also
        overwritten in the store's file, unless another process is reading it, not only removed from its tables. Raises
        `UsageError` while a question is being answered in it.
        """
        with self._db.read() as connection:
            connection.execute("PRAGMA secure_delete=ON")
        with self._db.write() as connection:
            runs = self._ended_runs(connection, session_id)
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
                self._corpus.remove_collection(own["id"])
            for row in shown:  # a document that a run showed outlives its source
                self._documents.release(connection, row["document_id"])
            if _count_documents(connection) < before:  # words stay in the full-text index until it is merged
                connection.execute("INSERT INTO chunk_fts(chunk_fts) VALUES ('optimize')")  # 3 s for 96 MB of texts
        with self._db.read() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return runs

    def discard_unused(self, made: Session) -> None:
        """Delete a session that is unchanged since it was `made`, with the texts that only it had; keep any other.

        It is kept if something was asked, said or noted in it, or if another process shares it.
        """
        with self._db.write() as connection:
            gone = connection.execute(
                "DELETE FROM session WHERE id = ? AND name = ? AND mode = ? AND settings = '{}'"
                " AND created_at = ? AND updated_at = created_at"
                " AND NOT EXISTS (SELECT 1 FROM run WHERE session_id = session.id)"
                " AND NOT EXISTS (SELECT 1 FROM message WHERE session_id = session.id)"
                " AND NOT EXISTS (SELECT 1 FROM finding WHERE session_id = session.id)"
                " AND NOT EXISTS (SELECT 1 FROM session_collection WHERE session_id = session.id)",
                (made.id, made.name, made.mode, made.created_at),
            )
            own = connection.execute("SELECT id FROM collection WHERE name = ?", (own_collection(made.id),)).fetchone()
            if gone.rowcount and own is not None:
                self._corpus.remove_collection(own["id"])

    def _ended_runs(self, connection: sqlite3.Connection, session_id: str) -> int:
        """Return the number of the session's runs, of which none can begin before this transaction ends."""
        runs = connection.execute(
            "SELECT r.id, r.status, s.name FROM run AS r JOIN session AS s ON s.id = r.session_id WHERE s.id = ?",
            (session_id,),
        ).fetchall()
        for run in runs:
            if run["status"] == "running" and self._live.is_live(run["id"]):
                hint = "stop it first, or wait for it to end"
                raise UsageError(f"a question is being answered in {run['name']}", hint=hint)
        return len(runs)


def _count_documents(connection: sqlite3.Connection) -> int:
    return int(connection.execute(f"SELECT count(*) FROM document WHERE NOT ({IS_LEFT})").fetchone()[0])
