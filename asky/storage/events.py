"""The stored events of runs, numbered."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.storage.stored_json import stored_json, template_of

if TYPE_CHECKING:
    from asky.storage.database import Database


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event of a run. `seq` counts from 1; `fields` are values of JSON."""

    seq: int
    at: str
    name: str
    fields: dict[str, Any]


class EventStore:
    """The repository of events. They are removed with their run."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def append(self, run_id: str, events: Iterable[StoredEvent]) -> None:
        """Append `events` to those of the run; they are on disk on return."""
        rows = [(run_id, each.seq, each.at, each.name, _text(each.fields)) for each in events]
        with self._db.write() as connection:
            connection.executemany("INSERT INTO event(run_id, seq, at, name, data) VALUES (?,?,?,?,?)", rows)

    def after(self, run_id: str, seq: int, *, limit: int = 500) -> list[StoredEvent]:
        """Return the next events of the run after number `seq`, in order, at most `limit`.

        Raises `StoreDamaged` if one cannot be read.
        """
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT seq, at, name, data FROM event WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?",
                (run_id, seq, limit),
            ).fetchall()
        template = template_of("event", "data")
        return [
            StoredEvent(
                row["seq"], row["at"], row["name"],
                stored_json(row["data"], template, f"event {row['seq']} of run {run_id}"),
            )
            for row in rows
        ]  # fmt: skip

    def has_warned(self, session_id: str, topic: str) -> bool:
        """Return whether a run of the session has warned about `topic`, or with that message and no topic."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT 1 FROM run AS r JOIN event AS e ON e.run_id = r.id WHERE r.session_id = ? AND e.name = 'warned'"
                " AND coalesce(json_extract(e.data, '$.topic'), json_extract(e.data, '$.message')) = ? LIMIT 1",
                (session_id, topic),
            ).fetchone()
        return row is not None

    def last(self, run_id: str) -> int:
        """Return the number of the last event of the run; 0 for a run without events."""
        with self._db.read() as connection:
            row = connection.execute("SELECT max(seq) AS seq FROM event WHERE run_id = ?", (run_id,)).fetchone()
        return row["seq"] or 0


def _text(fields: dict[str, Any]) -> str:
    return json.dumps(fields, separators=(",", ":"))  # in ASCII: names of files need not be Unicode
