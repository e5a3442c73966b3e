"""The steps of runs: the external inputs of each, compressed, so that it can be resumed or replayed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from asky.errors import StoreDamaged
from asky.storage.stored_json import SEE_DOCTOR

if TYPE_CHECKING:
    import sqlite3

    from asky.storage.database import Database

_LEVEL = 6  # 60 kB of prompt and passages: 1.3 ms and 35 %; level 9 takes 50 % longer for 0.5 % less


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run. `ordinal` counts from 0; `kind` and `key` identify the request, `data` the result."""

    ordinal: int
    kind: str
    key: str
    data: Mapping[str, Any]


class StepStore:
    """The repository of steps. They are deleted with their run."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def together(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return a transaction of the store: everything that this thread writes within it is kept, or nothing."""
        return self._db.write()

    def add(self, run_id: str, kind: str, key: str, data: Mapping[str, Any]) -> None:
        """Append a step; it is on disk on return, or when the surrounding transaction commits."""
        packed = _packed(data)
        with self._db.write() as connection:
            connection.execute(
                "INSERT INTO step SELECT ?1, coalesce(max(ordinal) + 1, 0), ?2, ?3, ?4 FROM step WHERE run_id = ?1",
                (run_id, kind, key, packed),
            )

    def of(self, run_id: str, kind: str | None = None) -> list[Step]:
        """Return the steps of a run, or those of one kind, in order; none for a run from before steps existed.

        Raises `StoreDamaged` if one cannot be read.
        """
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT * FROM step WHERE run_id = ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY ordinal", (run_id, kind)
            ).fetchall()
        try:
            return [Step(row["ordinal"], row["kind"], row["key"], unpacked_step(row["data"])) for row in rows]
        except ValueError as error:
            raise StoreDamaged(f"the record of run {run_id} is damaged: {error}", hint=SEE_DOCTOR) from error

    def replace(self, run_id: str, steps: Sequence[Step]) -> None:
        """Replace the steps with the same ordinals by `steps`."""
        with self._db.write() as connection:
            connection.executemany(
                "UPDATE step SET kind = ?, key = ?, data = ? WHERE run_id = ? AND ordinal = ?",
                [(each.kind, each.key, _packed(each.data), run_id, each.ordinal) for each in steps],
            )

    def forget_messages(self, run_id: str) -> None:
        """Delete a run's messages from the transcript of its session: the run is about to write them again."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM message WHERE run_id = ?", (run_id,))


def _packed(data: Mapping[str, Any]) -> bytes:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def unpacked_step(packed: Any) -> Mapping[str, Any]:
    """Return the content of the column `data` of a step. Raises `ValueError` with the reason if it cannot be unpacked.

    zlib's checksum detects a damaged step, so its fields are not validated one by one.
    """
    try:
        data = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    except (zlib.error, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"it cannot be unpacked: {error}") from error
    if not isinstance(data, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - the data is wrong, not the code
    return data
