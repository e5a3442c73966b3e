"""What ingest costs beside the embedding model's own work."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from asky.config.schema import Chunking, Engine, Retrieval
from asky.events import ignore
from asky.reading.limits import ReadLimits
from asky.reading.process.pool import ReaderPool
from asky.research.corpus.acquire import Acquirer
from asky.research.corpus.ingest import Ingester
from asky.research.embedding.embedder import Progress
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
from asky.research.local.files import LocalRoots
from tests.bench.measure import cpu_with_children_s
from tests.bench.prose import real_text
from tests.support.search_store import SearchStore

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

pytestmark = [pytest.mark.slow, pytest.mark.model]

FILES = 16
CHARACTERS = 16_000
MOST_BESIDE = 0.05
MOST_ROUNDS = 4  # others on the machine slow down most what computes least


class TimedEmbedder(EmbeddingClient):
    """The real model; `spent_s` is the CPU time of its computing."""

    spent_s = 0.0

    def embed(self, texts: Sequence[str], *, progress: Progress | None = None) -> npt.NDArray[np.float32]:
        started = time.process_time()
        vectors = super().embed(texts, progress=progress)
        self.spent_s += time.process_time() - started
        return vectors


@pytest.fixture
def embedder() -> TimedEmbedder:
    opened = TimedEmbedder(EmbeddingSettings())
    opened.embed(["opens the model"])
    return opened


def write_documents(folder: Path) -> None:
    folder.mkdir()
    for number in range(FILES):
        kind = "md" if number % 2 else "txt"
        (folder / f"{number}.{kind}").write_text(real_text(CHARACTERS, CHARACTERS * number), "utf-8")


@pytest.mark.parametrize("engine", ["exact", "chroma"])
def test_all_but_the_model_is_at_most_a_twentieth(engine: Engine, embedder: TimedEmbedder, tmp_path: Path) -> None:
    write_documents(tmp_path / "docs")
    shares: list[float] = []
    while len(shares) < MOST_ROUNDS and min(shares, default=1.0) > MOST_BESIDE:
        shares.append(share_beside_the_model(engine, embedder, tmp_path / "docs", tmp_path / f"home{len(shares)}"))
    assert min(shares) <= MOST_BESIDE


def share_beside_the_model(engine: Engine, embedder: TimedEmbedder, docs: Path, home: Path) -> float:
    """The part of the CPU time that taking in `docs` costs beside the model's computing."""
    embedder.spent_s = 0.0
    settings = Retrieval(engine=engine)
    store = SearchStore(home, settings=settings, embedder=embedder)  # type: ignore[arg-type]  # the real one
    if engine == "chroma":
        store.search.index(embedder)  # opened while it is empty: importing Chroma is no part of the work
    ingester = Ingester(store.database, store.corpus, store.search, chunking=Chunking(200, 30))
    steps = [time.process_time()]
    started = cpu_with_children_s()
    with ReaderPool(ReadLimits(), workers=2) as readers:
        acquirer = Acquirer(
            store.database,
            store.corpus,
            store.search,
            ingester,
            readers,
            max_file_bytes=1 << 20,
            workers=2,
            listener=ignore,
        )
        report = anyio.run(partial(acquirer.sync, store.collection, LocalRoots([docs])))
        steps.append(time.process_time())
        embedded = anyio.run(partial(acquirer.embed, store.scope))
        steps.append(time.process_time())
    if engine == "chroma":
        index = store.search.index(embedder)
        assert index is not None
        index.follow()
        assert len(index) == embedded
    steps.append(time.process_time())
    whole = cpu_with_children_s() - started
    store.close()
    assert report.problems == ()
    assert embedded == report.chunks_added
    beside = whole - embedder.spent_s
    names = {
        "reading and storing": steps[1] - steps[0],
        "keeping vectors": steps[2] - steps[1] - embedder.spent_s,
        "Chroma": steps[3] - steps[2],
        "reader processes": beside - (steps[3] - steps[0] - embedder.spent_s),
    }
    print(
        f"\n{embedded} chunks, {1000 * embedder.spent_s / embedded:.1f} ms of CPU each in the model, beside it ", end=""
    )
    print(", ".join(f"{name} {1000 * spent / embedded:.2f} ms" for name, spent in names.items()))
    print(f"all but the model: {100 * beside / whole:.1f} % of the CPU time")
    return beside / whole
