"""`python -m asky.research.vector_index_probe FOLDER COLLECTION`: exit 0 if a Chroma store can be trusted.

Every vector that the store has must be found again under its own id: counting is no check, because a store that lost
its graph still counts all rows and answers from the few that it has in memory. Opening a damaged store can end the
process, which is why this is a process of its own.
"""

from __future__ import annotations

import os
import sys

_SAMPLE = 200
_SAME = 1e-3  # cosine distance of a vector to itself, with float32's rounding


def main(folder: str, collection_name: str) -> int:
    """0 if every sampled vector finds itself, 1 otherwise; damage may also end the process with a signal."""
    os.environ["ANONYMIZED_TELEMETRY"] = "False"
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(path=folder, settings=Settings(anonymized_telemetry=False))
    collection = client.get_collection(collection_name, embedding_function=None)
    ids = collection.get(include=[])["ids"]
    if len(ids) != collection.count():
        return 1
    step = max(1, len(ids) // _SAMPLE)
    sample = ids[::step]
    if not sample:
        return 0
    stored = collection.get(ids=sample, include=["embeddings"])
    found = collection.query(query_embeddings=stored["embeddings"], n_results=1, include=["distances"])
    return int(any(not row or row[0] > _SAME for row in found["distances"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
