"""What every service gets from the way in which it is asked; the twin of Tavily stands for all."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import anyio
import pytest

from asky.concurrency import gather
from asky.config.schema import Search, SearchServiceSettings
from asky.errors import AskyError, RateLimited, TimedOut, Unreachable
from asky.net.breaker import Breaker
from asky.net.retry import Waiting
from asky.search.catalog import SearchContext, make_provider, make_service
from asky.search.check import check_service
from asky.search.port import SearchRequest, SearchResults
from asky.search.reply import ServiceReply
from asky.search.service import MAX_BYTES, Service
from asky.values import Failure
from tests.support.searching import FakeSearch, FakeTime, search_context, search_settings
from tests.support.twins.base import Reply, Throttled
from tests.support.twins.web import BraveTwin, SearxngTwin, TavilyTwin

KEY = "tvly-0123456789"
REQUEST = SearchRequest("soil")


def searches(base_url: str, count: int, shared: SearchContext, **service: Any) -> list[SearchResults | Failure]:
    """That many searches at once."""
    provider = make_provider("tavily", search_settings("tavily", base_url, **service), shared)
    return anyio.run(lambda: gather([REQUEST] * count, provider.search, limit=count))


def test_searches_of_one_process_keep_the_pace() -> None:
    time = FakeTime()
    with TavilyTwin(key=KEY) as twin:
        found = searches(
            twin.base_url, 4, search_context({"TAVILY_API_KEY": KEY}, waiting=time.waiting), gap_s=2.0, timeout_s=60.0
        )
    assert [type(each) for each in found] == [SearchResults] * 4
    assert time.now_s == pytest.approx(6.0)


def test_a_turn_that_comes_too_late_is_not_waited_for_and_not_held_against_the_service() -> None:
    shared = search_context({"TAVILY_API_KEY": KEY}, waiting=FakeTime().waiting)
    with TavilyTwin(key=KEY) as twin:
        found = searches(twin.base_url, 3, shared, gap_s=1000.0, timeout_s=20.0)
        assert len(twin.requests) == 1
    failures = [each for each in found if isinstance(each, Failure)]
    assert [each.code for each in failures] == ["rate_limited"] * 2
    assert shared.breaker.states() == ()


def test_a_turn_that_comes_too_late_is_no_sign_that_a_service_is_back() -> None:
    shared = search_context({"TAVILY_API_KEY": KEY}, waiting=FakeTime().waiting)
    with TavilyTwin(key=KEY) as twin:
        twin.play("error500")
        first, second = (searches(twin.base_url, 1, shared, gap_s=1000.0, timeout_s=20.0)[0] for _ in range(2))
        assert isinstance(first, Failure)
        assert first.message == "tavily: it failed with status 500"
        assert isinstance(second, Failure)
        assert second.code == RateLimited.code
        assert len(twin.requests) == 1
    assert [state.failures for state in shared.breaker.states()] == [1]


def test_a_wait_is_that_of_the_last_reply() -> None:
    time = FakeTime()
    with TavilyTwin(key=KEY) as twin:
        twin.play(Throttled((("Retry-After", "7"),)), "cut", "normal")
        searches(twin.base_url, 1, search_context({"TAVILY_API_KEY": KEY}, waiting=time.waiting))
    assert time.slept == [7.0, 1.0]


def test_a_service_that_fails_again_and_again_is_left_alone() -> None:
    time = FakeTime()
    shared = search_context({"TAVILY_API_KEY": KEY}, waiting=time.waiting)
    with TavilyTwin(key=KEY) as twin:
        twin.play("error500")
        (failure,) = searches(twin.base_url, 1, shared)
        assert isinstance(failure, Failure)
        assert failure.message == "tavily: it failed with status 500"
        (failure,) = searches(twin.base_url, 1, shared)
        assert isinstance(failure, Failure)
        assert failure.message == (
            f"tavily at {twin.host} failed 3 times in a row and is paused (last: tavily: it failed with status 500)"
        )
        assert len(twin.requests) == 3
        twin.play("normal")
        time.now_s += 60
        assert isinstance(searches(twin.base_url, 1, shared)[0], SearchResults)
        assert shared.breaker.states() == ()


def test_one_request_finds_out_whether_a_service_is_back() -> None:
    time = FakeTime()
    shared = search_context({"TAVILY_API_KEY": KEY}, waiting=time.waiting)
    with TavilyTwin(key=KEY) as twin:
        twin.play("error500")
        searches(twin.base_url, 1, shared)
        time.now_s += 60
        found = searches(twin.base_url, 20, shared)
        assert all(isinstance(each, Failure) for each in found)
        assert len(twin.requests) == 3 + 1


def test_a_silent_service_counts_as_failing() -> None:
    shared = search_context({"TAVILY_API_KEY": KEY}, waiting=Waiting())
    with TavilyTwin(key=KEY) as twin:
        twin.play("silent")
        (failure,) = searches(twin.base_url, 1, shared, timeout_s=1.5)
        assert isinstance(failure, Failure)
        assert failure.code == TimedOut.code
    assert [state.failures for state in shared.breaker.states()] == [1]


def test_quotas_and_keys_open_no_breaker() -> None:
    shared = search_context({"TAVILY_API_KEY": KEY})
    with TavilyTwin(key=KEY) as twin:
        twin.play("bad_key", "quota", "bad_key", "quota", "captcha200", "normal")
        for _ in range(5):
            searches(twin.base_url, 1, shared)
        assert isinstance(searches(twin.base_url, 1, shared)[0], SearchResults)


def test_the_try_that_opens_the_breaker_reports_what_the_service_said() -> None:
    time = FakeTime()
    shared = SearchContext(
        {"TAVILY_API_KEY": KEY},
        search_context(waiting=time.waiting).pace,
        Breaker(None, time.waiting, threshold=1),
        time.waiting,
    )
    with TavilyTwin(key=KEY) as twin:
        twin.play("error500")
        (failure,) = searches(twin.base_url, 1, shared)
        assert isinstance(failure, Failure)
        assert failure.message == "tavily: it failed with status 500"
        assert len(twin.requests) == 1


PROGRAM = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    import anyio
    from asky.config.schema import Search, SearchServiceSettings
    from asky.net.breaker import Breaker
    from asky.net.pace import Pace
    from asky.search.catalog import SearchContext, make_provider
    from asky.search.port import SearchRequest

    async def main(base_url, folder):
        shared = SearchContext({"BRAVE_API_KEY": "key-0123456789"}, Pace(folder), Breaker(folder))
        provider = make_provider("brave", Search(brave=SearchServiceSettings(base_url=base_url)), shared)
        await provider.search(SearchRequest("soil"))

    anyio.run(main, sys.argv[1], Path(sys.argv[2]))
    """
)


