from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from asky.errors import AskyError, AuthenticationFailed, ProviderError, RateLimited, TimedOut, Unreachable
from asky.net.retry import Waiting
from asky.search.catalog import ROWS, make_provider
from asky.search.port import Candidate, SearchProvider, SearchRequest, SearchResults
from tests.support.searching import FakeSearch, FakeTime, check_search_provider, search_context, search_settings
from tests.support.twins.base import Reply, Throttled
from tests.support.twins.web import (
    FOUND,
    BraveTwin,
    ExaTwin,
    Hit,
    SearxngTwin,
    SerperTwin,
    TavilyTwin,
    WebTwin,
)

KEY = "key/with+odd=characters-0123456789"
TWINS: dict[str, type[WebTwin]] = {
    "searxng": SearxngTwin,
    "brave": BraveTwin,
    "tavily": TavilyTwin,
    "exa": ExaTwin,
    "serper": SerperTwin,
}
REQUEST = SearchRequest("how does soil keep carbon")


@dataclass
class Pair:
    """A service, the twin that it asks, and the time that both of them share."""

    twin: WebTwin
    provider: SearchProvider
    time: FakeTime

    def search(self, request: SearchRequest = REQUEST) -> SearchResults:
        return anyio.run(self.provider.search, request)

    def fail(self, request: SearchRequest = REQUEST) -> AskyError:
        with pytest.raises(AskyError) as caught:
            self.search(request)
        assert KEY not in f"{caught.value!r} {caught.value.hint}"
        return caught.value

    def sent(self) -> dict[str, object]:
        """The last request's parameters, those of the address or of the body."""
        request = self.twin.requests[-1]
        return dict(request.json) or {name: values[0] for name, values in request.params.items()}


def provider_at(name: str, base_url: str, time: FakeTime, **service: Any) -> SearchProvider:
    variable = ROWS[name].key_variable
    settings = search_settings(name, base_url, **service)
    return make_provider(name, settings, search_context({variable: KEY} if variable else {}, waiting=time.waiting))


def pair_of(name: str, twin: WebTwin, **service: Any) -> Pair:
    time = FakeTime()
    return Pair(twin, provider_at(name, twin.base_url, time, **service), time)


@pytest.fixture(params=TWINS)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Each service in turn."""
    with TWINS[request.param](key=KEY) as twin:
        yield pair_of(request.param, twin)


@pytest.fixture(params=[name for name in TWINS if name != "searxng"])
def keyed(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Each service that needs a key."""
    with TWINS[request.param](key=KEY) as twin:
        yield pair_of(request.param, twin)


def test_a_service_keeps_the_ports_promises(pair: Pair) -> None:
    results = anyio.run(check_search_provider, pair.provider, REQUEST)
    assert tuple(candidate.url for candidate in results.candidates) == FOUND
    assert pair.twin.faults == []
    assert pair.provider.host == pair.twin.host


def test_the_fake_keeps_the_ports_promises() -> None:
    fake = FakeSearch([*FOUND, FOUND[0], Candidate("https://example.org/dated", published="2024")])
    results = anyio.run(check_search_provider, fake, REQUEST)
    assert len(results.candidates) == 4
    assert fake.requests[0] == REQUEST


def test_titles_and_snippets_are_plain_text_and_dates_are_iso(pair: Pair) -> None:
    soil, peat, cafe = pair.search().candidates
    assert (soil.title, soil.snippet, soil.published) == ("Soil carbon & you", "How soil keeps carbon.", "2026-03-03")
    assert (peat.snippet, peat.published) == ("Peat is 50% carbon <dry>.", None)
    assert (cafe.title, cafe.snippet, cafe.published) == ("Café ✓", "Naïve text", "2024-11-30")


def test_rows_that_are_no_sources_are_counted(pair: Pair) -> None:
    assert pair.search().notes == ("3 results without a usable address left out",)


def test_nothing_found_is_an_empty_list(pair: Pair) -> None:
    pair.twin.play("empty")
    assert pair.search() == SearchResults(())


def test_optional_parts_may_be_absent_null_or_of_another_type(pair: Pair) -> None:
    pair.twin.play("sparse")
    bare, null = pair.search().candidates
    assert (bare.url, bare.title, bare.snippet, bare.published) == ("https://example.org/bare", "", "", None)
    assert (null.url, null.title, null.snippet, null.published) == ("https://example.org/null", "", "", None)


@pytest.mark.parametrize("scenario", ["bom", "gzip", "latin1"])
def test_an_answer_is_read_whatever_its_encoding(pair: Pair, scenario: str) -> None:
    pair.twin.play(scenario)
    cafe = pair.search().candidates[2]
    assert (cafe.title.split()[0], cafe.snippet) == ("Café", "Naïve text")


