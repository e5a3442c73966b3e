"""What adding papers to the library costs beside reading their PDFs and embedding their passages.

BENCH_PAPERS=FOLDER measures the PDFs of a folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from asky.reading.process.pool import ReaderPool
from asky.research.embedding.embedder import Progress
from asky.research.embeddings import EmbeddingClient, EmbeddingSettings
from tests.bench.measure import cpu_with_children_s
from tests.bench.prose import real_text
from tests.support.large_library import LibraryServices
from tests.support.papers import paper_pdf

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

pytestmark = [pytest.mark.slow, pytest.mark.model]

PAPERS = 50
PAGES, PAGE_CHARS = 4, 3_600
WORKERS = 2
LEAST_SHARE = 0.8
MOST_AGAIN = 0.05
MOST_ROUNDS = 3  # others on the machine slow down most what computes least


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds of all threads and ended child processes, and the time that passed."""

    cpu_s: float = 0.0
    wall_s: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.cpu_s + other.cpu_s, self.wall_s + other.wall_s)


class TimedEmbedder(EmbeddingClient):
    """The real model; `spent` is what its computing takes."""

    spent = Spent()

    def embed(self, texts: Sequence[str], *, progress: Progress | None = None) -> npt.NDArray[np.float32]:
        with measured() as found:
            vectors = super().embed(texts, progress=progress)
        self.spent += found[0]
        return vectors


@pytest.fixture
def embedder() -> TimedEmbedder:
    opened = TimedEmbedder(EmbeddingSettings())
    opened.embed(["opens the model"])
    return opened


@pytest.fixture
def pdfs(tmp_path: Path) -> Path:
    """The folder that BENCH_PAPERS names, or one with papers that were made for this."""
    if given := os.environ.get("BENCH_PAPERS"):
        return Path(given)
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(PAPERS):
        start = PAGES * PAGE_CHARS * number % 380_000
        pages = [real_text(PAGE_CHARS, start + PAGE_CHARS * page) for page in range(PAGES)]
        data = paper_pdf(f"On the meaning of statement {number}", arxiv=f"2101.{10_000 + number}v1", pages=pages)
        (folder / f"{number}.pdf").write_bytes(data)
    return folder


def test_adding_papers_takes_little_more_than_reading_and_embedding(
    pdfs: Path, embedder: TimedEmbedder, tmp_path: Path
) -> None:
    """Measured: 97 % of the CPU time, of these and of 50 published papers (2,402 passages, 20 of arXiv and 30 of JOSE).

    The second add of the 50 published ones takes 0.02 s.
    """
    shares: list[float] = []
    while len(shares) < MOST_ROUNDS and max(shares, default=0.0) < LEAST_SHARE:
        home = tmp_path / f"home{len(shares)}"
        home.mkdir()
        shares.append(share_of_bare_work(pdfs, embedder, home))
    assert max(shares) >= LEAST_SHARE


def share_of_bare_work(pdfs: Path, embedder: TimedEmbedder, home: Path) -> float:
    """The part of the CPU time of adding `pdfs` that reading and embedding alone take."""
    embedder.spent = Spent()
    with measured() as adding, LibraryServices(home, embedder) as services:
        outcome = anyio.run(partial(services.papers.add, [pdfs]))
    assert {each.outcome for each in outcome.outcomes} == {"added"}
    embedding = embedder.spent
    with LibraryServices(home, embedder) as services, measured() as adding_again:
        known = anyio.run(partial(services.papers.add, [pdfs]))
    assert {each.outcome for each in known.outcomes} == {"known"}
    assert embedder.spent == embedding
    assert adding_again[0].cpu_s <= MOST_AGAIN * adding[0].cpu_s
    with measured() as reading, ReaderPool(workers=WORKERS) as readers, ThreadPoolExecutor(WORKERS) as threads:
        list(threads.map(partial(read, readers), sorted(pdfs.glob("*.pdf"))))
    bare, whole = reading[0] + embedding, adding[0]
    print(
        f"\n{len(outcome.outcomes)} PDFs, {outcome.embedded} passages: {whole.cpu_s:.1f} s of CPU, of which reading"
        f" {reading[0].cpu_s:.1f} and the model {embedding.cpu_s:.1f}: {100 * bare.cpu_s / whole.cpu_s:.1f} %"
        f" (of the time {100 * bare.wall_s / whole.wall_s:.1f} %); again {adding_again[0].cpu_s:.2f} s"
    )
    return bare.cpu_s / whole.cpu_s


def read(readers: ReaderPool, path: Path) -> object:
    return readers.read(path.read_bytes(), name=path.name, media_type="application/pdf")


@contextmanager
def measured() -> Iterator[list[Spent]]:
    """What the block takes, once it is left."""
    found: list[Spent] = []
    cpu_s, wall_s = cpu_with_children_s(), time.perf_counter()
    yield found
    found.append(Spent(cpu_with_children_s() - cpu_s, time.perf_counter() - wall_s))
