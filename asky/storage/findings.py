"""Findings: what was worked out and kept for later."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from asky.storage.database import Database

Trust = Literal["user", "local", "web"]
"""Whose words a finding rests on: the user's own, documents of this machine, or pages that anybody may have written."""


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
        trust: Trust = "web",
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


def _finding(row: sqlite3.Row) -> Finding:
    return Finding(
        id=row["id"], session_id=row["session_id"], run_id=row["run_id"], text=row["text"],
        tags=tuple(json.loads(row["tags"])), trust=row["trust"], passages=tuple(json.loads(row["passages"])),
        created_at=row["created_at"], space_id=row["space_id"], vector=row["vector"],
    )  # fmt: skip