@pytest.mark.parametrize("body", ["[]", "null", "7", '{"results": 7, "organic": 7, "web": {"results": 7}}', '"text"'])
def test_an_answer_of_another_form_is_malformed(pair: Pair, body: str) -> None:
    pair.twin.play(Reply(body))
    error = pair.fail()
    assert isinstance(error, ProviderError)
    assert (error.reason, error.retryable) == ("malformed", False)


@pytest.mark.parametrize(
    ("scenario", "reason", "requests"),
    [
        ("captcha200", "blocked", 1),
        ("captcha202", "blocked", 1),
        ("html403", "blocked", 1),
        ("not_json", "blocked", 1),
        ("redirect", "bad_request", 1),
        ("error500", "unavailable", 3),
        ("html502", "unavailable", 3),
        ("bomb", "malformed", 1),
    ],
)
def test_a_failure_is_named_and_only_one_that_may_pass_is_tried_again(
    pair: Pair, scenario: str, reason: str, requests: int
) -> None:
    pair.twin.play(scenario)
    error = pair.fail()
    assert isinstance(error, ProviderError)
    if (pair.provider.name, scenario) == ("searxng", "html403"):
        reason = "bad_request"
    assert (error.reason, error.retryable) == (reason, requests > 1)
    assert len(pair.twin.requests) == requests


def test_a_wrong_key_is_an_error_of_the_key(keyed: Pair) -> None:
    keyed.twin.key = "another"
    error = keyed.fail()
    assert isinstance(error, AuthenticationFailed)
    assert error.hint == f"check the value of {ROWS[keyed.provider.name].key_variable}"
    assert len(keyed.twin.requests) == 1


def test_a_used_up_quota_is_not_asked_again(keyed: Pair) -> None:
    keyed.twin.play("quota")
    error = keyed.fail()
    assert isinstance(error, RateLimited)
    assert not error.retryable
    assert "quota" in error.message
    assert len(keyed.twin.requests) == 1


def test_a_service_that_throttles_is_asked_again_when_it_says(pair: Pair) -> None:
    pair.twin.play(Throttled((("Retry-After", "2.5"),)), "normal")
    assert len(pair.search().candidates) == 3
    assert pair.time.slept == [2.5]


@pytest.mark.parametrize(
    ("headers", "pause_s"),
    [
        ((), 0.5),
        ((("Retry-After", "soon"),), 0.5),
        ((("Retry-After", "-3"),), 0.5),
        ((("Retry-After", "Sun, 22 Nov 2026 00:00:04 GMT"),), 4.0),
        ((("retry-after-ms", "1500"), ("Retry-After", "9")), 1.5),
    ],
)
def test_retry_after_comes_in_many_forms(headers: tuple[tuple[str, str], ...], pause_s: float) -> None:
    with TavilyTwin() as twin:
        pair = pair_of("tavily", twin)
        twin.play(Throttled(headers), "normal")
        pair.search()
        assert pair.time.slept == [pause_s]


def test_a_wait_beyond_the_time_there_is_is_not_slept(pair: Pair) -> None:
    pair.twin.play(Throttled((("Retry-After", "86400000"),)))
    error = pair.fail()
    assert isinstance(error, RateLimited)
    assert error.message.endswith("it asks clients to wait 1000 days")
    assert error.wait_s == 86_400_000
    assert pair.time.slept == []


def test_a_key_that_a_service_repeats_is_masked(keyed: Pair) -> None:
    keyed.twin.play("echo")
    assert "[hidden]" in keyed.fail().message
    assert KEY not in repr(keyed.provider) + repr(vars(keyed.provider))


def test_an_answer_that_breaks_off_is_fetched_again(pair: Pair) -> None:
    pair.twin.play("cut", "normal")
    assert len(pair.search().candidates) == 3
    pair.twin.play("cut")
    assert isinstance(pair.fail(), Unreachable)


def test_a_silent_service_ends_at_the_deadline() -> None:
    with SearxngTwin() as twin:
        twin.play("silent")
        shared = search_context(waiting=Waiting())
        provider = make_provider("searxng", search_settings("searxng", twin.base_url, timeout_s=1.5), shared)
        with pytest.raises(TimedOut) as caught:
            anyio.run(provider.search, REQUEST)
        assert caught.value.hint == "raise search.searxng.timeout_s"
        assert len(twin.requests) == 1


