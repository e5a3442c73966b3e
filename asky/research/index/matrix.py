"""The vectors that an exact scan compares a question with, in as many arrays as they lie in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from asky.research.vector_store_common import best, ids_from_bytes, vectors_from_bytes

if TYPE_CHECKING:
    from asky.research.vector_store_common import Ids, Scores, Vectors
    from asky.storage.vector_files import VectorBlock

_HIDDEN = -1


class Matrix:
    """Vectors and the ids of their chunks: int64[n], and float32[m, dim] arrays of together n rows.

    A row with the id -1 is never found: its chunk is out of scope, or was removed.
    """

    def __init__(self, ids: Ids, parts: Sequence[Vectors]) -> None:
        self.ids = ids
        self.parts = parts
        self._hidden = (ids < 0).nonzero()[0]

    def __len__(self) -> int:
        return len(self.ids) - len(self._hidden)

    def cosines(self, query: Vectors) -> Scores:
        """Return the cosine of each row with `query`, float32[n]; that of a hidden row is negative infinity."""
        import numpy as np  # here and below: see `asky.research.vector_store_common`

        scores = np.concatenate([part @ query for part in self.parts] or [np.empty(0, np.float32)])
        scores[self._hidden] = -np.inf
        return scores

    def nearest(self, query: Vectors, count: int) -> list[int]:
        """Return the ids of the `count` chunks with the highest cosines, highest first."""
        found: list[int] = self.ids[best(self.cosines(query), min(count, len(self)))].tolist()
        return found

    def rows_of(self, wanted: Ids) -> tuple[Ids, Vectors]:
        """Return those of the chunks `wanted` that are here, and their vectors, in order of row.

        Of none that is float32[0, 0].
        """
        import numpy as np

        places = np.flatnonzero(np.isin(self.ids, wanted))
        if not len(places):
            return self.ids[:0], np.empty((0, 0), np.float32)
        ends = np.cumsum([len(part) for part in self.parts])
        at = np.searchsorted(ends, places, side="right")
        starts = ends - [len(part) for part in self.parts]
        rows = [self.parts[part][place - starts[part]] for part, place in zip(at, places, strict=True)]
        return self.ids[places], np.array(rows, dtype=np.float32).reshape(len(places), -1)


def matrix_of(blocks: Sequence[VectorBlock], dim: int, documents: Iterable[int] | None) -> Matrix:
    """Return the vectors of `blocks`, of all chunks or those of `documents`.

    Between the first and the last chosen row of a block all are compared: a collection's documents lie together.
    """
    import numpy as np

    ids = [np.empty(0, np.int64)]
    parts: list[Vectors] = []
    chosen = None if documents is None else np.fromiter(documents, np.int64)
    for block in blocks:
        block_ids, vectors = ids_from_bytes(block.ids), vectors_from_bytes(block.vectors, dim)
        if chosen is not None:
            packs = np.frombuffer(block.packs, dtype="<i8").reshape(-1, 4)
            inside = np.repeat(np.isin(packs[:, 1], chosen), packs[:, 2])
            within = np.flatnonzero(inside)
            if not len(within):
                continue
            span = slice(within[0], within[-1] + 1)
            block_ids, vectors = np.where(inside, block_ids, _HIDDEN)[span], vectors[span]
        ids.append(block_ids)
        parts.append(vectors)
    return Matrix(np.concatenate(ids), parts)
