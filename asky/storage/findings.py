"""Findings: insights stored for later."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from asky.errors import StoreDamaged
from asky.storage.database import Database
from asky.storage.stored_json import SEE_DOCTOR, stored_json, template_of
from asky.values import Unreadable

Trust = Literal["user", "local", "web"]
"""The origin of a finding's content: the user, local documents, or web pages that anybody may have written."""

_TRUSTS = get_args(Trust)


@dataclass(frozen=True, slots=True)
class Finding:
    """An insight stored for later.

    `passages` are objects as returned by `asky.research.memory.passage_record`.
    """

    id: int
    session_id: str | None
    run_id: str | None
    text: str
    tags: tuple[str, ...]
    trust: Trust
    passages: tuple[Mapping[str, Any], ...]
    created_at: str


@dataclass(frozen=True, slots=True)
class FindingScope:
    """The findings that may be seen: `all`, those of one `session`, or those that a session `recalls`.

    These are its own, and those that the user saved without a session. A model cannot save one without a session, so
    nothing leaks from one session to another that way.
    """

    reach: Literal["all", "session", "recalled"] = "all"
    session_id: str | None = None

    def where(self) -> tuple[str, list[object]]:
        """Return a condition on rows of `finding`, and its parameters."""
        if self.reach == "all":
            return "1", []
        if self.reach == "session":
            return "session_id IS ?", [self.session_id]
        return "(session_id = ? OR (session_id IS NULL AND trust = 'user'))", [self.session_id]


EVERY_FINDING = FindingScope()


