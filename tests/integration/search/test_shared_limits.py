"""Limits that hold over searches and pages together: what tries may cost, and the turns of a site that has both."""

from __future__ import annotations

import itertools
from pathlib import Path

import anyio
import pytest

from asky.concurrency import gather
from asky.net.fetcher import GuardedFetcher
from asky.net.pace import Pace
from asky.net.retry import Retry, RetryBudget
from asky.search.catalog import SearchContext, make_provider, make_service
from asky.search.port import SearchRequest
from tests.support.fetching import names, open_fetcher
from tests.support.searching import FakeTime, search_context, search_settings
from tests.support.site import Site
from tests.support.twins.base import Twin
from tests.support.twins.web import SearxngTwin, TavilyTwin

KEY = "tvly-0123456789"
STORM_ROUNDS = 2  # few, so that a budget for each alone would allow more than one for all


def shared_by(time: FakeTime, budget: RetryBudget) -> SearchContext:
    """One budget for services that no breaker keeps from being asked again."""
    basic = search_context({"TAVILY_API_KEY": KEY}, waiting=time.waiting)
    return SearchContext(basic.environ, basic.pace, basic.breaker, time.waiting, budget)


def storm(fetcher: GuardedFetcher, site: Site, shared: SearchContext, twins: dict[str, Twin], time: FakeTime) -> int:
    """Search and fetch again and again where everything always fails; returns how much was asked for."""
    providers = [make_provider(name, search_settings(name, twin.base_url), shared) for name, twin in twins.items()]

    async def main() -> int:
        asked = 0
        for turn in range(STORM_ROUNDS):
            await gather(providers, lambda each: each.search(SearchRequest("soil")), limit=2)
            await gather([site.url(f"/busy?{turn}-{n}") for n in range(3)], fetcher.fetch, limit=3)
            asked += len(providers) + 3
            time.now_s += 3600  # so that the breakers let each service be asked anew
        return asked

    return anyio.run(main)


def test_tries_of_all_services_and_all_pages_together_add_a_fifth() -> None:
    time, budget = FakeTime(), RetryBudget()
    with Site() as site, SearxngTwin() as searxng, TavilyTwin(key=KEY) as tavily:
        site.page("/busy", status=503)
        searxng.play("error500")
        tavily.play("error500")
        fetcher = open_fetcher(site, retry=Retry(), waiting=time.waiting, budget=budget)
        twins: dict[str, Twin] = {"searxng": searxng, "tavily": tavily}
        asked = storm(fetcher, site, shared_by(time, budget), twins, time)
        sent = len(site.requests) + len(searxng.requests) + len(tavily.requests)
    assert asked < sent <= 3 + 1.2 * asked


def test_pages_of_arxiv_wait_for_the_turn_of_its_search_and_its_search_for_theirs(tmp_path: Path) -> None:
    time = FakeTime()
    pace = Pace(tmp_path, time.waiting)
    shared = SearchContext({}, pace, search_context(waiting=time.waiting).breaker, time.waiting)
    service = make_service("arxiv", search_settings("arxiv", None, gap_s=None), shared)
    began: list[float] = []

    async def search() -> None:
        began.append(time.now_s)

    with Site() as site:
        site.page("/pdf/2301.01234", body=b"%PDF-1.7", media_type="application/pdf")
        hosts = [f"{name}:{site.port}" for name in ("arxiv.org", "export.arxiv.org")]
        fetcher = open_fetcher(
            allow=hosts,
            resolve=names({"arxiv.org": [site.host], "export.arxiv.org": [site.host]}),
            waiting=time.waiting,
            pace=pace,
        )

        async def main() -> None:
            await service.ask(search)
            for host in hosts:
                await fetcher.fetch(f"http://{host}/pdf/2301.01234")
                began.append(time.now_s)
            await service.ask(search)

        anyio.run(main)
        assert len(site.requests) == 2
    assert [later - sooner for sooner, later in itertools.pairwise(began)] == pytest.approx([3.1] * 3)
