"""What an answer says of the run that it came from."""

from __future__ import annotations

import pytest

from asky.llm.port import ModelUsage
from asky.research.run import ResearchRun
from asky.research.web.ledger import WebUse
from asky.runs.finalize import rejected_sources, shown_sources, usage_of
from asky.runs.journal.journal import RunState
from asky.storage.scope import Scope
from asky.values import Citation, Evidence, Location, Source, Span


def page(name: str) -> Source:
    return Source(name, "web", f"https://site.test/{name}", name, url=f"https://site.test/{name}")


def passage(key: str, source: Source, score: float | None = None) -> Evidence:
    return Evidence(key, source, 1, "0" * 64, Span(0, 3), "sea", Location(), score)


SEA, MILL, MOON = page("sea"), page("mill"), page("moon")


def state(*shown: Evidence) -> RunState:
    return RunState(ResearchRun("r", None, Scope(), 800, 8, shown={each.key: each for each in shown}))


def test_sources_come_by_their_best_passage_and_those_without_a_score_last() -> None:
    shown = [
        passage("P0001", MOON),
        passage("P0002", SEA, 0.2),
        passage("P0003", MILL, 0.5),
        passage("P0004", SEA, 0.9),
    ]
    cited = Citation(1, "P0002", SEA, Location(), Span(0, 3), "sea", "0" * 64)
    assert shown_sources(shown, [cited]) == ((SEA, 0.9, True), (MILL, 0.5, False), (MOON, 0.0, False))


def test_what_was_passed_over_is_said_once_and_not_where_it_was_used_after_all() -> None:
    run = state(passage("P0001", SEA))
    run.rejected += [("https://site.test/sea", "too slow"), ("https://site.test/mill", "blocked"), ("b.pdf", "empty")]
    run.rejected += [("https://site.test/mill", "not found")]
    assert rejected_sources([("a.pdf", "damaged"), ("b.pdf", "unread")], run) == (
        ("a.pdf", "damaged"),
        ("b.pdf", "empty"),
        ("https://site.test/mill", "not found"),
    )


@pytest.mark.parametrize(
    ("costs", "cost"), [([0.1] * 10, 1.0), ([0.1, None], None), ([], None)], ids=["exact", "one unknown", "no call"]
)
def test_a_cost_is_known_where_that_of_each_call_is(costs: list[float | None], cost: float | None) -> None:
    calls = [ModelUsage(10, 2, each) for each in costs]
    used = usage_of(calls, state(), 1.5)
    assert (used.llm_calls, used.prompt_tokens, used.completion_tokens) == (len(calls), 10 * len(calls), 2 * len(calls))
    assert (used.cost_usd, used.seconds) == (cost, 1.5)


def test_searches_of_documents_and_of_the_web_count_together() -> None:
    run = state()
    run.research.queries += ["tides", "moon"]
    assert usage_of([], run, 0.0).searches == 2
    run.web_use = WebUse(searches=3, fetches=4, cache_hits=5)
    used = usage_of([], run, 0.0)
    assert (used.searches, used.fetches, used.cache_hits) == (5, 4, 5)
