"""Sessions and their messages."""

from __future__ import annotations

import json
import os
import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from asky.errors import StoreDamaged, UsageError
from asky.storage.database import Database
from asky.storage.session_names import checked_name
from asky.storage.stored_json import SETTINGS, stored_json, template_of
from asky.values import Unreadable

NOTE_ROLE = "note"
"""The role under which a session stores a note that the user typed while a question was answered."""


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation.

    `collections` are the ids of the collections that its questions search, and `settings` the defaults that later
    questions inherit. `messages` counts questions and answers.
    """

    id: str
    name: str
    mode: str
    created_at: str
    updated_at: str
    collections: tuple[int, ...] = ()
    messages: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to store: `user` or `assistant`, or between the two a `call`, a `tool` result or a `note` of the user.

    `data` holds its fields other than the text.
    """

    role: str
    content: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of a session's transcript; its text is never changed."""

    role: str
    content: str
    data: Mapping[str, Any]
    run_id: str | None
    created_at: str

    @property
    def is_withdrawn(self) -> bool:
        """Return whether the user withdrew its turn: no model sees it any more."""
        return bool(self.data.get("withdrawn"))


def own_collection(session_id: str) -> str:
    """Return the name of the collection of texts given to that session alone: piped texts, files named in questions."""
    return f"session {session_id}"


class SessionStore:
    """The repository of sessions and messages."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def open(self, name: str | None, *, mode: str) -> Session:
        """Return the session `name`, created on first use; `None` creates one with a generated name.

        If two processes create it at once, one does, and the other gets to `share` it.
        """
        if name is not None and (found := self.find(name)) is not None:
            self.share(found.id)
            return found
        now = self._db.clock()
        id_ = os.urandom(6).hex()
        chosen = checked_name(name) if name is not None else f"{now[:10]}-{id_[:8]}"
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO session(id, name, mode, created_at, updated_at) VALUES (?,?,?,?,?)"
                " ON CONFLICT(name) DO UPDATE SET updated_at = ? WHERE updated_at = created_at",
                (id_, chosen, mode, now, now, self._db.clock()),
            )
        found = self.find(chosen)
        assert found is not None
        return found

    def find(self, name_or_id: str) -> Session | None:
        """Return the session with that name or id, or `None`."""
        name_or_id = unicodedata.normalize("NFC", name_or_id)
        with self._db.read() as connection:
            row = connection.execute(
                _SESSIONS + " WHERE s.name = ? OR s.id = ? ORDER BY s.name = ? DESC",
                (name_or_id, name_or_id, name_or_id),
            ).fetchone()
            return self._session(connection, row) if row else None

    def recent(self, *, limit: int | None = None) -> list[Session]:
        """Return the sessions, last used first; at most `limit`, if given."""
        with self._db.read() as connection:
            rows_limit = -1 if limit is None else limit  # -1: no limit
            rows = connection.execute(_SESSIONS + " ORDER BY s.updated_at DESC, s.id LIMIT ?", (rows_limit,)).fetchall()
            return [self._session(connection, row) for row in rows]

    def listed(self) -> list[Session | Unreadable]:
        """Return all sessions, last used first, with an `Unreadable` in place of an error."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT rowid, CAST(name AS BLOB) AS name FROM session ORDER BY updated_at DESC, id"
            ).fetchall()
        found = (self._readable(row["rowid"], row["name"]) for row in rows)
        return [each for each in found if each is not None]

    def _readable(self, number: int, name: bytes | None) -> Session | Unreadable | None:
        try:
            with self._db.read() as connection:
                row = connection.execute(_SESSIONS + " WHERE s.rowid = ?", (number,)).fetchone()
                return self._session(connection, row) if row is not None else None  # None: removed meanwhile
        except StoreDamaged as error:
            return Unreadable(_shown(name), error.message)

    def names(self) -> dict[str, str]:
        """Return the name of each session by its id, last used first, without reading anything else.

        Invalid text is replaced by a sign, so that one damaged session hides no other.
        """
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT CAST(id AS BLOB), CAST(name AS BLOB) FROM session ORDER BY updated_at DESC, id"
            )
            return {_shown(id_): _shown(name) for id_, name in rows}

    def first_questions(self) -> dict[str, str]:
        """Return the first question of each session, by its id; a withdrawn one only if all were withdrawn.

        Includes questions whose run never ended. Invalid text is replaced by a sign, as in `names`.
        """
        with self._db.read() as connection:
            rows = connection.execute(_FIRST_QUESTIONS)
            return {_shown(id_): _shown(question) for id_, question in rows}

    def name_of(self, session_id: str) -> str | None:
        """Return the name of one session, with invalid text replaced by a sign."""
        with self._db.read() as connection:
            row = connection.execute("SELECT CAST(name AS BLOB) FROM session WHERE id = ?", (session_id,)).fetchone()
            return _shown(row[0]) if row is not None else None

    def _session(self, connection: sqlite3.Connection, row: sqlite3.Row) -> Session:
        collections = connection.execute(
            "SELECT collection_id FROM session_collection WHERE session_id = ? ORDER BY collection_id", (row["id"],)
        )
        return Session(
            row["id"], row["name"], row["mode"], row["created_at"], row["updated_at"],
            tuple(each["collection_id"] for each in collections), row["messages"],
            stored_json(row["settings"], SETTINGS, f"the settings of the session {row['name']}"),
        )  # fmt: skip

    def add_collections(self, session_id: str, collection_ids: Sequence[int]) -> None:
        """Add collections to those that the session searches."""
        with self._db.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO session_collection VALUES (?, ?)",
                [(session_id, each) for each in collection_ids],
            )

    def exists(self, session_id: str) -> bool:
        """Return whether there is a session with that id."""
        with self._db.read() as connection:
            return connection.execute("SELECT 1 FROM session WHERE id = ?", (session_id,)).fetchone() is not None

    def settings(self, session_id: str) -> Mapping[str, Any] | None:
        """Return the settings of the session with that id as they are now; `None` if it is gone."""
        with self._db.read() as connection:
            row = connection.execute("SELECT name, settings FROM session WHERE id = ?", (session_id,)).fetchone()
        if row is None:
            return None
        return dict(stored_json(row["settings"], SETTINGS, f"the settings of the session {row['name']}"))

    def share(self, session_id: str) -> None:
        """Record that another process uses a session which may have been created just now elsewhere."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE session SET updated_at = ? WHERE id = ? AND updated_at = created_at",
                (self._db.clock(), session_id),
            )

    def rename(self, session_id: str, name: str) -> None:
        """Rename a session. Raises `UsageError` for an invalid name, and for one in use."""
        checked = checked_name(name)
        with self._db.write() as connection:
            other = connection.execute(
                "SELECT id FROM session WHERE (name = ? OR id = ?) AND id != ?", (checked, checked, session_id)
            ).fetchone()
            if other is not None:
                raise UsageError(f"there is already a session {checked!r}", hint="`asky session list` shows all names")
            connection.execute("UPDATE session SET name = ? WHERE id = ?", (checked, session_id))

    def remember(self, session_id: str, *, mode: str, settings: Mapping[str, Any]) -> None:
        """Set `mode` and `settings` as defaults for later questions of the session, replacing the old ones."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE session SET mode = ?, settings = ? WHERE id = ?",
                (mode, json.dumps(dict(settings), ensure_ascii=False), session_id),
            )

    def put_setting(self, session_id: str, name: str, value: Mapping[str, Any]) -> None:
        """Set one setting of the session; the others stay."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE session SET settings = json_set(settings, '$.' || ?, json(?)) WHERE id = ?",
                (name, json.dumps(dict(value), ensure_ascii=False), session_id),
            )

    def append(self, session_id: str, messages: Sequence[NewMessage], *, run_id: str | None) -> None:
        """Append messages to the transcript, contiguously: all of them or none."""
        now = self._db.clock()
        with self._db.write() as connection:
            connection.executemany(
                "INSERT INTO message(session_id, run_id, role, content, data, created_at) VALUES (?,?,?,?,?,?)",
                [
                    (session_id, run_id, each.role, each.content, json.dumps(dict(each.data), ensure_ascii=False), now)
                    for each in messages
                ],
            )
            connection.execute("UPDATE session SET updated_at = ? WHERE id = ?", (now, session_id))

    def last_question(self, session_id: str) -> StoredMessage | None:
        """Return the last question of a run that was not withdrawn, or `None`."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT role, content, data, run_id, created_at FROM message WHERE session_id = ? AND role = 'user'"
                " AND run_id IS NOT NULL AND json_extract(data, '$.withdrawn') IS NULL ORDER BY id DESC LIMIT 1",
                (session_id,),
            ).fetchone()
            return _message(row) if row else None

    def withdraw(self, session_id: str, run_id: str) -> bool:
        """Withdraw the turn of a run: no model sees it any more, the transcript keeps it, marked as withdrawn.

        Returns `False` if the session has no such turn.
        """
        with self._db.write() as connection:
            marked = connection.execute(
                "UPDATE message SET data = json_set(data, '$.withdrawn', json('true'))"
                " WHERE session_id = ? AND run_id = ?",
                (session_id, run_id),
            )
            return marked.rowcount > 0

    def run_ids(self, session_id: str) -> list[str]:
        """Return the ids of all runs of the session, oldest first."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT id FROM run WHERE session_id = ? ORDER BY rowid", (session_id,))
            return [row["id"] for row in rows]

    def messages(self, session_id: str) -> list[StoredMessage]:
        """Return the transcript, oldest first, including withdrawn messages."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT role, content, data, run_id, created_at FROM message WHERE session_id = ? ORDER BY id",
                (session_id,),
            )
            return [_message(row) for row in rows]


