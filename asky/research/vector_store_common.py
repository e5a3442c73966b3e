"""Vector arithmetic shared by the parts of the store. Everything is little-endian on every machine.

numpy is imported by each function that needs it: 0.1 s of CPU, which `asky corpus sync` of unchanged files saves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from asky.errors import ProviderError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.int64]
    Scores = npt.NDArray[np.float32]
    Vectors = npt.NDArray[np.float32]
    Buffer = bytes | bytearray | memoryview

    from asky.storage.vectors import Pack


def ids_to_bytes(ids: Sequence[int] | Ids) -> bytes:
    """Encode int64[n] as bytes."""
    import numpy as np

    return np.asarray(ids, dtype="<i8").tobytes()


def ids_from_bytes(data: Buffer) -> Ids:
    """Decode the int64[n] of `ids_to_bytes`."""
    import numpy as np

    return np.frombuffer(data, dtype="<i8")


def vectors_to_bytes(vectors: Vectors) -> bytes:
    """Encode float32[n, dim] or float32[dim] as bytes."""
    import numpy as np

    return np.ascontiguousarray(vectors, dtype="<f4").tobytes()


def vectors_from_bytes(data: Buffer, dim: int) -> Vectors:
    """Decode the float32[n, dim] of `vectors_to_bytes`."""
    import numpy as np

    return np.frombuffer(data, dtype="<f4").reshape(-1, dim)


def check_vectors(vectors: Vectors, *, count: int, dim: int) -> None:
    """Raise `ProviderError` for vectors that are unfit for comparison: wrong shape, NaN, infinite or zero."""
    import numpy as np

    if vectors.shape != (count, dim):
        raise ProviderError(f"the embedding model returned vectors of shape {vectors.shape}, not {(count, dim)}")
    if not np.isfinite(vectors).all() or (count and not np.einsum("ij,ij->i", vectors, vectors).all()):
        raise ProviderError("the embedding model returned a vector that is zero or not finite")


def join_packs(packs: Iterable[Pack], dim: int) -> tuple[Ids, Vectors]:
    """Concatenate the ids and vectors of `packs`: int64[n] and float32[n, dim], in their order."""
    ids, rows = bytearray(), bytearray()  # grow in place: a list of packs would double the memory
    for pack in packs:
        ids += pack.chunk_ids
        rows += pack.vectors
    return ids_from_bytes(ids), vectors_from_bytes(rows, dim)


def best(scores: Scores, limit: int) -> Ids:
    """Return the positions of the `limit` largest scores, largest first, ties by position."""
    import numpy as np

    if limit < len(scores):
        # Everything that ties with the last place is kept, so that the cut does not depend on the partition.
        threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        positions = np.flatnonzero(scores >= threshold)
    else:
        positions = np.arange(len(scores))
    return positions[np.argsort(-scores[positions], kind="stable")][:limit]
