"""What going from summaries to texts costs beside one search of all texts, in a library of 5,000 papers.

The store takes a minute of CPU and 0.8 GB. BENCH_LIBRARY=FOLDER keeps it in FOLDER for the next run.
"""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import pytest

from asky.papers.service import PaperService
from tests.bench.measure import own_cpu_s
from tests.support.large_library import LibraryServices, TopicEmbedder, about_topic, build_library
from tests.support.large_store import queries

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PAPERS = 5_000
MOST = 1.3
MOST_ROUNDS = 3  # others on the machine only make it take longer


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PaperService]:
    kept = os.environ.get("BENCH_LIBRARY")
    home = Path(kept) if kept else tmp_path_factory.mktemp("library")
    if not (home / "asky").exists():
        build_library(home, PAPERS)
    with LibraryServices(home, TopicEmbedder()) as services:
        yield services.papers
    if not kept:
        shutil.rmtree(home)


def test_both_stages_take_at_most_1_3_times_a_search_of_all_texts(library: PaperService) -> None:
    """Measured: .5 times, since a search of all 200,000 passages compares each, and stage 2 those of 7 papers.

    Against a search of the whole store, which needs no list of the passages to look at, it is 1.0 times.
    """
    asked = about_topic(queries(21))
    ratios: list[float] = []
    while len(ratios) < MOST_ROUNDS and min(ratios, default=MOST + 1) > MOST:
        flat = median_cpu_s(library, asked, staged=False)
        staged = median_cpu_s(library, asked, staged=True)
        ratios.append(staged / flat)
        print(f"\n5,000 papers: stages 1 and 2 {1000 * staged:.0f} ms of CPU, all texts {1000 * flat:.0f}", end="")
    print(f"; {min(ratios):.2f} times, at most {MOST}")
    assert min(ratios) <= MOST


def median_cpu_s(library: PaperService, asked: Sequence[str], *, staged: bool) -> float:
    """The CPU time of a warm search."""

    async def search(query: str) -> None:
        if not staged:
            assert len(await library.search(query, limit=15)) == 15
            return
        papers = {each.paper.id for each in await library.search_summary_index(query)}
        assert len(papers) > 1
        assert len(await library.search_content_index_filtered(query, sorted(papers))) == 15

    spent = [own_cpu_s(lambda query=query: anyio.run(search, query)) for query in asked]  # type: ignore[misc]  # a default binds it
    return statistics.median(spent[1:])
