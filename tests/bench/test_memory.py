"""The memory that reading a corpus takes: a bound that does not grow with the corpus."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.bench.measure import MIB, Measured, measure_python
from tests.bench.prose import shuffled_words

pytestmark = pytest.mark.slow

FULL = "ASKY_BENCH_FULL"
"""Variable that asks for the measurement over 100 MB, which takes minutes."""

READ = """
import sys
from pathlib import Path
import anyio
import numpy as np
from asky.config.schema import Retrieval
from asky.events import ignore
from asky.reading.limits import ReadLimits
from asky.reading.pool import ReaderPool
from asky.research.acquire import Acquirer
from asky.research.chunker import ChunkSettings
from asky.research.ingest import Ingester
from asky.research.local_files import LocalRoots
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore

class QuickEmbedder(FakeEmbedder):
    def embed(self, texts, *, progress=None):
        vectors = np.random.default_rng(len(texts)).normal(size=(len(texts), self.dim)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

docs, home = map(Path, sys.argv[1:])
store = SearchStore(home, embedder=QuickEmbedder(dim=384), settings=Retrieval(engine="exact"))
ingester = Ingester(store.database, store.corpus, store.search, chunking=ChunkSettings(200, 30))
with ReaderPool(ReadLimits(), workers=2) as readers:
    acquirer = Acquirer(
        store.database, store.corpus, store.search, ingester, readers,
        max_file_bytes=1 << 26, workers=2, listener=ignore,
    )
    report = anyio.run(acquirer.sync, store.collection, LocalRoots([docs]))
    embedded = anyio.run(acquirer.embed, store.scope)
assert report.problems == () and embedded == report.chunks_added
print(embedded)
store.close()
"""


def ingest(folder: Path, files: int) -> Measured:
    """Read and embed so many files of 1 MB each in a process of its own."""
    docs = folder / "docs"
    docs.mkdir(parents=True)
    for number in range(files):
        (docs / f"{number}.txt").write_text(shuffled_words(1_000_000, number), "utf-8")
    done = measure_python(("-c", READ, str(docs), str(folder / "home")), folder)
    print(f"\n{files} MB: {int(done.out):,} chunks, {done.peak_bytes / MIB:.0f} MiB, {done.cpu_s:.0f} s of CPU")
    return done


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    few, many = ingest(tmp_path / "few", 5), ingest(tmp_path / "many", 20)
    assert many.peak_bytes <= 1.25 * few.peak_bytes
    assert many.peak_bytes < 400 * MIB


@pytest.mark.skipif(FULL not in os.environ, reason=f"takes minutes; set {FULL}=1")
def test_100_mb_of_text_stay_under_1_gib(tmp_path: Path) -> None:
    assert ingest(tmp_path, 100).peak_bytes < 1024 * MIB
