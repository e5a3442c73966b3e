"""Runs and their ledger: what was searched, shown, cited and checked, in order, append-only."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

from asky.errors import StorageError, StoreDamaged, UsageError
from asky.storage.database import Database
from asky.storage.documents import DocumentStore
from asky.storage.liveness import live_runs
from asky.storage.steps import StepStore
from asky.storage.stored_json import ANSWER, SEE_DOCTOR, SOURCE, stored_json, template_of
from asky.values import Evidence, Source, Span, Unreadable

Outcome = Literal["finished", "failed", "cancelled"]
RunStatus = Literal["running", "interrupted", "finished", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Run:
    """One question and its result; `answer` is the `asky.answer/1` object once there is one.

    An "interrupted" run never ended: its process is gone.
    """

    id: str
    session_id: str | None
    mode: str
    question: str
    model: str
    status: RunStatus
    started_at: str
    finished_at: str | None
    answer: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One entry in the ledger of a run."""

    at: str
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage that was shown in a run; its document's text is kept as long as the run."""

    key: str
    source: Source
    document_id: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spent:
    """Usage of model calls, prompts and replies together; calls without a known price add nothing to the cost."""

    tokens: int = 0
    cost_usd: float = 0.0


def start_of_day(now: str) -> str:
    """Return the midnight (UTC) before `now`, both in the format of the store."""
    return f"{now[:10]}T00:00:00.000000Z"