def test_a_service_that_is_not_there_is_unreachable() -> None:
    with SearxngTwin() as twin:
        gone = twin.base_url
    provider = provider_at("searxng", gone, FakeTime())
    with pytest.raises(Unreachable, match=r"^searxng at 127\.0\.0\.1:\d+ does not answer: the connection was refused$"):
        anyio.run(provider.search, REQUEST)


@pytest.mark.parametrize(
    ("name", "longest_chars", "longest_words"), [("brave", 400, 50), ("tavily", 400, 400), ("serper", 2000, 2000)]
)
def test_a_query_is_cut_to_what_the_service_takes(name: str, longest_chars: int, longest_words: int) -> None:
    with TWINS[name](key=KEY) as twin:
        pair = pair_of(name, twin)
        for word in ("a", "somewhat", "x" * 5000):
            query = f"soil {word} " * 1000
            results = pair.search(SearchRequest(query, max_results=1000))
            asked = str(pair.sent().get("q") or pair.sent().get("query"))
            assert query.startswith(asked)
            assert len(asked) <= longest_chars
            assert len(asked.split()) <= longest_words
            assert any("the query was cut" in note for note in results.notes)
            assert results.candidates[0].found[0].query == query
        assert twin.faults == []


def test_an_empty_query_is_not_sent(pair: Pair) -> None:
    error = pair.fail(SearchRequest(" \x00\u202e\n "[2:]))
    assert isinstance(error, ProviderError)
    assert error.reason == "bad_request"
    assert pair.twin.requests == []


@pytest.mark.parametrize("max_results", [1, 2, 1000])
def test_no_more_results_come_than_are_asked_for(pair: Pair, max_results: int) -> None:
    pair.twin.rows = [Hit(f"https://example.org/{number}") for number in range(200)]
    found = pair.search(SearchRequest("soil", max_results=max_results))
    limit = 200 if pair.provider.name == "searxng" else ROWS[pair.provider.name].limits.results
    assert len(found.candidates) == min(max_results, limit)
    assert pair.twin.faults == []


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("searxng", {"time_range": "week", "language": "pt-BR"}),
        ("brave", {"freshness": "pw", "search_lang": "pt-br"}),
        ("tavily", {"time_range": "week"}),
        ("exa", {"startPublishedDate": "2026-11-15T00:00:00.000Z"}),
        ("serper", {"tbs": "qdr:w", "hl": "pt", "gl": "br"}),
    ],
)
def test_recency_and_language_are_put_in_the_services_words(name: str, sent: dict[str, object]) -> None:
    with TWINS[name](key=KEY) as twin:
        pair = pair_of(name, twin)
        pair.search(SearchRequest("soil", recency="week", language="pt_br"))
        assert sent.items() <= pair.sent().items()
        pair.search(SearchRequest("soil"))
        assert not sent.keys() & pair.sent().keys()


@pytest.mark.parametrize(
    ("language", "sent"),
    [("ja", "jp"), ("en-GB", "en-gb"), ("en-US", "en"), ("pt", "pt-pt"), ("zh", "zh-hans"), ("de-AT", "de")],
)
def test_brave_has_names_of_its_own_for_some_languages(language: str, sent: str) -> None:
    with BraveTwin(key=KEY) as twin:
        pair = pair_of("brave", twin)
        pair.search(SearchRequest("soil", language=language))
        assert pair.sent()["search_lang"] == sent
        assert twin.faults == []


def test_brave_is_not_asked_for_a_language_that_it_does_not_know() -> None:
    with BraveTwin(key=KEY) as twin:
        pair = pair_of("brave", twin)
        results = pair.search(SearchRequest("soil", language="eo"))
        assert "search_lang" not in pair.sent()
        assert "it does not know the language eo" in results.notes


def test_brave_without_quota_says_so_in_its_headers() -> None:
    headers = (("X-RateLimit-Remaining", "1, 0"), ("X-RateLimit-Reset", "1, 1419704"))
    with BraveTwin(key=KEY) as twin:
        pair = pair_of("brave", twin)
        twin.play(Throttled(headers))
        assert "quota" in pair.fail().message
        twin.play(Throttled((("X-RateLimit-Remaining", "0, 14000"), ("X-RateLimit-Reset", "1, 1419704"))), "normal")
        assert pair.search().candidates


