"""The process that embeds the rest of a store in the background.

`python -m asky.wiring.embedding_process STORE SETTINGS LOCK` runs it: for the file of a store, the settings of its
model as JSON, and the descriptor of the lock. It is given no terminal, writes no output, never uses the network, and
ends when nothing is left to embed or the store is gone.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from asky.chat.entries import CHAT_ENTRIES
from asky.config.schema import Retrieval
from asky.errors import AskyError
from asky.events import ignore
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
from asky.research.index.background import Job, StoreGone, lower_priority
from asky.research.vector_store import Tables, VectorStore
from asky.storage.database import Database
from asky.storage.vector_files import VectorFiles

_IDLE_ROUNDS = 2  # in a row, after which what is left cannot be embedded


def embed_store(job: Job, store: Path, settings: EmbeddingSettings) -> None:
    """Embed what is left to embed in the store at that path, until nothing is left.

    What keeps it from that is recorded for `asky corpus status`. Raises `StoreGone` if the store is moved or deleted.
    """
    embedder = EmbeddingClient(replace(settings, local_files_only=True))
    job.require_store()  # opening it would create it
    try:
        _ = embedder.fingerprint  # raises if the model is missing
        database = Database(store, ledger_entries=CHAT_ENTRIES)
        vectors = VectorStore(
            Tables.of(database),
            embedder=lambda: embedder,
            index_folder=store.with_name("chroma"),
            vector_files=VectorFiles(store.with_name("vectors"), database),  # made by a search, and here is none
            settings=Retrieval(),
            listener=ignore,
        )
        idle_rounds = 0
        while idle_rounds < _IDLE_ROUNDS:
            idle_rounds = 0 if vectors.embed_left(lambda *_: job.require_store()) else idle_rounds + 1
            job.pause()
            if not vectors.count_left() or not job.resume():  # a question that saw the lock has left its rest here
                break
        job.require_store()  # closing it would delete the log of another store at this path
        database.close()
    except StoreGone:
        raise
    except Exception as error:  # noqa: BLE001 - the boundary of the process: nobody would see it
        job.require_store()
        job.fail(error.message if isinstance(error, AskyError) else f"{type(error).__name__}: {error}")


def main(arguments: Sequence[str]) -> None:
    """Embed the rest of `STORE` with the model of `SETTINGS`; the process was born with the descriptor `LOCK`."""
    path, settings, lock = arguments
    lower_priority()
    with suppress(StoreGone):
        embed_store(Job(Path(path), int(lock)), Path(path), EmbeddingSettings.decode(json.loads(settings)))
    os._exit(0)  # without closing a store that is gone


if __name__ == "__main__":
    main(sys.argv[1:])
