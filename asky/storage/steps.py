"""The steps of runs: what each got from outside, compressed, so that it can be taken up again or played again."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.errors import StoreDamaged
from asky.storage.record_shapes import STEP
from asky.storage.stored_json import SEE_DOCTOR, WRITTEN_OTHERWISE, fits

if TYPE_CHECKING:
    import sqlite3

    from asky.storage.database import Database

_LEVEL = 6  # 60 kB of prompt and passages: 1.3 ms and 35 %; level 9 takes half as long again for 0.5 % less


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run. `ordinal` counts from 0; `kind` and `key` say what was asked for, `data` what came of it."""

    ordinal: int
    kind: str
    key: str
    data: Mapping[str, Any]


class StepStore:
    """The repository of steps. They go with their run."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def together(self) -> AbstractContextManager[sqlite3.Connection]:
        """A transaction of the store: all that this thread writes within it is kept, or none of it."""
        return self._db.write()

    def add(self, run_id: str, kind: str, key: str, data: Mapping[str, Any]) -> None:
        """Append a step; it is on disk when this returns, or with the transaction that this is a part of."""
        packed = _packed(data)
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO step SELECT ?1, coalesce(max(ordinal) + 1, 0), ?2, ?3, ?4 FROM step WHERE run_id = ?1",
                (run_id, kind, key, packed),
            )

    def of(self, run_id: str) -> list[Step]:
        """The steps of a run, in order; none for a run from before there were any.

        Raises `StoreDamaged` where one cannot be read.
        """
        with self._db.read() as connection:
            rows = connection.execute("SELECT * FROM step WHERE run_id = ? ORDER BY ordinal", (run_id,)).fetchall()
        try:
            return [
                Step(row["ordinal"], row["kind"], row["key"], unpacked_step(row["data"], row["kind"])) for row in rows
            ]
        except ValueError as error:
            raise StoreDamaged(f"the record of run {run_id} is damaged: {error}", hint=SEE_DOCTOR) from error

    def replace(self, run_id: str, steps: Sequence[Step]) -> None:
        """Put `steps` in the place of those with their ordinals."""
        with self._db.write() as connection:
            connection.executemany(
                "UPDATE step SET kind = ?, key = ?, data = ? WHERE run_id = ? AND ordinal = ?",
                [(each.kind, each.key, _packed(each.data), run_id, each.ordinal) for each in steps],
            )

    def forget_messages(self, run_id: str) -> None:
        """Take what a run said out of the transcript of its session: it is about to say it anew."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM message WHERE run_id = ?", (run_id,))


def _packed(data: Mapping[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def unpacked_step(packed: Any, kind: object) -> Mapping[str, Any]:
    """What the column `data` of a step of that kind holds.

    Raises `ValueError`, which says why, where it holds no such thing.
    """
    try:
        data = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    except (zlib.error, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"it does not unpack: {error}") from error
    if not fits(data, STEP.of(kind)):
        raise ValueError(WRITTEN_OTHERWISE)
    assert isinstance(data, dict)
    return data
