"""What other processes do with the Chroma index of a store: functions for `tests.support.forks`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from asky.config.schema import Retrieval
from asky.events import Warned
from tests.support.search_store import SearchStore

CHROMA = Retrieval(engine="chroma")


def ask(folder: Path, questions: Sequence[str]) -> list[object]:
    """The answers of the store in `folder`, the ids in its index, its warnings, and the texts that it embedded."""
    store = SearchStore(folder, settings=CHROMA)
    answers = [store.found(question, limit=5) for question in questions]
    embedder = store.search.embedder()
    assert embedder is not None
    index = store.search.index(embedder)
    ids = sorted(index.ids()) if index else None
    warned = list(dict.fromkeys(each.message for each in store.heard if isinstance(each, Warned)))
    embedded = store._embedder().embedded
    store.close()
    return [answers, ids, warned, embedded]


def remove_rows(generation: Path) -> None:
    """Take five passages out of an index behind its back."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(path=str(generation), settings=Settings(anonymized_telemetry=False))
    collection = client.get_collection("content_chunks", embedding_function=None)
    collection.delete(ids=collection.get(include=[])["ids"][:5])
    client.close()


def leave_open(folder: Path) -> None:
    """Use the index, and end without closing it."""
    SearchStore(folder, settings=CHROMA).found("moon")
    os._exit(0)