_SESSIONS = (
    "SELECT s.id, s.name, s.mode, s.created_at, s.updated_at, s.settings,"
    " (SELECT count(*) FROM message WHERE session_id = s.id AND role IN ('user', 'assistant')) AS messages"
    " FROM session AS s"
)

_FIRST_QUESTIONS = """
    WITH withdrawn AS (
        SELECT run_id FROM message WHERE role = 'user' AND run_id IS NOT NULL
        AND json_valid(data) AND json_extract(data, '$.withdrawn') IS NOT NULL
    )
    SELECT CAST(session_id AS BLOB), CAST(question AS BLOB) FROM (
        SELECT session_id, question, row_number() OVER (
            PARTITION BY session_id ORDER BY id IN (SELECT run_id FROM withdrawn), rowid
        ) AS place FROM run WHERE session_id IS NOT NULL
    ) WHERE place = 1
"""


def _shown(data: bytes | None) -> str:
    """Decode a column's bytes, with a sign for each invalid part; "" if a damaged row has none."""
    return (data or b"").decode("utf-8", "replace")


def _message(row: sqlite3.Row) -> StoredMessage:
    template = template_of("message", "data", row["role"])
    data = stored_json(row["data"], template, f"the data of a message of {row['created_at']}")
    return StoredMessage(row["role"], row["content"], data, row["run_id"], row["created_at"])