class FindingStore:
    """The repository of findings."""

    def __init__(self, database: Database) -> None:
        self._db = database

    @property
    def read_only(self) -> bool:
        """Return whether nothing can be stored, because the store is read-only."""
        return self._db.read_only

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
        """Store a finding and return its id; it is on disk on return.

        A finding with the same words in the same session is not stored twice: its id is returned instead. `vector` is
        float32[dim] as bytes.
        """
        with self._db.write() as connection:
            known = self.same(text, session_id=session_id)
            if known is not None:
                return known
            cursor = connection.execute(
                "INSERT INTO finding(session_id, run_id, text, tags, trust, passages, space_id, vector, created_at)"
                " VALUES (?,?,?,?,?,?,?,?,?)",
                (
                    session_id, run_id, text, json.dumps(list(tags), ensure_ascii=False), trust,
                    json.dumps([dict(each) for each in passages], ensure_ascii=False), space_id, vector,
                    self._db.clock(),
                ),
            )  # fmt: skip
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def same(self, text: str, *, session_id: str | None) -> int | None:
        """Return the id of the finding with the same words in a session, or without one."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT id FROM finding WHERE session_id IS ? AND text = ? ORDER BY id LIMIT 1", (session_id, text)
            ).fetchone()
            return int(row["id"]) if row is not None else None

    def recent(self, scope: FindingScope = EVERY_FINDING) -> list[Finding]:
        """Return the findings in scope, newest first."""
        where, parameters = scope.where()
        with self._db.read() as connection:
            return [
                _finding(row) for row in connection.execute(f"{_SELECT} WHERE {where} ORDER BY id DESC", parameters)
            ]

    def listed(self, scope: FindingScope = EVERY_FINDING) -> list[Finding | Unreadable]:
        """Return the findings of `recent`, with an `Unreadable`, named by its id, in place of an error."""
        where, parameters = scope.where()
        with self._db.read() as connection:
            rows = connection.execute(f"SELECT id FROM finding WHERE {where} ORDER BY id DESC", parameters).fetchall()
        found = (self._readable(row["id"]) for row in rows)
        return [each for each in found if each is not None]

    def _readable(self, id_: int) -> Finding | Unreadable | None:
        try:
            return self.get([id_]).get(id_)  # None: removed meanwhile
        except StoreDamaged as error:
            return Unreadable(str(id_), error.message)

    def get(self, ids: Sequence[int]) -> dict[int, Finding]:
        """Return the findings with these ids, by id; missing ones are left out."""
        with self._db.read() as connection:
            rows = connection.execute(
                f"{_SELECT} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
            )
            return {row["id"]: _finding(row) for row in rows}

    def count_of_run(self, run_id: str) -> int:
        """Return the number of findings that a run saved."""
        with self._db.read() as connection:
            return int(connection.execute("SELECT count(*) FROM finding WHERE run_id = ?", (run_id,)).fetchone()[0])

    def remove(self, ids: Sequence[int]) -> int:
        """Delete findings and return how many there were.

        Their texts are also overwritten in the store's file, unless another process is reading it, not only removed
        from its table.
        """
        with self._db.read() as connection:
            connection.execute("PRAGMA secure_delete=ON")
        with self._db.write() as connection:
            removed = connection.execute(
                "DELETE FROM finding WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
            ).rowcount
        with self._db.read() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    # for search

    def vectors(self, scope: FindingScope, space_id: int, dim: int) -> tuple[list[int], bytes]:
        """Return the ids of the findings in scope with a vector in a space, newest first, and float32[n, dim]."""
        where, parameters = scope.where()
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT id, vector FROM finding WHERE {where} AND {_HAS_VECTOR} ORDER BY id DESC",
                [*parameters, space_id, 4 * dim],
            ).fetchall()
        return [row[0] for row in rows], b"".join([row[1] for row in rows])

    def without_vector(self, scope: FindingScope, space_id: int, dim: int) -> list[tuple[int, str]]:
        """Return the ids and texts of the findings in scope with no vector, or a damaged one, newest first."""
        where, parameters = scope.where()
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT id, text FROM finding WHERE {where} AND ({_HAS_VECTOR}) IS NOT 1 ORDER BY id DESC",
                [*parameters, space_id, 4 * dim],
            )
            return [(row["id"], row["text"]) for row in rows]

    def texts(self, scope: FindingScope) -> Iterator[tuple[int, str]]:
        """Yield the ids and texts of the findings in scope, newest first."""
        where, parameters = scope.where()
        with self._db.read() as connection:
            for row in connection.execute(f"SELECT id, text FROM finding WHERE {where} ORDER BY id DESC", parameters):
                yield row["id"], row["text"]

    def set_vectors(self, space_id: int, vectors: Mapping[int, bytes]) -> None:
        """Store the vectors of findings, by id: all or none. A finding has one vector, of one space."""
        with self._db.write() as connection:
            connection.executemany(
                "UPDATE finding SET space_id = ?, vector = ? WHERE id = ?",
                [(space_id, vector, id_) for id_, vector in vectors.items()],
            )

    # the origin of a new finding

    def may_depend_on_web(self, run_id: str, session_id: str | None) -> bool:
        """Return whether a model of that run has seen untrusted content, in it or earlier in its session.

        That includes search results, pages, output of the user's own tools, findings based on such, and damaged
        records, whose origin is unknown.
        """
        with self._db.read() as connection:
            row = connection.execute(_SAW_WEB, {"run": run_id, "session": session_id}).fetchone()
            return bool(row[0])


_SELECT = "SELECT id, session_id, run_id, text, tags, trust, passages, created_at FROM finding"
_HAS_VECTOR = "space_id = ? AND length(vector) = ?"
_SAW_WEB = """
    WITH seen(id) AS (SELECT id FROM run WHERE id = :run OR session_id = :session)
    SELECT EXISTS (SELECT 1 FROM ledger WHERE run_id IN seen AND (
               kind IN ('web_searched', 'read', 'ran', 'set_aside')
               OR (kind = 'recalled' AND coalesce(json_extract(data, '$.of_web'), 1))))
        OR EXISTS (SELECT 1 FROM passage WHERE run_id IN seen
                   AND json_extract(source, '$.kind') NOT IN ('file', 'note'))
"""


def _finding(row: sqlite3.Row) -> Finding:
    if row["trust"] not in _TRUSTS:
        raise StoreDamaged(
            f"the store is damaged: the trust of finding {row['id']} is not a valid value", hint=SEE_DOCTOR
        )
    return Finding(
        id=row["id"], session_id=row["session_id"], run_id=row["run_id"], text=row["text"],
        tags=_listed(row, "tags"), trust=row["trust"], passages=_listed(row, "passages"),
        created_at=row["created_at"],
    )  # fmt: skip


def _listed(row: sqlite3.Row, column: str) -> tuple[Any, ...]:
    return tuple(stored_json(row[column], template_of("finding", column), f"the {column} of finding {row['id']}"))