@pytest.mark.extended
def test_four_processes_keep_to_one_request_a_second_together(tmp_path: Path) -> None:
    with BraveTwin() as twin:
        command = [sys.executable, "-c", PROGRAM, twin.base_url, str(tmp_path / "net")]
        running = [subprocess.Popen(command) for _ in range(4)]
        assert [process.wait(300) for process in running] == [0] * 4
        assert len(twin.requests) == 4
        assert sum(twin.gaps()) > 2.0  # three seconds, less what the first came late


def service_at(base_url: str, *, max_bytes: int = MAX_BYTES, email: str | None = None) -> Service:
    shared = search_context()
    return Service(
        name="tavily",
        base_url=base_url,
        pace=shared.pace,
        breaker=shared.breaker,
        api_key=KEY,
        email=email,
        waiting=shared.waiting,
        max_bytes=max_bytes,
    )


def test_an_answer_has_a_longest_size() -> None:
    with TavilyTwin() as twin:
        twin.play(Reply([1] * 400))
        assert anyio.run(service_at(twin.base_url, max_bytes=1200).post_json, "/search", {"query": "q"}) == [1] * 400
        with pytest.raises(AskyError, match="its answer is longer than"):
            anyio.run(service_at(twin.base_url, max_bytes=1199).post_json, "/search", {"query": "q"})


