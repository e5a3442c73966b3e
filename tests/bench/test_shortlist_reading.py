"""A shortlist over slow pages: what waiting, fetching, reading and keeping cost together, against the waiting alone."""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import anyio
import pytest

from asky.concurrency import gather
from asky.config.schema import Retrieval, ShortlistSettings
from asky.research.shortlist_types import Shortlist
from asky.research.source_policy import SourcePolicy
from asky.research.source_shortlist import source_shortlist
from asky.search.federation import FederatedResults
from asky.search.port import Candidate, SearchRequest
from tests.bench.measure import MIB, measure_python, slowdown
from tests.support.search_store import SearchStore
from tests.support.searching import FakeSearch
from tests.support.site import Site
from tests.support.twins.web import Hit, SearxngTwin
from tests.support.webs import LabWeb

DELAY_S = 0.3
COMPUTED_S = 0.4  # of all that is no waiting, at most, in a row; this alone takes longer on a busy machine
MOST_ROUNDS = 6  # others on the machine can only make one take longer
WORDS = "tide moon sea harbour ship depth hour water gauge almanac sailor coast wind storm river mill".split()  # noqa: SIM905 - shorter


def page(number: int) -> str:
    chosen = random.Random(number)
    paragraphs = "".join(f"<p>{' '.join(chosen.choice(WORDS) for _ in range(60)).capitalize()}.</p>" for _ in range(25))
    return f"<html><head><title>Page {number}</title></head><body><article>{paragraphs}</article></body></html>"


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds: of a shortlist, of the same one again, of the waiting alone; and what others did to the machine."""

    first_s: float
    again_s: float
    waiting_s: float
    slowdown: float

    @property
    def is_quick(self) -> bool:
        """One page after another takes 6 s."""
        limit_s = 1.5 * self.waiting_s + COMPUTED_S * (self.slowdown - 1)
        return self.first_s < limit_s and self.again_s < self.first_s / 2


@pytest.mark.slow
def test_twenty_slow_pages_of_forty_candidates_are_read_in_little_more_than_the_waiting(tmp_path: Path) -> None:
    """1.1 s against 0.9 s of waiting on two cores; the second time 0.1 s and no request."""
    rounds: list[Round] = []
    while len(rounds) < MOST_ROUNDS and not any(each.is_quick for each in rounds):
        rounds.append(measure_round(tmp_path / str(len(rounds))))
        print(f"\n{rounds[-1]}")
    assert any(each.is_quick for each in rounds)


def measure_round(folder: Path) -> Round:
    settings = ShortlistSettings()
    store = SearchStore(folder, settings=Retrieval(engine="exact"))
    with Site() as site:
        paths = [f"/p{number}" for number in range(40)]
        for number, path in enumerate(paths):
            site.page(path, html=page(number), delay_s=DELAY_S)
        for number in range(2):  # for the processes that read: they are there from the first page on
            site.page(f"/first{number}", html=page(100 + number))
        found = [Candidate(site.url(path), f"Page {path}", "tides and the moon") for path in paths]
        with LabWeb(store, site, [FakeSearch(found)]) as web:

            async def search(queries: object) -> FederatedResults:
                assert web.searcher is not None
                return await web.searcher.search([SearchRequest("moon tides", 40)])

            async def choose() -> tuple[float, Shortlist]:
                started = time.perf_counter()
                chosen = await source_shortlist(
                    "How does the moon raise tides in the sea?",
                    search=search,
                    read=web.cache.cache_url,
                    embed=store.search.embed_texts,
                    settings=settings,
                    policy=SourcePolicy(),
                    today=date(2026, 11, 22),
                )
                return time.perf_counter() - started, chosen

            async def wait() -> float:
                started = time.perf_counter()
                await gather(range(settings.max_fetch_urls), lambda _: anyio.sleep(DELAY_S), limit=settings.concurrency)
                return time.perf_counter() - started

            async def warm() -> None:
                await gather([site.url("/first0"), site.url("/first1")], web.cache.cache_url, limit=2)

            anyio.run(warm)
            busy = [slowdown()]
            asked_before = len(site.requests)
            seconds, chosen = anyio.run(choose)
            busy.append(slowdown())
            asked = len(site.requests) - asked_before
            again_s, again = anyio.run(choose)
            assert len(site.requests) - asked_before == asked  # nothing was fetched again
            least = anyio.run(wait)
    store.close()
    assert chosen.read == asked == settings.max_fetch_urls
    assert [each.candidate.url for each in again.selected] == [each.candidate.url for each in chosen.selected]
    return Round(seconds, again_s, least, max(busy))


@pytest.mark.model
@pytest.mark.slow
def test_a_question_to_the_web_stays_below_500_mb(tmp_path: Path) -> None:
    """With the embedding model loaded and twenty pages read; no process of it needs more."""
    homes = [tmp_path / name for name in ("first", "second")]  # the first run may have to export the model
    for home in homes:
        home.mkdir()
    with Site() as site:
        rows = []
        for number in range(40):
            site.page(f"/p{number}", html=page(number))
            rows.append(Hit(site.url(f"/p{number}"), f"Page {number}", "tides and the moon"))
        with SearxngTwin(rows=rows) as twin:
            environ = {
                "ASKY_SEARCH__SEARXNG__BASE_URL": twin.base_url,
                "ASKY_SEARCH__MAX_RESULTS": "40",
                "ASKY_NETWORK__ALLOW_PRIVATE": json.dumps([site.authority]),
                "ASKY_NETWORK__HOST_GAP_S": "0",
                "ASKY_NETWORK__PER_HOST": "8",
            }
            arguments = ("-m", "asky", "-r", "Which tide does the moon raise at the harbour?", "--json", "-q")
            measured = [measure_python(arguments, home, environ=environ) for home in homes][-1]
    print(f"\na question to the web: {measured.peak_bytes / MIB:.0f} MiB, {measured.cpu_s:.1f} s of CPU")
    assert measured.peak_bytes < 500e6