class RunStore:
    """The repository of runs, their ledgers and the passages they showed.

    The store marks a run without an end as running; whether it is alive is checked on each read. Runs are in the order
    in which they were begun, whatever the clock said then: that of their rows.
    """

    def __init__(self, database: Database) -> None:
        self._db = database
        self._live = live_runs(database.path)
        self._documents = DocumentStore(database)
        self.steps = StepStore(database)

    def new_id(self) -> str:
        """Return an id for a run. Ids sort by time: `YYYYMMDD-HHMMSS-xxxxxxxx`."""
        now = self._db.clock()
        return f"{now[:19].replace('-', '').replace(':', '').replace('T', '-')}-{os.urandom(4).hex()}"

    def start(self, *, question: str, mode: str, model: str, session_id: str | None, id_: str | None = None) -> Run:
        """Record that a run begins in this process, under an id from `new_id`.

        It counts as live until `release`, which the caller must call, even if a transaction around this one fails.
        """
        now, id_ = self._db.clock(), id_ or self.new_id()
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO run(id, session_id, mode, question, model, status, started_at)"
                " VALUES (?,?,?,?,?,'running',?)",
                (id_, session_id, mode, question, model, now),
            )
            self._live.hold(id_)  # before anybody can see the run
        return Run(id_, session_id, mode, question, model, "running", now, None, None)

    def take_up(self, run_id: str) -> None:
        """Record that this process resumes a run that has no answer or a partial one, which is discarded.

        Raises `UsageError` if another process is running it, or if it has finished. Of two processes that try, one
        succeeds. The run counts as live like a started one.
        """
        with self._db.write() as connection:
            row = connection.execute("SELECT status FROM run WHERE id = ?", (run_id,)).fetchone()
            if row is None:
                raise UsageError(f"run {run_id} was removed meanwhile")
            if row["status"] == "finished":
                raise UsageError(f"run {run_id} has finished", hint=f"`asky runs show {run_id}` prints its answer")
            if row["status"] == "running" and self._live.is_live(run_id):
                raise UsageError(f"run {run_id} is still running", hint="wait for it, or stop its process")
            connection.execute(
                "UPDATE run SET status = 'running', finished_at = NULL, answer = NULL WHERE id = ?", (run_id,)
            )
            self._live.hold(run_id)

    def release(self, run_id: str) -> None:
        """Mark a run as no longer live in this process. Does nothing if the process does not hold it.

        Call it after the transaction in which the run ends, or the run would be reported as interrupted meanwhile. A
        run whose end could not be written counts as interrupted from then on. Texts that were kept for it go.
        """
        self._live.release(run_id)
        with suppress(StorageError):  # the end of the next run drops them
            self._documents.drop_left()

    def finish(self, run_id: str, status: Outcome, answer: Mapping[str, Any] | None) -> None:
        """Record how a run ended, with its answer if there is one; call `release` afterwards."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE run SET status = ?, finished_at = ?, answer = ? WHERE id = ?",
                (
                    status,
                    self._db.clock(),
                    json.dumps(answer, ensure_ascii=False) if answer is not None else None,
                    run_id,
                ),
            )

    def record(self, run_id: str, kind: str, data: Mapping[str, Any]) -> None:
        """Append an entry to the run's ledger; it is on disk on return."""
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO ledger(run_id, at, kind, data) VALUES (?,?,?,?)",
                (run_id, self._db.clock(), kind, json.dumps(data, ensure_ascii=False)),
            )

    def show(self, run_id: str, passages: Sequence[Evidence]) -> None:
        """Record passages before they are shown to a model; a repeated key is recorded once."""
        with self._db.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO passage VALUES (?,?,?,?,?,?,?)",
                [
                    (
                        run_id, each.key, each.source.id, json.dumps(asdict(each.source), ensure_ascii=False),
                        each.document_id, each.span.start, each.span.end,
                    )
                    for each in passages
                ],
            )  # fmt: skip
            self.record(run_id, "shown", {"keys": [each.key for each in passages]})

    def find(self, run_id: str | None) -> Run:
        """Return the run with this id or unique prefix, or the last one for `None`. Raises `UsageError` without one."""
        with self._db.read() as connection:
            if run_id is None:
                rows = connection.execute("SELECT * FROM run ORDER BY rowid DESC LIMIT 1").fetchall()
            else:
                rows = connection.execute(
                    "SELECT * FROM run WHERE id = ? OR substr(id, 1, ?) = ? ORDER BY id = ? DESC LIMIT 2",
                    (run_id, len(run_id), run_id, run_id),
                ).fetchall()
        if not rows:
            what = "there are no runs yet" if run_id is None else f"there is no run {run_id!r}"
            raise UsageError(what, hint="`asky runs list` shows what there is")
        if len(rows) > 1 and rows[0]["id"] != run_id:
            raise UsageError(
                f"{run_id!r} is the beginning of more than one run id", hint="`asky runs list` shows the full ids"
            )
        return self._run(rows[0])

    def last_citing(self) -> Run | None:
        """Return the last run whose answer cites something, or `None`."""
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT * FROM run WHERE CASE WHEN json_valid(answer) THEN json_array_length(answer, '$.citations') END"
                " ORDER BY rowid DESC LIMIT 1"
            ).fetchone()
        return self._run(row) if row is not None else None

    def recent(self, *, limit: int | None = None, session_id: str | None = None) -> list[Run]:
        """Return runs, newest first; at most `limit`, if given."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT * FROM run WHERE ? IS NULL OR session_id = ? ORDER BY rowid DESC LIMIT ?",
                (session_id, session_id, -1 if limit is None else limit),  # -1: no limit
            ).fetchall()  # an open statement would keep its snapshot for everything read meanwhile
        return [self._run(row) for row in rows]

    def listed(self, *, limit: int | None = None, session_id: str | None = None) -> list[Run | Unreadable]:
        """Return the runs of `recent`, with an `Unreadable` in place of an error."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT rowid, CAST(id AS BLOB) AS id FROM run WHERE ? IS NULL OR session_id = ?"
                " ORDER BY rowid DESC LIMIT ?",
                (session_id, session_id, -1 if limit is None else limit),
            ).fetchall()
        found = (self._readable(row["rowid"], row["id"]) for row in rows)
        return [each for each in found if each is not None]

    def _readable(self, number: int, id_: bytes) -> Run | Unreadable | None:
        try:
            with self._db.read() as connection:
                row = connection.execute("SELECT * FROM run WHERE rowid = ?", (number,)).fetchone()
            return self._run(row) if row is not None else None  # None: removed meanwhile
        except StoreDamaged as error:
            return Unreadable(id_.decode("utf-8", "replace"), error.message)

    def interrupted(self) -> list[str]:
        """Return the ids of the runs that never ended and whose process is gone, oldest first."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT * FROM run WHERE status = 'running' ORDER BY rowid").fetchall()
        return [row["id"] for row in rows if self._run(row).status == "interrupted"]

    def ledger(self, run_id: str) -> list[LedgerEntry]:
        """Return the run's ledger, oldest entry first."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT at, kind, data FROM ledger WHERE run_id = ? ORDER BY id", (run_id,))
            what = f"the ledger of run {run_id}"
            return [self._entry(row, what) for row in rows]

    def has_entry(self, run_id: str, kind: str) -> bool:
        """Return whether the ledger of a run has an entry of that kind."""
        with self._db.read() as connection:
            row = connection.execute("SELECT 1 FROM ledger WHERE run_id = ? AND kind = ? LIMIT 1", (run_id, kind))
            return row.fetchone() is not None

    def spent_today(self, *, excluding: str | None = None) -> Spent:
        """Return the spending since midnight (UTC), as counted by `spent_since`."""
        return self.spent_since(start_of_day(self._db.clock()), excluding=excluding)

    def spent_since(self, time: str, *, excluding: str | None = None) -> Spent:
        """Return the usage of model calls since `time` over all runs except `excluding`, whatever their outcome.

        A call is a ledger entry `called` with the fields of a `ModelUsage`, so the calls of a run in another process
        are counted too, and those of a deleted run.
        """
        with self._db.read() as connection:
            row = connection.execute(
                "SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost_usd), 0.0) AS cost_usd FROM spending"
                " WHERE at >= ? AND run_id IS NOT ?",
                (time, excluding),
            ).fetchone()
        return Spent(row["tokens"], row["cost_usd"])

    def spent_by_run(self, run_ids: Sequence[str]) -> dict[str, tuple[int, float | None]]:
        """Return tokens and cost of the model calls of each run; the cost is `None` if no call has a known one."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT run_id, sum(tokens) AS tokens, sum(cost_usd) AS cost_usd FROM spending"
                " WHERE run_id IN (SELECT value FROM json_each(?)) GROUP BY run_id",
                (json.dumps(list(run_ids)),),
            ).fetchall()
        return {row["run_id"]: (row["tokens"], row["cost_usd"]) for row in rows}

    def passages(self, run_id: str) -> list[StoredPassage]:
        """Return the passages that the run showed, in order of key."""
        with self._db.read() as connection:
            rows = connection.execute("SELECT * FROM passage WHERE run_id = ? ORDER BY key", (run_id,))
            return [_passage(row) for row in rows]

    def passages_of_session(self, session_id: str) -> list[StoredPassage]:
        """Return the passages that all runs of a session showed, oldest run first; the first passage of each key."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT p.*, min(r.rowid) FROM passage AS p JOIN run AS r ON r.id = p.run_id"
                " WHERE r.session_id = ? GROUP BY p.key ORDER BY min(r.rowid), p.key",
                (session_id,),
            )
            return [_passage(row) for row in rows]

    def _entry(self, row: sqlite3.Row, what: str) -> LedgerEntry:
        template = template_of("ledger", "data", row["kind"], self._db.ledger_entries)
        return LedgerEntry(row["at"], row["kind"], stored_json(row["data"], template, what))

    def _run(self, row: sqlite3.Row) -> Run:
        status: RunStatus = row["status"]
        if status == "running" and not self._live.is_live(row["id"]):
            with self._db.read() as connection:  # again: it may have ended and been released since
                row = connection.execute("SELECT * FROM run WHERE id = ?", (row["id"],)).fetchone() or row
            status = "interrupted" if row["status"] == "running" else row["status"]
        answer = stored_json(row["answer"], ANSWER, f"the answer of run {row['id']}") if row["answer"] else None
        return Run(
            row["id"], row["session_id"], row["mode"], row["question"], row["model"], status,
            row["started_at"], row["finished_at"], answer,
        )  # fmt: skip


def _passage(row: sqlite3.Row) -> StoredPassage:
    what = f"passage {row['key']} of run {row['run_id']}"
    source = stored_json(row["source"], SOURCE, f"the source of {what}")
    source["authors"] = tuple(source.get("authors", ()))
    try:
        span = Span(row["start"], row["end"])
    except (TypeError, ValueError) as error:
        raise StoreDamaged(f"the store is damaged: the place of {what}: {error}", hint=SEE_DOCTOR) from error
    return StoredPassage(row["key"], Source(**source), row["document_id"], span.start, span.end)