def test_no_error_and_no_cause_of_it_holds_a_secret() -> None:
    service = service_at("http://127.0.0.1:1", email="ann@example.org")
    said = f"no {KEY}, {KEY.upper()} or ann%40example.org for ann@example.org"

    def explain(_: ServiceReply) -> AskyError | None:
        return RateLimited(said, hint=said, retryable=False)

    with SearxngTwin() as twin:
        service = service_at(twin.base_url, email="ann@example.org")
        with pytest.raises(RateLimited) as caught:
            anyio.run(lambda: service.get_json("/search", {"q": "q", "api_key": KEY}, explain=explain))
        assert str(caught.value) == "no [hidden], [hidden] or [hidden] for [hidden]"
        assert caught.value.hint == "no [hidden], [hidden] or [hidden] for [hidden]"
        assert KEY not in repr(caught.value)
        assert twin.requests[0].headers["user-agent"].endswith("(mailto:ann@example.org)")
    with pytest.raises(Unreachable) as gone:
        anyio.run(lambda: service.get_json("/search", {"api_key": KEY}))
    assert gone.value.__cause__ is None
    assert KEY not in f"{gone.value} {gone.value.hint}"


def test_parameters_are_sent_as_services_expect_them() -> None:
    with SearxngTwin() as twin:
        twin.play(Reply({}))
        params = {"q": "a b&c=ü", "none": None, "yes": True, "many": ["x", "y"], "number": 3, "half": "\ud800"}
        anyio.run(service_at(twin.base_url).get_json, "/search", params)
        (request,) = twin.requests
        assert request.params == {
            "q": ["a b&c=ü"],
            "yes": ["true"],
            "many": ["x", "y"],
            "number": ["3"],
            "half": ["?"],
        }
        assert request.headers["user-agent"].startswith("asky/")
        assert "cookie" not in request.headers


def test_deep_json_is_malformed_and_no_crash() -> None:
    with SearxngTwin() as twin:
        for body in (b"[" * 100_000, b"9" * 10_000, b"\xff\xfe\x00", b""):
            twin.play(Reply(body))
            with pytest.raises(AskyError, match="its answer is"):
                anyio.run(service_at(twin.base_url).get_json, "/search", {"q": "q"})


def test_an_answer_is_given_as_it_came_but_no_web_page() -> None:
    feed = b"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'/>"
    with SearxngTwin() as twin:
        service = service_at(twin.base_url)
        twin.play(Reply(feed, content_type="application/atom+xml"), "captcha200")
        assert anyio.run(service.request, "GET", "/search", {"q": "q"}).body == feed
        with pytest.raises(AskyError, match="a web page came"):
            anyio.run(service.request, "GET", "/search", {"q": "q"})


def test_a_service_that_is_throttled_for_good_is_asked_three_times() -> None:
    with TavilyTwin(key=KEY) as twin:
        twin.play(Throttled())
        time = FakeTime()
        (failure,) = searches(twin.base_url, 1, search_context({"TAVILY_API_KEY": KEY}, waiting=time.waiting))
        assert isinstance(failure, Failure)
        assert failure.retryable
        assert len(twin.requests) == 3
        assert time.slept == [0.5, 1.0]


def test_the_check_of_a_service_says_what_came_of_it() -> None:
    time = FakeTime()
    with TavilyTwin(key=KEY) as twin:
        provider = make_provider(
            "tavily", search_settings("tavily", twin.base_url), search_context({"TAVILY_API_KEY": KEY})
        )
        check = anyio.run(check_service, provider, lambda: time.now_s)
        assert (check.works, check.results, check.host, check.error) == (True, 2, twin.host, None)
        assert len(twin.requests) == 1
        twin.play("bad_key")
        check = anyio.run(check_service, provider, lambda: time.now_s)
        assert not check.works
        assert check.error is not None
        assert check.error.hint == "check the value of TAVILY_API_KEY"
    assert not anyio.run(check_service, FakeSearch(), lambda: time.now_s).works


def test_the_address_of_a_service_may_have_a_path_and_a_final_slash() -> None:
    with SearxngTwin() as twin:
        service = make_service(
            "searxng", Search(searxng=SearchServiceSettings(base_url=f"{twin.base_url}/", gap_s=0.0)), search_context()
        )
        twin.play(Reply({}))
        assert anyio.run(service.get_json, "/search", {"q": "q"}) == {}
        assert twin.requests[0].path == "/search"
