"""`python -m asky.research.index.probe FOLDER COLLECTION`: exit 0 if a Chroma store can be trusted.

Every stored vector must still be a unit vector, and must be found again under its own id: counting is not a check,
because a store that lost its graph still counts all rows and answers from the few that it has in memory. Lengths take
0.7 s for 20,000 vectors and are checked for all; a search takes 0.5 ms each and is tried for a sample. Opening a
damaged store can crash the process, so this runs in its own.
"""

from __future__ import annotations

import secrets
import sys
from typing import Any

from asky.research.telemetry import rule_out_telemetry

_BATCH = 2000
_SAMPLE = 200
_SAME = 1e-3  # cosine distance of a vector to itself, and of its length to 1, given float32 rounding


def main(folder: str, collection_name: str) -> int:
    """Return 0 if all vectors are intact and the sampled ones found, 1 otherwise; damage may also raise a signal."""
    rule_out_telemetry()
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(path=folder, settings=Settings(anonymized_telemetry=False))
    collection = client.get_collection(collection_name, embedding_function=None)
    ids = collection.get(include=[])["ids"]
    if len(ids) != collection.count():
        return 1
    return int(not (_are_unit_vectors(collection, ids) and _find_themselves(collection, ids)))


def _are_unit_vectors(collection: Any, ids: list[str]) -> bool:
    import numpy as np

    for start in range(0, len(ids), _BATCH):
        stored = collection.get(ids=ids[start : start + _BATCH], include=["embeddings"])["embeddings"]
        if not (np.abs(np.linalg.norm(stored, axis=1) - 1) <= _SAME).all():  # false for NaN too
            return False
    return True


def _find_themselves(collection: Any, ids: list[str]) -> bool:
    step = max(1, len(ids) // _SAMPLE)
    # Start at random: if damage escapes one probe and crashes the process later, the next probe tries other rows.
    sample = ids[secrets.randbelow(step) :: step]
    if not sample:
        return True
    stored = collection.get(ids=sample, include=["embeddings"])
    found = collection.query(query_embeddings=stored["embeddings"], n_results=1, include=["distances"])
    return all(row and row[0] <= _SAME for row in found["distances"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
