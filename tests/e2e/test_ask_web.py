"""Questions to the web, as a user asks them: a loopback site, twins of search services, the installed command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_ask_models import cites, environ_of
from tests.support.endpoint import Answer, Call, Endpoint
from tests.support.here import run_here
from tests.support.site import Site
from tests.support.twins.web import Hit, SearxngTwin

pytestmark = pytest.mark.model

TIDES = "How many high tides does the moon raise in a day?"
MOON = (
    "The moon pulls the water of the sea and raises two high tides a day. The sun raises smaller tides of its own, a"
    " little less than half as high as those of the moon."
)
SAILORS = (
    "Sailors on the coast read their almanacs before they left the harbour, because the depth over the bar changed with"
    " the hour. Spring tides come when the sun and the moon stand in one line."
)


def page(title: str, *paragraphs: str) -> str:
    """An article among menus."""
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return (
        f"<html><head><title>{title}</title></head><body><nav><a href='/home'>Home</a> <a href='/about'>About</a></nav>"
        f"<main><article><h1>{title}</h1>{body}<p>See also <a href='/more'>more about the tides of the moon</a>.</p>"
        "</article></main><footer>All rights reserved.</footer></body></html>"
    )


@dataclass
class Web:
    """A site, a search service that finds its pages, and the environment that names both."""

    site: Site
    twin: SearxngTwin
    environ: dict[str, str]

    def pages_fetched(self) -> list[str]:
        return [asked.path for asked in self.site.requests if asked.path != "/robots.txt"]


@pytest.fixture
def web() -> Iterator[Web]:
    with Site() as site:
        site.page("/tides", html=page("Tides", MOON, SAILORS))
        site.page("/copy", html=page("Tides", MOON, SAILORS))
        site.page("/harbour", html=page("Harbours", SAILORS * 3, "A harbour is a place where ships lie safely."))
        site.page(
            "/bread", html=page("Bread", "Bread rises because yeast makes gas. " * 5, "Bake it for forty minutes.")
        )
        site.page("/gone", status=404)
        site.page(
            "/check",
            html="<html><head><title>Just a moment...</title></head><body><h1>Checking your browser</h1><p>Please"
            " enable cookies and complete the captcha to prove that you are human.</p></body></html>",
        )
        site.page(
            "/more", html=page("More tides", "The tides of the moon are also seen in the rocks of the earth. " * 4)
        )
        found = ["/tides", "/copy", "/harbour", "/bread", "/gone", "/check"]
        rows = [Hit(site.url(path), path[1:], f"About {path[1:]}: tides and the moon.") for path in found]
        with SearxngTwin(rows=rows) as twin:
            environ = {
                "ASKY_SEARCH__SEARXNG__BASE_URL": twin.base_url,
                "ASKY_SEARCH__SEARXNG__GAP_S": "0",
                "ASKY_NETWORK__ALLOW_PRIVATE": json.dumps([site.authority]),
                "ASKY_NETWORK__HOST_GAP_S": "0",
            }
            yield Web(site, twin, environ)


def ask(home: Path, web: Web, *arguments: str, **environ: str) -> tuple[int, dict[str, Any], str]:
    done = run_here(*arguments, "--json", home=home, environ=web.environ | environ)
    return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr


def test_the_built_in_model_answers_from_the_web_with_citations_that_open(home: Path, web: Web) -> None:
    code, answer, stderr = ask(home, web, "-r", TIDES)
    assert code == 0, stderr
    assert "two high tides a day" in answer["answer"]
    cited = answer["citations"][0]
    assert cited["kind"] == "web"
    assert cited["url"] in (web.site.url("/tides"), web.site.url("/copy"))
    assert cited["quote"] in MOON + SAILORS or "two high tides" in cited["quote"]
    rejected = (
        dict(answer["rejected"])
        if isinstance(answer["rejected"][0], list)
        else {each["url"]: each["reason"] for each in answer["rejected"]}
    )
    assert {web.site.url("/gone"), web.site.url("/check")} <= set(rejected)
    assert "404" in rejected[web.site.url("/gone")]
    same = {web.site.url("/tides"), web.site.url("/copy")} - {cited["url"]}
    assert same <= set(rejected)
    assert answer["usage"]["fetches"] == 6
    assert answer["usage"]["searches"] >= 1
    assert [request.params["q"] for request in web.twin.requests] == [[TIDES]]
    why = run_here("why", "1", home=home)
    assert "two high tides a day" in why.stdout
    assert cited["url"] in why.stdout


@pytest.mark.extended
def test_what_was_asked_read_and_rejected_was_planned_and_can_be_looked_up_afterwards(home: Path, web: Web) -> None:
    service = web.twin.base_url.removeprefix("http://").rstrip("/")
    planned = run_here("-r", TIDES, "--dry-run", home=home, environ=web.environ).stdout
    assert f"search for “{TIDES}” with searxng at {service}; read at most 20 pages" in planned
    assert (web.twin.requests, web.site.requests) == ([], [])
    ask(home, web, "-r", TIDES)
    shown = run_here("runs", "show", home=home).stdout
    assert f"web       searched for “{TIDES}” (searxng at {service}): 6 found" in shown
    assert "of 6 candidates: 4 URLs, 3 origins" in shown
    assert "web       read 6 pages: 4 fetched" in shown
    assert f"rejected  {web.site.url('/gone')}: " in shown
    assert f"fetched     {web.site.url('/tides')}" in run_here("runs", "show", "-v", home=home).stdout
    found = {each["kind"] for each in json.loads(run_here("runs", "export", home=home).stdout)["ledger"]}
    assert {"web_searched", "read", "shortlisted"} <= found


def test_the_same_question_again_fetches_and_embeds_nothing(home: Path, web: Web) -> None:
    first = ask(home, web, "-r", TIDES)[1]
    before = len(web.pages_fetched()), len(web.twin.requests)
    code, again, _ = ask(home, web, "-r", TIDES, "-v")
    assert code == 0
    assert (len(web.pages_fetched()), len(web.twin.requests)) == before
    assert again["answer"] == first["answer"]
    assert again["usage"]["fetches"] == 0
    assert again["usage"]["cache_hits"] >= 4


@pytest.mark.extended
def test_a_model_behind_an_endpoint_is_given_what_was_chosen(home: Path, web: Web) -> None:
    search = Answer(calls=(Call("get_relevant_content", {"queries": ["high tides moon"]}),))
    with Endpoint(search, cites("The moon raises two high tides a day [{key}].")) as endpoint:
        code, answer, stderr = ask(home, web, "-r", "-m", "priced", TIDES, **environ_of(endpoint))
        assert code == 0, stderr
        offered = {tool["function"]["name"] for tool in endpoint.requests[0].json["tools"]}
    assert offered == {"web_search", "get_relevant_content", "save_finding", "query_research_memory"}
    assert [claim["verdict"] for claim in answer["claims"]] == ["supported"]
    assert answer["citations"][0]["url"].startswith(web.site.url("/"))


def test_lean_makes_one_call_and_reaches_nothing_else(home: Path, web: Web) -> None:
    with Endpoint("Two, as far as I know.") as endpoint:
        code, answer, stderr = ask(home, web, "--lean", "-m", "priced", TIDES, **environ_of(endpoint))
        assert code == 0, stderr
        assert endpoint.played == 1
    assert web.twin.requests == []
    assert web.site.requests == []
    assert answer["usage"]["llm_calls"] == 1


def test_documents_keep_a_question_off_the_web_unless_it_is_asked_for(home: Path, web: Web, docs: Path) -> None:
    assert ask(home, web, "-d", str(docs), TIDES)[0] == 0
    assert web.twin.requests == []
    code, answer, _ = ask(home, web, "-d", str(docs), "--web", TIDES)
    assert code == 0
    assert len(web.twin.requests) == 1
    assert {source["kind"] for source in answer["citations"]} <= {"web", "file"}
    assert ask(home, web, "--no-web", "-r", TIDES)[0] == 2


def test_offline_answers_from_the_cache_alone(home: Path, web: Web) -> None:
    ask(home, web, "-r", TIDES)
    before = len(web.site.requests), len(web.twin.requests)
    code, answer, stderr = ask(home, web, "--offline", "-r", TIDES)
    assert code == 0, stderr
    assert "two high tides" in answer["answer"]
    assert (len(web.site.requests), len(web.twin.requests)) == before


def test_an_outage_in_the_middle_of_a_run_is_named_with_the_answer(home: Path, web: Web) -> None:
    def search(request: Any) -> Answer:
        web.twin.play("error500")
        return Answer(calls=(Call("web_search", {"queries": ["height of the sun's tides"]}),))

    retrieve = Answer(calls=(Call("get_relevant_content", {"queries": ["high tides moon"]}),))
    with Endpoint(search, retrieve, cites("The moon raises two high tides a day [{key}].")) as endpoint:
        code, answer, stderr = ask(home, web, "-r", "-m", "priced", TIDES, **environ_of(endpoint))
        told = json.dumps(endpoint.requests[-1].messages)
    assert code == 0, stderr
    assert "two high tides" in answer["answer"]
    assert "error: provider: " in told
    assert any("searxng" in warning for warning in answer["warnings"]), answer["warnings"]


def test_a_service_that_is_down_is_no_empty_result(home: Path, web: Web) -> None:
    web.twin.play("error500")
    code, answer, stderr = ask(home, web, "-r", TIDES)
    assert code == 8
    assert "searxng" in stderr
    assert answer == {}


@pytest.mark.extended
def test_a_search_that_failed_is_the_error_where_pages_that_were_read_before_hold_no_answer(
    home: Path, web: Web
) -> None:
    assert ask(home, web, "-r", TIDES)[0] == 0
    web.environ["ASKY_SEARCH__PROVIDERS"] = '["brave"]'
    code, answer, stderr = ask(home, web, "-r", "Who painted the ceiling of the chapel?")
    told = json.loads(stderr)
    assert (code, told["code"], answer["stopped_by"]) == (3, "not_configured", "no_evidence")
    assert "BRAVE_API_KEY" in told["message"]
    assert told["hint"].startswith("export BRAVE_API_KEY=")
    assert told["hint"].endswith("; pages read earlier do not answer the question")
    down = {"BRAVE_API_KEY": "k", "ASKY_SEARCH__BRAVE__BASE_URL": "http://127.0.0.1:9"}
    done = run_here("-q", "-r", "Who painted the ceiling of the chapel?", home=home, environ=web.environ | down)
    assert done.returncode == 5
    assert "brave at 127.0.0.1:9" in done.stderr
    code, answer, stderr = ask(home, web, "-r", TIDES, **down)  # what was read before holds this one
    assert code == 0, stderr
    assert any("no search service answered" in each for each in answer["warnings"])


def test_an_address_in_the_question_is_read_without_any_service(home: Path, web: Web) -> None:
    del web.environ["ASKY_SEARCH__SEARXNG__BASE_URL"]
    code, answer, stderr = ask(home, web, "-r", f"What does {web.site.url('/bread')} say about yeast?")
    assert code == 0, stderr
    assert "yeast makes gas" in answer["answer"]
    assert answer["citations"][0]["url"] == web.site.url("/bread")
    code, _, stderr = ask(home, web, "--web", "-r", TIDES)
    assert code == 3
    assert "search.searxng.base_url" in stderr


def test_a_model_can_fetch_only_what_was_offered_to_it(home: Path, web: Web) -> None:
    offered, spelled = web.site.url("/more"), web.site.url("/more?d=SECRET")
    script = [
        Answer(calls=(Call("web_search", {"queries": ["tides moon"]}),)),
        Answer(calls=(Call("extract_links", {"urls": [web.site.url("/tides")], "query": "tides of the moon"}),)),
        Answer(calls=(Call("extract_links", {"urls": [spelled, "http://127.0.0.1:1/", offered]}),)),
        Answer(calls=(Call("get_link_summaries", {"urls": [web.site.url("/bread")]}),)),
        Answer("The page says how yeast works."),
        Answer(calls=(Call("get_relevant_content", {"queries": ["rocks of the earth"]}),)),
        Answer("The tides are seen in rocks."),
    ]
    with Endpoint(*script) as endpoint:
        arguments = ("-r", "--shortlist", "off", "-m", "priced", TIDES)
        code, answer, stderr = ask(home, web, *arguments, **environ_of(endpoint))
        told = [message["content"] for message in endpoint.requests[-1].messages if message["role"] == "tool"]
    assert code == 0, stderr
    assert web.pages_fetched() == ["/tides", "/more", "/bread"]
    assert offered in told[1]
    assert told[2].count("was not offered by any source") == 2
    assert "rocks of the earth" in told[4]
    assert "The page says how yeast works." in told[3]
    assert answer["usage"]["llm_calls"] == len(script) + 1  # and one that was asked to mend the answer
