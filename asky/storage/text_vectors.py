"""A cache of vectors of single texts (questions, titles, sentences), by the hash of the text."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from asky.errors import StorageError
from asky.storage.database import Database


class TextVectorTable:
    """The repository of those vectors. Losing them only costs recomputation."""

    def __init__(self, database: Database, *, now: Callable[[], float] = time.time) -> None:
        self._db = database
        self._now = now

    def get(self, space_id: int, digests: Sequence[str]) -> dict[str, bytes]:
        """Return the cached vectors, by digest: little-endian float32."""
        with self._db.read() as connection:
            rows = connection.execute(
                "SELECT digest, vector FROM text_vector WHERE space_id = ?"
                " AND digest IN (SELECT value FROM json_each(?))",
                (space_id, json.dumps(list(digests))),
            )
            return {row["digest"]: row["vector"] for row in rows}

    def put(self, space_id: int, vectors: Mapping[str, bytes]) -> None:
        """Store vectors by digest; a store that cannot be written is not an error."""
        now = self._now()
        rows = [(space_id, digest, vector, now) for digest, vector in vectors.items()]
        with suppress(StorageError), self._db.write() as connection:
            connection.executemany("INSERT OR REPLACE INTO text_vector VALUES (?, ?, ?, ?)", rows)

    def shrink(self, max_rows: int) -> int:
        """Delete the vectors beyond the newest `max_rows`; return how many were deleted."""
        with self._db.write() as connection:
            return connection.execute(
                "DELETE FROM text_vector WHERE (space_id, digest) IN"
                " (SELECT space_id, digest FROM text_vector ORDER BY used_at DESC, space_id, digest LIMIT -1 OFFSET ?)",
                (max_rows,),
            ).rowcount
