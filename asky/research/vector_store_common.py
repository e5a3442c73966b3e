"""Vector arithmetic that the store's parts share. Everything is little-endian, whatever the machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from asky.errors import ProviderError

if TYPE_CHECKING:
    import numpy.typing as npt

    Ids = npt.NDArray[np.int64]
    Scores = npt.NDArray[np.float32]
    Vectors = npt.NDArray[np.float32]

    from asky.storage.vectors import Pack


def ids_to_bytes(ids: Sequence[int] | Ids) -> bytes:
    """int64[n] as bytes."""
    return np.asarray(ids, dtype="<i8").tobytes()


def ids_from_bytes(data: bytes | bytearray) -> Ids:
    """The int64[n] of `ids_to_bytes`."""
    return np.frombuffer(data, dtype="<i8")


def vectors_to_bytes(vectors: Vectors) -> bytes:
    """float32[n, dim] or float32[dim] as bytes."""
    return np.ascontiguousarray(vectors, dtype="<f4").tobytes()


def vectors_from_bytes(data: bytes | bytearray, dim: int) -> Vectors:
    """The float32[n, dim] of `vectors_to_bytes`."""
    return np.frombuffer(data, dtype="<f4").reshape(-1, dim)


def check_vectors(vectors: Vectors, *, count: int, dim: int) -> None:
    """Refuse vectors that would poison every comparison: wrong shape, NaN, infinite or zero. Raises `ProviderError`."""
    if vectors.shape != (count, dim):
        raise ProviderError(f"the embedding model gave vectors of shape {vectors.shape}, not {(count, dim)}")
    if not np.isfinite(vectors).all() or (count and not np.einsum("ij,ij->i", vectors, vectors).all()):
        raise ProviderError("the embedding model gave a vector that is zero or not finite")


def join_packs(packs: Iterable[Pack], dim: int) -> tuple[Ids, Vectors]:
    """All ids and vectors of `packs`: int64[n] and float32[n, dim], in their order."""
    ids, rows = bytearray(), bytearray()  # which grow in place: a list of packs would be held beside their sum
    for pack in packs:
        ids += pack.chunk_ids
        rows += pack.vectors
    return ids_from_bytes(ids), vectors_from_bytes(rows, dim)


def best(scores: Scores, limit: int) -> Ids:
    """Positions of the `limit` largest scores, the largest first, ties by position."""
    if limit < len(scores):
        # Everything that ties with the last place stays in, so that the cut does not depend on the partition.
        threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        positions = np.flatnonzero(scores >= threshold)
    else:
        positions = np.arange(len(scores))
    return positions[np.argsort(-scores[positions], kind="stable")][:limit]
