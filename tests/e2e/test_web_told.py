"""What a user is told of the web beside the answer: queries as they are sent, addresses that were not read, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_ask_models import cites, environ_of
from tests.e2e.test_ask_web import TIDES, Web, ask, web
from tests.support.asky_command import run_asky
from tests.support.endpoint import Answer, Call, Endpoint, last_user_text
from tests.support.here import run_here

__all__ = ["web"]

pytestmark = pytest.mark.model

RETRIEVE = Answer(calls=(Call("get_relevant_content", {"queries": ["high tides moon"]}),))
TWO = "The moon raises two high tides a day [{key}]."
OWN = Answer(calls=(Call("web_search", {"queries": ["height of neap tides"]}),))


def service(web: Web) -> str:
    return f"searxng ({web.twin.base_url.removeprefix('http://').rstrip('/')})"


def told(stderr: str, words: str) -> list[str]:
    return [line for line in stderr.splitlines() if words in line]


def reasons(answer: dict[str, Any]) -> dict[str, str]:
    return {each["url"]: each["reason"] for each in answer["rejected"]}


# queries


def test_with_private_documents_open_each_query_is_shown_with_who_gets_it(home: Path, web: Web, docs: Path) -> None:
    shown = [f"searching the web for “{each}”: {service(web)}" for each in (TIDES, "height of neap tides")]
    with Endpoint(OWN, RETRIEVE, cites(TWO)) as endpoint:
        environ = web.environ | environ_of(endpoint)
        done = run_here("-d", str(docs), "--web", "-m", "priced", TIDES, home=home, environ=environ)
    assert done.returncode == 0, done.stderr
    assert told(done.stderr, "searching") == shown
    assert [each.params["q"][0] for each in web.twin.requests] == [TIDES, "height of neap tides"]
    assert "searching" not in done.stdout
    again = run_here("-d", str(docs), "--web", TIDES, home=home, environ=web.environ)
    assert told(again.stderr, "searching") == []  # what was found a moment ago is not asked for again


@pytest.mark.extended
def test_piped_text_is_private_too_and_quiet_is_quiet(home: Path, web: Web) -> None:
    said = "The old mole of the harbour is four metres high."
    loud = run_asky("--web", TIDES, home=home, environ=web.environ, stdin=said)
    assert told(loud.stderr, "searching") == [f"searching the web for “{TIDES}”: {service(web)}"]
    quiet = run_asky("-q", "--web", "What are neap tides?", home=home, environ=web.environ, stdin=said)
    assert len(web.twin.requests) == 2
    assert quiet.stderr == ""


@pytest.mark.extended
def test_a_query_of_a_run_without_private_documents_is_not_shown(home: Path, web: Web) -> None:
    done = run_here(TIDES, home=home, environ=web.environ)
    assert len(web.twin.requests) == 1
    assert told(done.stderr, "searching") == []


@pytest.mark.extended
def test_queries_are_shown_in_a_chat_and_are_events(home: Path, web: Web, docs: Path) -> None:
    chat = run_here("chat", "-d", str(docs), "--web", home=home, environ=web.environ, stdin=f"{TIDES}\n")
    assert told(chat.stderr, "searching") == [f"searching the web for “{TIDES}”: {service(web)}"]
    streamed = run_here("--json-stream", "-d", str(docs), "--web", "Neap tides?", home=home, environ=web.environ)
    events = [json.loads(line) for line in streamed.stdout.splitlines()]
    kinds = [each["type"] for each in events]
    sent = events[kinds.index("query_sent")]
    assert (sent["query"], sent["services"], sent["is_private"]) == ("Neap tides?", [service(web)], True)
    assert kinds.index("query_sent") < kinds.index("web_searched")
    assert told(streamed.stderr, "searching") == []


# addresses


@pytest.mark.extended
def test_an_address_that_could_not_be_read_is_told_to_the_user_and_to_the_model(home: Path, web: Web) -> None:
    gone, near = web.site.url("/gone"), "http://10.0.0.1/x"
    question = f"What do {gone} and {near} and {web.site.url('/tides')} say on the tides of the moon?"
    with Endpoint(RETRIEVE, cites(TWO)) as endpoint:
        code, answer, stderr = ask(home, web, "-r", "-m", "priced", question, **environ_of(endpoint))
        prompt = last_user_text(endpoint.requests[0])
    assert code == 0, stderr
    said = [
        f"{gone} was not read: 127.0.0.1 has no such page (HTTP 404)",
        f"{near} was not read: refused: 10.0.0.1 is a private address",
    ]
    assert answer["warnings"] == said
    asked, _, material = prompt.partition("\n\n")
    assert asked == question
    assert all(each in material for each in said)
    assert "/tides was not" not in prompt
    printed = run_here("-m", "extractive", question, home=home, environ=web.environ)
    assert told(printed.stderr, "was not read") == []
    assert [printed.stdout.count(each.partition(" ")[2]) for each in said] == [1, 1]  # in the answer, once


@pytest.mark.extended
def test_an_answer_in_quotations_says_itself_which_address_was_not_read_and_is_replayed(home: Path, web: Web) -> None:
    gone = web.site.url("/gone")
    code, answer, stderr = ask(home, web, "-r", f"{TIDES} See {gone} for more.")
    assert code == 0, stderr
    ending = f"Not among the sources:\n\n- `{gone}` was not read: 127.0.0.1 has no such page (HTTP 404)"
    assert answer["answer"].endswith(ending)
    assert [claim["verdict"] for claim in answer["claims"]] == ["supported"] * len(answer["claims"])
    replayed = run_here("runs", "replay", "--json", home=home)
    assert replayed.returncode == 0, replayed.stderr
    assert json.loads(replayed.stdout) == answer


def test_why_the_only_page_could_not_be_read_is_told_once(home: Path, web: Web) -> None:
    asked = ("-r", "-m", "extractive", f"What does {web.site.url('/gone')} say on tides?")
    printed = run_here(*asked, home=home, environ=web.environ)
    assert printed.returncode == 11
    assert (printed.stdout + printed.stderr).count("has no such page") == 1
    assert "asky: the page could not be read\n" in printed.stderr


def test_a_question_that_is_kept_off_the_web_says_that_its_address_was_not_read(
    home: Path, web: Web, docs: Path
) -> None:
    url = web.site.url("/tides")
    said = f"{url} was not read: the web is not used for this question"
    with Endpoint(RETRIEVE, cites(TWO), "As far as I know, two.") as endpoint:
        arguments = ("-m", "priced", f"What does {url} say on tides?")
        _, of_files, _ = ask(home, web, "-d", str(docs), *arguments, **environ_of(endpoint))
        _, of_nothing, _ = ask(home, web, "-L", *arguments, **environ_of(endpoint))
        assert [said in last_user_text(endpoint.requests[at]) for at in (0, 2)] == [True, True]
    assert said in of_files["warnings"]
    assert said in of_nothing["warnings"]
    assert web.site.requests == []


def test_offline_an_address_that_was_never_read_is_told(home: Path, web: Web) -> None:
    never = web.site.url("/never")
    code, answer, _ = ask(home, web, "--offline", f"What does {never} say on tides?")
    assert code == 11
    assert f"{never} was not read: it is not in the cache" in answer["warnings"]


@pytest.mark.extended
def test_what_a_model_was_to_read_and_has_not_is_told_and_rejected(home: Path, web: Web) -> None:
    gone, moved, left = web.site.url("/gone"), web.site.redirect("/moved", "/tides"), web.site.url("/bread")
    question = f"What do {gone}, {moved} and {left} say on the tides of the moon?"
    script = (
        Answer(calls=(Call("web_search", {"queries": ["tides"]}),)),
        Answer(calls=(Call("extract_links", {"urls": [gone, moved]}),)),
        RETRIEVE,
        cites(TWO),
    )
    with Endpoint(*script) as endpoint:
        arguments = ("--shortlist", "off", "-m", "priced", question)
        code, answer, stderr = ask(home, web, *arguments, **environ_of(endpoint))
    assert code == 0, stderr
    assert answer["warnings"] == [
        f"{gone} was not read: 127.0.0.1 has no such page (HTTP 404)",
        f"{left} was not read by the model",
    ]
    rejected = reasons(answer)
    assert "404" in rejected[gone]
    assert rejected[moved] == f"read at {web.site.url('/tides')}"
    unread = {web.site.url(path) for path in ("/copy", "/harbour", "/bread", "/check")}
    assert {url for url, reason in rejected.items() if reason == "was not read"} == unread
    assert {each["url"] for each in answer["citations"]} == {web.site.url("/tides")}
    replayed = run_here("runs", "replay", "--json", home=home)
    assert replayed.returncode == 0, replayed.stderr
    assert json.loads(replayed.stdout) == answer


# dead ends


@pytest.mark.parametrize(
    ("flags", "why", "hint"),
    [
        (["-L"], "-L turns the web off", "or leave -L out"),
        (["--no-web"], "--no-web turns the web off", "or leave --no-web out"),
        (["-d", "."], "the named documents have no text, and naming documents turns the web off", "or add --web"),
        (["--offline"], "no pages are cached, and --offline fetches none", "or leave --offline out"),
        (["-L", "--offline"], "-L turns the web off", "name documents with -d PATH"),
    ],
    ids=" ".join,
)
def test_where_there_is_nothing_to_answer_from_it_is_said_what_would_help(
    home: Path, web: Web, tmp_path: Path, flags: list[str], why: str, hint: str
) -> None:
    (tmp_path / "empty").mkdir()
    done = run_here(*flags, TIDES, home=home, environ=web.environ, cwd=tmp_path / "empty")
    assert done.returncode == 2
    *_, error, advice = done.stderr.splitlines()
    assert error == f"asky: there is nothing to answer from: {why}"
    assert advice.startswith("hint: name documents with -d PATH")
    assert advice.endswith(hint)
    assert web.twin.requests == []


def test_without_a_search_service_leaving_a_flag_out_is_not_enough(home: Path, web: Web) -> None:
    del web.environ["ASKY_SEARCH__SEARXNG__BASE_URL"]
    done = run_here("-L", TIDES, home=home, environ=web.environ)
    assert "or leave -L out and set up a search service: `asky setup` turns on those that need no key" in done.stderr


@pytest.mark.extended
def test_the_hint_of_an_answer_from_the_web_that_found_too_little_works(home: Path, web: Web) -> None:
    done = run_here("Who painted the ceiling of the chapel?", home=home, environ=web.environ)
    assert done.returncode == 11
    assert told(done.stderr, "hint: ") == ["hint: `asky runs show -v` lists what was tried and with what result"]
    assert "read" in run_here("runs", "show", "-v", home=home).stdout
