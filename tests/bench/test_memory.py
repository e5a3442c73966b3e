"""The memory that a large corpus takes while it is read, stored and embedded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.measure import MIB, bytes_below, measure_asky, measure_python
from tests.bench.prose import shuffled_words

pytestmark = pytest.mark.slow

READ = """
import sys
from pathlib import Path
import anyio
import numpy as np
from asky.config.schema import Retrieval
from asky.events import ignore
from asky.reading.limits import ReadLimits
from asky.reading.process.pool import ReaderPool
from asky.research.corpus.acquire import Acquirer
from asky.config.schema import Chunking
from asky.research.corpus.ingest import Ingester
from asky.research.local.files import LocalRoots
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore

class QuickEmbedder(FakeEmbedder):
    def embed(self, texts, *, progress=None):
        vectors = np.random.default_rng(len(texts)).normal(size=(len(texts), self.dim)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

docs, home = map(Path, sys.argv[1:])
store = SearchStore(home, embedder=QuickEmbedder(dim=384), settings=Retrieval(engine="exact"))
ingester = Ingester(store.database, store.corpus, store.search, chunking=Chunking(200, 30))
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


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """100 files of 1 MB each, no two alike."""
    folder = tmp_path_factory.mktemp("docs")
    for text in range(5):
        words = shuffled_words(1_000_000, text)
        for turn in range(20):
            (folder / f"{text}-{turn}.txt").write_text(words[turn * 50_000 :] + words[: turn * 50_000], "utf-8")
    yield folder
    shutil.rmtree(folder)


def test_100_mb_of_text_are_read_and_stored_in_a_fraction_of_1_gib(docs: Path, tmp_path: Path) -> None:
    done = measure_python(("-c", READ, str(docs), str(tmp_path / "home")), tmp_path)
    stored = bytes_below(tmp_path / "home")
    shutil.rmtree(tmp_path / "home")
    print(f"\n100 MB: {int(done.out):,} chunks, {stored / MIB:.0f} MiB stored, {done.cpu_s:.0f} s of CPU", end="")
    print(f", at most {done.peak_bytes / MIB:.0f} MiB of memory")
    # The store's file is mapped into memory, up to 256 MiB of it, which counts; the rest is left for the model.
    assert done.peak_bytes < 450 * MIB


@pytest.mark.model
def test_the_embedding_model_fits_into_the_rest(home: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text(shuffled_words(300_000, 1), "utf-8")
    done = measure_asky("corpus", "add", str(tmp_path / "words.txt"), "--collection", "words", home=home)
    print(f"\n0.3 MB with the embedding model: {done.peak_bytes / MIB:.0f} MiB, {done.cpu_s:.0f} s of CPU")
    assert done.peak_bytes < 500 * MIB
