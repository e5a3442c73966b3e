from __future__ import annotations

import itertools
from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import (
    AskyError,
    AuthenticationFailed,
    NotConfigured,
    ProviderError,
    RateLimited,
    StoreFull,
    Unreachable,
)
from asky.search.federation import FederatedResults, Federation, merge
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults, ServiceRank
from tests.support.searching import FakeSearch

A, B, C, D = (f"https://example.org/{letter}" for letter in "abcd")


def search(*providers: FakeSearch, queries: Sequence[str] = ("q",)) -> FederatedResults:
    return anyio.run(Federation(providers).search, [SearchRequest(query) for query in queries])


def urls(results: FederatedResults) -> list[str]:
    return [candidate.url for candidate in results.candidates]


def candidate(url: str, provider: str = "x", rank: int = 1, **facts: object) -> Candidate:
    return Candidate(url, found=(ServiceRank(provider, rank, "q"),), **facts)  # type: ignore[arg-type] # facts of the test


def test_what_several_services_rank_high_comes_first() -> None:
    results = search(FakeSearch([A, B, C], name="one"), FakeSearch([D, B], name="two"))
    assert urls(results) == [B, A, D, C]
    assert results.candidates[0].found == (ServiceRank("one", 2, "q"), ServiceRank("two", 2, "q"))
    assert results.failures == ()


def test_a_source_is_one_however_its_address_is_written() -> None:
    results = search(
        FakeSearch([f"{A}?utm_source=x"], name="one"), FakeSearch(["https://EXAMPLE.org:443/a#x"], name="two")
    )
    assert urls(results) == [f"{A}?utm_source=x"]
    assert [found.provider for found in results.candidates[0].found] == ["one", "two"]


def test_a_work_is_one_wherever_it_lies() -> None:
    first = candidate(A, "one", doi="10.5555/x1", kind="paper", citations=3, snippet="An abstract.")
    second = candidate(
        "https://doi.org/10.5555/X1", "two", title="T", authors=("A. B",), citations=4, is_retracted=True
    )
    (work,) = merge([[first], [second]])
    assert (work.url, work.title, work.snippet, work.authors) == (A, "T", "An abstract.", ("A. B",))
    assert (work.kind, work.citations, work.is_retracted, len(work.found)) == ("paper", 4, True, 2)


def test_a_candidate_that_joins_two_groups_makes_them_one() -> None:
    page = candidate(A, "one")
    paper = candidate(B, "two", doi="10.5555/x1")
    both = candidate(A, "three", doi="10.5555/x1")
    (work,) = merge([[page], [paper], [both]])
    assert [found.provider for found in work.found] == ["one", "two", "three"]
    assert len(merge([[page], [paper]])) == 2


def test_a_list_counts_once_for_a_source_that_it_has_twice() -> None:
    twice = [candidate(A), candidate(f"{A}#x", rank=2), candidate(B, rank=3)]
    assert [each.url for each in merge([twice, [candidate(B, "y")]])] == [B, A]
    spread = [candidate(A), candidate(B, rank=2), candidate(f"{A}#x", rank=3)]
    assert [each.url for each in merge([spread])] == [A, B]


def test_equal_scores_are_in_the_order_in_which_services_were_named() -> None:
    assert urls(search(FakeSearch([A], name="one"), FakeSearch([B], name="two"))) == [A, B]
    assert urls(search(FakeSearch([B], name="two"), FakeSearch([A], name="one"))) == [B, A]


def test_several_queries_are_asked_together_and_keep_their_provenance() -> None:
    fake = FakeSearch({"first": [A, B], "second": [B, C]})
    results = search(fake, queries=("first", "second"))
    assert urls(results) == [B, A, C]
    assert results.candidates[0].found == (ServiceRank("fake", 2, "first"), ServiceRank("fake", 1, "second"))
    assert [(asked.query, asked.results) for asked in results.searches] == [("first", 2), ("second", 2)]


def test_a_service_that_fails_is_reported_and_the_others_serve() -> None:
    broken = FakeSearch(name="broken", error=RateLimited("broken received too many requests", hint="wait"))
    results = search(FakeSearch([A], notes=("cut",)), broken, queries=("q", "r"))
    assert urls(results) == [A]
    assert [(each.subject, each.code, each.hint, each.retryable) for each in results.failures] == [
        ("broken", "rate_limited", "wait", True)
    ]
    assert [(each.provider, each.results, each.notes) for each in results.searches] == [
        ("fake", 1, ("cut",)),
        ("broken", None, ()),
    ] * 2


