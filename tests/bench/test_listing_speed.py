"""What it costs to list: the files of a tree, and the sessions of a store."""

from __future__ import annotations

import os
import time
from pathlib import Path

from asky.research.local.discovery import discover
from asky.research.local.files import LocalRoots
from asky.storage.papers import Paper, PaperTable
from asky.values import Source, source_id
from tests.bench.measure import measure_python, on_this_machine
from tests.support.stores import FilledStore


def test_discovering_a_thousand_files_costs_little_more_than_looking_at_them(tmp_path: Path) -> None:
    for folder in range(25):
        (tmp_path / f"d{folder}").mkdir()
        for file in range(40):
            (tmp_path / f"d{folder}" / f"note-{file}.md").touch()
    (tmp_path / ".gitignore").write_text("".join(f"*.{suffix}\n" for suffix in "abcdefghijklmnopqrstuvwxyz"))
    roots = LocalRoots([tmp_path])

    def plain() -> int:
        return sum(bool(os.stat(os.path.join(at, name))) for at, _, names in os.walk(tmp_path) for name in names)

    def cost(look: object) -> float:
        started = time.process_time()
        assert callable(look)
        assert look() >= 1000
        return time.process_time() - started

    found: list[float] = []
    looked: list[float] = []
    while len(found) < 5 or (len(found) < 30 and min(found) >= 8 * min(looked)):  # others only make it take longer
        found.append(cost(lambda: len(list(discover(roots, recursive=True)))))
        looked.append(cost(plain))
    assert min(found) < 8 * min(looked)  # measured: 4.0, that is 13 ms


def test_listing_sessions_takes_200_ms_of_cpu(tmp_path: Path) -> None:
    home = tmp_path / "asky"
    with FilledStore(home) as store:
        store.sessions.open("sea", mode="research")
    runs = [measure_python(("-m", "asky", "session", "list"), tmp_path) for _ in range(4)]  # the first one compiles
    assert all("sea" in run.out for run in runs)
    least, limit = min(run.cpu_s for run in runs), on_this_machine(0.2, tmp_path)
    print(f"\nasky session list: {1000 * least:.0f} ms of CPU, at most {1000 * limit:.0f}")
    assert least <= limit


def test_listing_5000_papers_takes_300_ms_of_cpu(tmp_path: Path) -> None:
    with FilledStore(tmp_path / "asky") as store:
        table = PaperTable(store.database)
        with store.database.write():
            for number in range(5000):
                id_ = f"{2001 + number // 2500}.{10000 + number}"
                uri = f"paper:{id_}"
                source = Source(source_id(uri), "file", uri, f"The tides of {number} harbours")
                facts: dict[str, object] = {"author": "Ann Marsh; Bo Li; Cy Ro", "published": "2020-01-02"}
                store.corpus.put_source(source, store.collection, document_id=None, metadata=facts)
                table.put(Paper(id_, 1, None, None, "complete", source), [f"arxiv:{id_}"])

        def cost() -> float:
            started = time.process_time()
            papers = table.papers()
            assert (len(papers), papers[-1].source.authors) == (5000, ("Ann Marsh", "Bo Li", "Cy Ro"))
            return time.process_time() - started

        least, limit = min(cost() for _ in range(5)), on_this_machine(0.3, tmp_path)
    print(f"\n5,000 papers listed: {1000 * least:.0f} ms of CPU, at most {1000 * limit:.0f}")
    assert least <= limit
