from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import anyio
import pytest

from asky.errors import AskyError, NotConfigured, ProviderError, TimedOut
from asky.search.catalog import make_provider, make_providers, make_service
from asky.search.port import SearchRequest
from asky.search.providers.ddgs import Ddgs
from tests.support.searching import FakeTime, check_search_provider, search_context, search_settings


class DDGSException(Exception):
    """The base of the package's errors, by its name; it raises one where nothing is found."""


class TimeoutException(DDGSException):
    """By the package's name."""


class Scraper:
    """The package's client as a service meets it: what it was asked, and in which thread."""

    def __init__(self, *, found: int = 3, error: Exception | None = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self.threads: list[threading.Thread] = []
        self._found, self._error = found, error

    def load(self, timeout_s: int) -> Callable[..., Sequence[Mapping[str, Any]]]:
        assert timeout_s >= 1
        return self.text

    def text(
        self,
        query: str,
        region: str = "us-en",
        safesearch: str = "moderate",
        timelimit: str | None = None,
        max_results: int | None = 10,
        page: int = 1,
        backend: str = "auto",
    ) -> list[dict[str, Any]]:
        self.threads.append(threading.current_thread())
        self.asked.append({"query": query, "region": region, "timelimit": timelimit, "backend": backend})
        assert (safesearch, page) == ("moderate", 1)
        if self._error is not None:
            raise self._error
        if not self._found:
            raise DDGSException("No results found.")
        rows = [
            {"title": f"Title &amp; {number}", "href": f"https://example.org/{number}", "body": "Some <b>text</b>"}
            for number in range(self._found)
        ]
        return [*rows, {"title": "none", "href": "", "body": ""}][:max_results]


def service_with(scraper: Scraper, **settings: Any) -> Ddgs:
    shared = search_context(waiting=FakeTime().waiting)
    return Ddgs(make_service("ddgs", search_settings("ddgs", None, **settings), shared), scraper.load)


def fail(scraper: Scraper, **settings: Any) -> AskyError:
    with pytest.raises(AskyError) as caught:
        anyio.run(service_with(scraper, **settings).search, SearchRequest("soil"))
    return caught.value


def test_the_package_keeps_the_ports_promises_in_a_thread_of_its_own() -> None:
    scraper = Scraper()
    results = anyio.run(check_search_provider, service_with(scraper), SearchRequest("soil"))
    assert [(each.title, each.snippet) for each in results.candidates][:1] == [("Title & 0", "Some text")]
    assert results.notes == ("1 result without a usable address left out",)
    assert threading.main_thread() not in scraper.threads


def test_one_engine_is_asked_unless_the_user_names_others() -> None:
    scraper = Scraper()
    request = SearchRequest("soil", recency="month", language="de-AT")
    anyio.run(service_with(scraper).search, request)
    assert scraper.asked == [{"query": "soil", "region": "at-de", "timelimit": "m", "backend": "duckduckgo"}]
    other = service_with(scraper, parameters={"backend": "mojeek, brave"})
    anyio.run(other.search, SearchRequest("soil"))
    assert scraper.asked[1]["backend"] == "mojeek, brave"
    assert service_with(scraper).host == "html.duckduckgo.com"
    assert other.host == "engines that ddgs calls mojeek, brave"


def test_finding_nothing_and_being_blocked_are_told_as_one() -> None:
    error = fail(Scraper(found=0))
    assert isinstance(error, ProviderError)
    assert error.message == "ddgs found nothing or was blocked: it cannot tell which"
    assert (error.reason, error.retryable) == ("blocked", False)


def test_other_failures_of_the_package_are_failures_of_the_service() -> None:
    assert isinstance(fail(Scraper(error=TimeoutException("late"))), TimedOut)
    broken = fail(Scraper(error=DDGSException("broken")))
    assert isinstance(broken, ProviderError)
    assert (broken.reason, broken.retryable) == ("unavailable", True)
    odd = fail(Scraper(), parameters={"colour": "red"})
    assert isinstance(odd, ProviderError)
    assert odd.reason == "bad_request"


def test_a_failure_is_not_tried_again_against_engines_that_block() -> None:
    scraper = Scraper(error=TimeoutException("late"))
    fail(scraper)
    assert len(scraper.asked) == 1


@pytest.mark.skipif(find_spec("ddgs") is not None, reason="the package ddgs is installed")
def test_without_the_package_the_command_that_installs_it_is_named() -> None:
    settings = dataclasses.replace(search_settings("ddgs", None), providers=("ddgs",))
    with pytest.raises(NotConfigured) as caught:
        make_provider("ddgs", settings, search_context())
    assert "-m pip install 'ddgs>=9'" in (caught.value.hint or "")
    (excused,) = make_providers(settings, search_context())
    with pytest.raises(NotConfigured, match="needs the package ddgs"):
        anyio.run(excused.search, SearchRequest("soil"))