def test_brave_calls_a_missing_key_a_bad_request_and_it_is_an_error_of_the_key() -> None:
    problems = [{"type": "missing", "loc": ["header", "x-subscription-token"], "msg": "Field required"}]
    error = {"status": 422, "code": "VALIDATION", "detail": "Unable to validate", "meta": {"errors": problems}}
    with BraveTwin(key=KEY) as twin:
        pair = pair_of("brave", twin)
        twin.play(Reply({"type": "ErrorResponse", "error": error}, status=422))
        assert isinstance(pair.fail(), AuthenticationFailed)
        twin.play(Reply({"error": {**error, "meta": {"errors": "odd"}}}, status=422))
        assert pair.fail().message == "brave refused the request: Unable to validate"


def test_the_users_parameters_go_along_and_cannot_displace_the_query() -> None:
    with SearxngTwin() as twin:
        pair = pair_of("searxng", twin, parameters={"engines": "mojeek", "safesearch": 1, "q": "no", "format": "rss"})
        pair.search()
        assert {"engines": "mojeek", "safesearch": "1", "q": REQUEST.query, "format": "json"} == pair.sent()
    with ExaTwin(key=KEY) as other:
        pair = pair_of("exa", other, parameters={"contents": {"text": {"maxCharacters": 300}}, "type": "fast"})
        pair.search()
        assert pair.sent()["contents"] == {"text": {"maxCharacters": 300}}
        assert pair.sent()["type"] == "fast"


def test_searxng_without_json_says_what_to_change() -> None:
    with SearxngTwin() as twin:
        twin.formats = ("html",)
        error = pair_of("searxng", twin).fail()
        assert error.hint == "add json to search.formats in its settings.yml, and restart it"


@pytest.mark.parametrize(
    ("query", "sent"), [("!!g soil", "g soil"), ("soil :fr <3 !wp ?", "soil fr 3 wp"), ("C++ a!b x<y", "C++ a!b x<y")]
)
def test_searxng_gets_words_and_no_commands(query: str, sent: str) -> None:
    with SearxngTwin() as twin:
        pair = pair_of("searxng", twin)
        assert pair.search(SearchRequest(query)).candidates[0].found[0].query == query
        assert pair.sent()["q"] == sent
        assert twin.faults == []


def test_searxng_whose_engines_failed_has_not_searched() -> None:
    with SearxngTwin() as twin:
        twin.unresponsive = [["google", "Suspended: CAPTCHA"], ["bing", "timeout"], "odd"]
        twin.play("empty")
        error = pair_of("searxng", twin).fail()
        assert isinstance(error, ProviderError)
        assert error.reason == "unavailable"
        assert error.message.endswith("google (Suspended: CAPTCHA), bing (timeout), odd")
        twin.play("normal")
        assert any("did not answer: google" in note for note in pair_of("searxng", twin).search().notes)


@pytest.mark.parametrize(
    ("key", "sent"), [("ann:secret1", "Basic YW5uOnNlY3JldDE="), ("token-123456", "Bearer token-123456")]
)
def test_searxng_behind_a_password_is_sent_it(key: str, sent: str) -> None:
    with SearxngTwin() as twin:
        settings = search_settings("searxng", twin.base_url, api_key_env="SEARXNG_KEY")
        provider = make_provider("searxng", settings, search_context({"SEARXNG_KEY": key}))
        anyio.run(provider.search, REQUEST)
        assert twin.requests[0].headers["authorization"] == sent


def test_searxng_shows_what_it_knows_of_a_paper() -> None:
    row = {
        "url": "https://doi.org/10.5555/X1",
        "title": "A paper",
        "doi": "10.5555/X1",
        "authors": ["A. Author", "B. Author"],
        "journal": "J Soil",
        "publishedDate": "2023-01-03 00:00:00",
    }
    with SearxngTwin() as twin:
        twin.play(Reply({"results": [row]}))
        (paper,) = pair_of("searxng", twin).search().candidates
        assert (paper.kind, paper.doi, paper.venue, paper.published) == ("paper", "10.5555/x1", "J Soil", "2023-01-03")
        assert paper.authors == ("A. Author", "B. Author")


def test_serper_dates_are_counted_back_from_today() -> None:
    with SerperTwin(key=KEY, rows=[Hit("https://example.org/a", iso="3 days ago")]) as twin:
        assert pair_of("serper", twin).search().candidates[0].published == "2026-11-19"


def test_tavily_names_the_reason_in_any_of_its_forms() -> None:
    with TavilyTwin(key=KEY) as twin:
        pair = pair_of("tavily", twin)
        for detail in ({"error": "too odd"}, "too odd", [{"loc": ["body"], "msg": "too odd"}]):
            twin.play(Reply({"detail": detail}, status=400))
            assert pair.fail().message == "tavily refused the request: too odd"
        twin.play(Reply("no json", status=400))
        assert pair.fail().message == "tavily refused the request"
