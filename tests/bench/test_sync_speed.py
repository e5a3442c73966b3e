"""What it costs to look at a tree of files again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.config.schema import Retrieval
from asky.events import ignore
from asky.reading.limits import ReadLimits
from asky.reading.pool import ReaderPool
from asky.research.acquire import Acquirer
from asky.research.chunker import ChunkSettings
from asky.research.ingest import Ingester
from asky.research.local_files import LocalRoots
from asky.research.local_open import make_opener
from asky.research.tally import AcquireReport
from tests.bench.measure import Measured, measure_asky, median_cpu_s, on_this_machine
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore

pytestmark = pytest.mark.slow

FILES = 1000


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """1,000 files in 50 folders of two levels."""
    folder = tmp_path_factory.mktemp("tree")
    for number in range(FILES):
        path = folder / f"{number % 5}" / f"{number % 50}" / f"note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"# Note {number}\n\nThing {number} lies on shelf {number % 7} of room {number % 13}.\n", "utf-8"
        )
    yield folder
    shutil.rmtree(folder)


def report_of(done: Measured) -> dict[str, Any]:
    answer = json.loads(done.out)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.model
def test_syncing_1000_unchanged_files_takes_a_second_and_embeds_nothing(tree: Path, home: Path, tmp_path: Path) -> None:
    added = report_of(measure_asky("corpus", "add", "--json", "--collection", "tree", str(tree), home=home))
    assert added["embedded"] == FILES

    def sync() -> float:
        done = measure_asky("corpus", "sync", "--json", "--collection", "tree", home=home)
        answer = report_of(done)
        assert answer["embedded"] == 0
        assert answer["reports"][0]["verdicts"] == {"unchanged": FILES}
        return done.cpu_s

    spent = median_cpu_s(sync)
    limit = on_this_machine(1.0, tmp_path)
    print(f"\nasky corpus sync of {FILES:,} unchanged files: {spent:.2f} s of CPU, at most {limit:.2f}")
    assert spent < limit


class CountingOpener:
    """The machine's own way to open files, which counts them."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self._open = make_opener()

    def __call__(self, folder: int, parts: Sequence[str]) -> tuple[int, tuple[str, ...]]:
        self.opened.append("/".join(parts))
        return self._open(folder, parts)


def test_unchanged_and_renamed_files_are_not_opened_or_embedded(tree: Path, tmp_path: Path) -> None:
    embedder, opener = FakeEmbedder(), CountingOpener()
    store = SearchStore(tmp_path, settings=Retrieval(engine="exact"), embedder=embedder)
    ingester = Ingester(store.database, store.corpus, store.search, chunking=ChunkSettings())
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

        def sync() -> tuple[AcquireReport, int, int]:
            """What was found, and how many files were opened and texts embedded."""
            opener.opened.clear()
            embedder.embedded.clear()
            report = anyio.run(partial(acquirer.sync, store.collection, LocalRoots([tree], opener=opener)))
            anyio.run(partial(acquirer.embed, store.scope))
            return report, len(opener.opened), len(embedder.embedded)

        _, *first = sync()
        assert first == [FILES, FILES]
        again, *nothing = sync()
        assert again.verdicts == {"unchanged": FILES}
        assert nothing == [0, 0]
        (tree / "0").rename(tree / "moved")
        try:
            moved, opened, embedded = sync()
        finally:
            (tree / "moved").rename(tree / "0")
        assert moved.verdicts == {"unchanged": FILES - FILES // 5, "indexed": FILES // 5}
        assert (moved.removed, opened, embedded) == (FILES // 5, FILES // 5, 0)
    store.close()
