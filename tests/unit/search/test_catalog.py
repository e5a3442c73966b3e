from __future__ import annotations

import dataclasses

import anyio
import pytest

from asky.config.schema import Search, SearchPackage, SearchServiceSettings
from asky.errors import ConfigError, NotConfigured
from asky.search.catalog import ROWS, configured, finders, make_provider, make_providers, make_service
from asky.search.port import SearchRequest
from tests.support.searching import search_context, search_settings

SERVICES = [
    field.name
    for field in dataclasses.fields(Search)
    if isinstance(getattr(Search(), field.name), SearchServiceSettings | SearchPackage)
]


def test_every_service_of_the_configuration_is_known() -> None:
    assert set(ROWS) == set(SERVICES)


def test_without_names_the_services_that_are_set_up_are_asked_in_a_fixed_order() -> None:
    environ = {"SERPER_API_KEY": "key-1", "BRAVE_API_KEY": "key-2", "EXA_API_KEY": "  ", "OPENALEX_API_KEY": "key-3"}
    assert configured(Search(), environ) == ("brave", "serper")
    assert configured(Search(searxng=SearchServiceSettings(base_url="http://localhost:8080")), environ)[0] == "searxng"
    assert configured(Search(tavily=SearchServiceSettings(api_key_env="MINE")), {"MINE": "key-4"}) == ("tavily",)
    assert configured(Search(), {}) == ()


def test_named_services_are_asked_each_once() -> None:
    assert configured(Search(providers=("arxiv", "exa", "arxiv")), {}) == ("arxiv", "exa")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("tavilly", "did you mean tavily?"), ("Brave", "did you mean brave?"), ("qqq", "known services: ")],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(Search(providers=(name,)), {})
    assert (caught.value.hint or "").startswith(hint)


def test_what_does_not_search_is_named_beside_what_does_and_cannot_be_asked_for_sources() -> None:
    named = Search(providers=("arxiv", "unpaywall"))
    assert (configured(named, {}), finders(named)) == (("arxiv",), ("unpaywall",))
    assert configured(Search(providers=("unpaywall",)), {"BRAVE_API_KEY": "key-1"}) == ("brave",)
    assert finders(Search()) == ()
    with pytest.raises(ConfigError, match="unpaywall is not a search service"):
        make_provider("unpaywall", Search(email="ann@example.org"), search_context())


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.key == "required"])
def test_a_missing_key_is_named(name: str) -> None:
    with pytest.raises(NotConfigured, match=f"{name} needs a key: the variable {ROWS[name].key_variable} is not set"):
        make_provider(name, Search(), search_context())


def test_a_variable_that_the_user_named_must_be_set() -> None:
    with pytest.raises(NotConfigured, match="MY_KEY"):
        make_service("searxng", search_settings("searxng", "http://localhost", api_key_env="MY_KEY"), search_context())


def test_a_key_with_other_characters_is_refused_without_being_shown() -> None:
    with pytest.raises(NotConfigured) as caught:
        make_service("brave", Search(), search_context({"BRAVE_API_KEY": "two words-1"}))
    assert "two words" not in f"{caught.value!r} {caught.value.hint}"


def test_searxng_needs_an_address_and_unpaywall_an_email() -> None:
    with pytest.raises(NotConfigured, match="searxng has no address"):
        make_service("searxng", Search(), search_context())
    with pytest.raises(NotConfigured, match="e-mail"):
        make_service("unpaywall", Search(), search_context())


@pytest.mark.parametrize("base_url", ["localhost:8080", "ftp://example.org", "http://a:b@example.org", "http://x/?q="])
def test_an_address_that_is_none_is_refused(base_url: str) -> None:
    with pytest.raises(ConfigError, match=r"^search\.searxng\.base_url: "):
        make_service("searxng", search_settings("searxng", base_url), search_context())


def test_the_email_goes_only_to_services_that_ask_for_one() -> None:
    search = Search(email="ann@example.org")
    assert make_service("crossref", search, search_context()).email == "ann@example.org"
    assert make_service("semantic_scholar", search, search_context()).email is None


def test_what_is_shown_of_a_service_holds_no_secret() -> None:
    search = Search(email="ann@example.org")
    service = make_service("pubmed", search, search_context({"NCBI_API_KEY": "key-0123456789"}))
    assert service.api_key == "key-0123456789"
    assert "key-0123456789" not in repr(service)
    assert "ann@" not in repr(service)


def test_a_service_that_is_not_set_up_says_so_when_it_is_asked() -> None:
    searxng, brave = make_providers(
        dataclasses.replace(search_settings("searxng", "http://127.0.0.1:1"), providers=("searxng", "brave")),
        search_context(),
    )
    assert (searxng.name, searxng.host, brave.name) == ("searxng", "127.0.0.1:1", "brave")
    with pytest.raises(NotConfigured, match="BRAVE_API_KEY"):
        anyio.run(brave.search, SearchRequest("q"))
