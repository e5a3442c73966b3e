"""What it costs to take in source code, compared with the same files as plain text."""

from __future__ import annotations

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
from asky.research.local.files import LocalRoots
from tests.bench.measure import cpu_with_children_s
from tests.support.asky_command import ROOT
from tests.support.search_store import SearchStore

pytestmark = pytest.mark.slow

FILES = 300
MOST = 1.5
MOST_ROUNDS = 3  # others on the machine slow down both, but not at the same time


def write_twice(folder: Path) -> tuple[Path, Path]:
    """Write the same files as source code and as plain text."""
    code, plain = folder / "code", folder / "plain"
    code.mkdir()
    plain.mkdir()
    texts = [path.read_bytes() for path in sorted(Path(ROOT).glob("asky/**/*.py"))]
    texts = [text for text in texts if text.strip()][:FILES]
    assert len(texts) == FILES
    for number, text in enumerate(texts):
        (code / f"{number}.py").write_bytes(text)
        (plain / f"{number}.txt").write_bytes(text)
    return code, plain


def cost_of(folder: Path, home: Path) -> float:
    """The CPU time of reading, cutting and indexing the files of a folder, without embedding them."""
    store = SearchStore(home, settings=Retrieval(engine="exact"))
    ingester = Ingester(store.database, store.corpus, store.search, chunking=Chunking())
    started = cpu_with_children_s()
    with ReaderPool(ReadLimits(), workers=1) as readers:
        acquirer = Acquirer(
            store.database,
            store.corpus,
            store.search,
            ingester,
            readers,
            max_file_bytes=1 << 20,
            workers=1,
            listener=ignore,
        )
        report = anyio.run(partial(acquirer.sync, store.collection, LocalRoots([folder])))
    spent = cpu_with_children_s() - started
    store.close()
    assert report.verdicts == {"indexed": FILES}
    return spent


def test_300_files_of_code_cost_at_most_half_more_than_as_plain_text(tmp_path: Path) -> None:
    code, plain = write_twice(tmp_path)
    ratios: list[float] = []
    while len(ratios) < MOST_ROUNDS and min(ratios, default=MOST + 1) > MOST:
        as_plain = cost_of(plain, tmp_path / f"plain{len(ratios)}")
        as_code = cost_of(code, tmp_path / f"code{len(ratios)}")
        ratios.append(as_code / as_plain)
        print(
            f"\n{FILES} files: {as_plain:.2f} s of CPU as plain text, {as_code:.2f} s as code: "
            f"{ratios[-1]:.2f} times as much"
        )
    assert min(ratios) <= MOST
