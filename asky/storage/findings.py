"""Findings: what was worked out and kept for later."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from asky.errors import StoreDamaged
from asky.storage.database import Database
from asky.storage.stored_json import SEE_DOCTOR, SHAPES, Unreadable, stored_json

Trust = Literal["user", "local", "web"]
"""Whose words a finding rests on: the user's own, documents of this machine, or pages that anybody may have written."""

_TRUSTS = get_args(Trust)


@dataclass(frozen=True, slots=True)
class Finding:
    """An insight kept for later.

    `passages` are objects: what `asky.research.memory.passage_record` makes of a passage.
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
    """Which findings may be seen: `all` of them, those of one `session`, or what a session `recalls`.

    That is its own, and what the user has written down for no session. A model cannot write for no session, so nothing
    of one session gets into another by that way.
    """

    reach: Literal["all", "session", "recalled"] = "all"
    session_id: str | None = None

    def where(self) -> tuple[str, list[object]]:
        """A condition on rows of `finding`, and its parameters."""
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
        """Whether nothing can be kept, because the store can only be read."""
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
        """Keep a finding and return its id; it is on disk when this returns.

        What its session has in the same words is not kept twice: the id is then that of the one which is there.
        `vector` is float32[dim] as bytes.
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
        """The id of the finding of a session, or of none, that says the same in the same words."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT id FROM finding WHERE session_id IS ? AND text = ? ORDER BY id LIMIT 1", (session_id, text)
            ).fetchone()
            return int(row["id"]) if row is not None else None

    def recent(self, scope: FindingScope = EVERY_FINDING) -> list[Finding]:
        """The findings in scope, the newest first."""
        where, parameters = scope.where()
        with self._db.read() as connection:
            return [
                _finding(row) for row in connection.execute(f"{_SELECT} WHERE {where} ORDER BY id DESC", parameters)
            ]

    def listed(self, scope: FindingScope = EVERY_FINDING) -> list[Finding | Unreadable]:
        """What `recent` gives, with a finding that cannot be read in its place, named by its id, and no error."""
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
        """The findings with these ids, by id; one that is not there is left out."""
        with self._db.read() as connection:
            rows = connection.execute(
                f"{_SELECT} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
            )
            return {row["id"]: _finding(row) for row in rows}

    def count_of_run(self, run_id: str) -> int:
        """How many findings a run has kept."""
        with self._db.read() as connection:
            return int(connection.execute("SELECT count(*) FROM finding WHERE run_id = ?", (run_id,)).fetchone()[0])

    def remove(self, ids: Sequence[int]) -> int:
        """Forget findings and return how many there were.

        Their texts are overwritten in the store's file, where no other process is just reading it, and not only taken
        out of its table.
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

    # what search reads

    def vectors(self, scope: FindingScope, space_id: int, dim: int) -> tuple[list[int], bytes]:
        """The ids of the findings in scope that have a vector in a space, the newest first, and float32[n, dim]."""
        where, parameters = scope.where()
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT id, vector FROM finding WHERE {where} AND {_HAS_VECTOR} ORDER BY id DESC",
                [*parameters, space_id, 4 * dim],
            ).fetchall()
        return [row[0] for row in rows], b"".join([row[1] for row in rows])

    def without_vector(self, scope: FindingScope, space_id: int, dim: int) -> list[tuple[int, str]]:
        """The ids and texts of the findings in scope that have none, or a damaged one, the newest first."""
        where, parameters = scope.where()
        with self._db.read() as connection:
            rows = connection.execute(
                f"SELECT id, text FROM finding WHERE {where} AND ({_HAS_VECTOR}) IS NOT 1 ORDER BY id DESC",
                [*parameters, space_id, 4 * dim],
            )
            return [(row["id"], row["text"]) for row in rows]

    def texts(self, scope: FindingScope) -> Iterator[tuple[int, str]]:
        """The ids and texts of the findings in scope, the newest first."""
        where, parameters = scope.where()
        with self._db.read() as connection:
            for row in connection.execute(f"SELECT id, text FROM finding WHERE {where} ORDER BY id DESC", parameters):
                yield row["id"], row["text"]

    def set_vectors(self, space_id: int, vectors: Mapping[int, bytes]) -> None:
        """Give findings their vectors, by id: all of them or none. A finding has one vector, of one space."""
        with self._db.write() as connection:
            connection.executemany(
                "UPDATE finding SET space_id = ?, vector = ? WHERE id = ?",
                [(space_id, vector, id_) for id_, vector in vectors.items()],
            )

    # whose words a new finding rests on

    def may_rest_on_web(self, run_id: str, session_id: str | None) -> bool:
        """Whether a model of that run has seen what others may have written, in it or earlier in its session.

        That are results of searches, pages, what the user's own tools gave, and findings that rest on such; and records
        that were damaged, of which nobody can tell.
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
        raise StoreDamaged(f"the store is damaged: the trust of finding {row['id']}: there is no such", hint=SEE_DOCTOR)
    return Finding(
        id=row["id"], session_id=row["session_id"], run_id=row["run_id"], text=row["text"],
        tags=_listed(row, "tags"), trust=row["trust"], passages=_listed(row, "passages"),
        created_at=row["created_at"],
    )  # fmt: skip


def _listed(row: sqlite3.Row, column: str) -> tuple[Any, ...]:
    return tuple(stored_json(row[column], SHAPES["finding", column], f"the {column} of finding {row['id']}"))
