"""How much work it is to look at a tree of files again: files that are opened, and texts that are embedded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import pytest

from asky.config.schema import Chunking, Retrieval
from asky.events import ignore
from asky.reading.limits import ReadLimits
from asky.reading.process.pool import ReaderPool
from asky.research.corpus.acquire import Acquirer
from asky.research.corpus.ingest import Ingester
from asky.research.corpus.report import AcquireReport
from asky.research.local.files import LocalRoots
from asky.research.local.opening import make_opener
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore

FILES = 100


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """100 files in 50 folders of two levels."""
    folder = tmp_path / "tree"
    for number in range(FILES):
        path = folder / f"{number % 5}" / f"{number % 50}" / f"note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"# Note {number}\n\nThing {number} lies on shelf {number % 7} of room {number % 13}.\n", "utf-8"
        )
    return folder


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
    ingester = Ingester(store.database, store.corpus, store.search, chunking=Chunking())
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
        moved, opened, embedded = sync()
        assert moved.verdicts == {"unchanged": FILES - FILES // 5, "indexed": FILES // 5}
        assert (moved.removed, opened, embedded) == (FILES // 5, FILES // 5, 0)
    store.close()