def test_nothing_found_is_no_failure() -> None:
    results = search(FakeSearch(name="one"), FakeSearch(name="two", error=Unreachable("two is not there")))
    assert results.candidates == ()
    assert [asked.results for asked in results.searches] == [0, None]
    assert len(results.failures) == 1


def failing(*errors: AskyError) -> AskyError:
    providers = [FakeSearch(name=f"s{number}", error=error) for number, error in enumerate(errors)]
    with pytest.raises(AskyError) as caught:
        search(*providers, queries=("q", "r"))
    return caught.value


def test_when_all_fail_the_error_names_each() -> None:
    error = failing(
        RateLimited("tavily received too many requests"), ProviderError("ddgs was blocked", retryable=False)
    )
    assert isinstance(error, ProviderError)
    assert error.retryable
    assert error.message == "no search service answered: tavily received too many requests; ddgs was blocked"


def test_what_is_wrong_with_several_is_said_once() -> None:
    error = failing(
        Unreachable("s0 at a.test does not answer: its name cannot be resolved"),
        Unreachable("s1 at b.test:8080 does not answer: its name cannot be resolved"),
        Unreachable("s2 at c.test does not answer in time"),
    )
    assert error.message == (
        "no search service answered: s0, s1: does not answer: its name cannot be resolved; "
        "s2 at c.test does not answer in time"
    )


def test_when_all_fail_alike_the_error_is_of_that_kind() -> None:
    error = failing(AuthenticationFailed("brave refused the key"), AuthenticationFailed("exa refused the key"))
    assert isinstance(error, AuthenticationFailed)
    assert not error.retryable


def test_the_only_error_is_raised_as_itself() -> None:
    only = Unreachable("searxng is not there", hint="start it")
    assert failing(only) is only


def test_any_other_exception_is_a_bug_and_not_a_failure() -> None:
    class Buggy(FakeSearch):
        async def search(self, request: SearchRequest) -> None:  # type: ignore[override] # a bug
            raise KeyError(request.query)

    with pytest.raises(KeyError):
        search(FakeSearch([A]), Buggy())


def test_without_services_searching_is_not_configured() -> None:
    with pytest.raises(NotConfigured, match="no search service is set up"):
        search()
    assert search(FakeSearch([A]), queries=()) == FederatedResults((), (), ())


LISTS = st.lists(st.lists(st.sampled_from([A, B, C, D, f"{A}?x=1"]), max_size=5, unique=True), max_size=4)


@given(LISTS)
def test_merging_loses_nothing_and_repeats_nothing(lists: list[list[str]]) -> None:
    ranked = [
        [candidate(url, f"s{place}", rank) for rank, url in enumerate(each, start=1)]
        for place, each in enumerate(lists)
    ]
    merged = merge(ranked)
    assert sorted(each.url for each in merged) == sorted(set(itertools.chain(*lists)))
    assert sum(len(each.found) for each in merged) == sum(map(len, lists))
    scores = [sum(1 / (60 + found.rank) for found in each.found) for each in merged]
    assert scores == pytest.approx(sorted(scores, reverse=True))
    assert merge(ranked) == merged


def test_a_service_that_had_answered_before_is_not_among_those_that_were_asked() -> None:
    async def ask(provider: SearchProvider, request: SearchRequest) -> SearchResults:
        found = await provider.search(request)
        return SearchResults(found.candidates, was_sent=provider.name == "now")

    services = Federation([FakeSearch([A], name="now", host="now.invalid"), FakeSearch([B], name="before")])
    results = anyio.run(services.search, [SearchRequest("q")], ask)
    assert urls(results) == [A, B]
    assert [(each.provider, each.host, each.results) for each in results.searches] == [
        ("now", "now.invalid", 1),
        ("before", "", 1),
    ]


def test_what_cannot_be_recorded_is_no_failure_of_a_service() -> None:
    async def ask(provider: SearchProvider, request: SearchRequest) -> SearchResults:
        if provider.name == "first":
            raise StoreFull("the disk is full")
        return await provider.search(request)

    services = Federation([FakeSearch([A], name="first"), FakeSearch([B], name="second")])
    with pytest.raises(StoreFull, match="the disk is full"):
        anyio.run(services.search, [SearchRequest("q")], ask)
