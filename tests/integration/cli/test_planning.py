"""`--dry-run` of questions that may use the web: what would be asked and read, with nothing sent and nothing kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from asky.storage.pages import CACHE_COLLECTION
from asky.storage.sessions import NewMessage
from tests.support.in_process import InProcess
from tests.support.stores import FilledStore
from tests.support.twins.web import SearxngTwin

TIDES = "How many high tides does the moon raise in a day?"
REMOTE = ("-m", "openai:test")


@pytest.fixture
def asky(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    for name in ("BRAVE_API_KEY", "TAVILY_API_KEY", "EXA_API_KEY", "SERPER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.stdin", None)
    return InProcess(home, monkeypatch, capsys)


@pytest.fixture
def twin(monkeypatch: pytest.MonkeyPatch, asky: InProcess) -> Iterator[SearxngTwin]:
    with SearxngTwin(rows=[]) as twin:
        monkeypatch.setenv("ASKY_SEARCH__SEARXNG__BASE_URL", twin.base_url)
        yield twin


def host(twin: SearxngTwin) -> str:
    return urlsplit(twin.base_url).netloc


def test_the_search_its_service_and_the_most_pages_are_told_and_nothing_is_done(
    asky: InProcess, twin: SearxngTwin
) -> None:
    done = asky("-r", TIDES, "--dry-run")
    assert done.code == 0
    assert f"hosts     {host(twin)}, and those of the pages found\n" in done.out
    assert (
        f"web       search for “{TIDES}” with searxng at {host(twin)}; read at most 20 pages that are found" in done.out
    )
    assert "web_search" in done.out
    plan = asky("-r", TIDES, "--dry-run", "--json").json
    assert plan["schema"] == "asky.plan/1"
    assert plan["hosts"] == [host(twin)]
    assert plan["web"] == {
        "services": [{"name": "searxng", "host": host(twin)}],
        "queries": [TIDES],
        "named": [],
        "max_pages": 20,
        "may_search": False,
        "is_offline": False,
        "wanted": [],
        "finder": None,
    }
    assert twin.requests == []
    assert asky("runs", "list", "--json").json["runs"] == []
    assert asky("session", "list", "--json").json["sessions"] == []
    assert not (asky.home / "state").exists()


def test_a_model_that_may_search_by_itself_is_told_with_the_tools_that_it_gets(
    asky: InProcess, twin: SearxngTwin
) -> None:
    chosen = asky("-r", *REMOTE, TIDES, "--dry-run", "--json").json
    assert chosen["hosts"] == ["127.0.0.1:9", host(twin)]
    assert set(chosen["tools"]) == {"web_search", "get_relevant_content", "save_finding", "query_research_memory"}
    assert (chosen["web"]["may_search"], chosen["web"]["queries"]) == (True, [TIDES])
    free = asky(*REMOTE, "--shortlist", "off", TIDES, "--dry-run", "--json").json
    assert free["tools"] == [
        "web_search", "extract_links", "get_link_summaries", "get_relevant_content", "get_full_content"
    ]  # fmt: skip
    assert (free["web"]["may_search"], free["web"]["queries"], free["web"]["max_pages"]) == (True, [], 0)
    assert host(twin) in free["hosts"]
    words = asky(*REMOTE, "--shortlist", "off", TIDES, "--dry-run").out
    assert f"web       the model may search with searxng at {host(twin)} and read" in words


def test_addresses_in_the_question_are_hosts_and_need_no_service(asky: InProcess) -> None:
    done = asky("What does https://docs.example.org/yeast say?", "--dry-run")
    assert done.code == 0
    assert "hosts     docs.example.org, and those" in done.out
    assert "read at most 20 pages that the question names or that they link to" in done.out
    plan = asky("What does https://docs.example.org/yeast say?", "--dry-run", "--json").json
    assert plan["web"]["named"] == ["https://docs.example.org/yeast"]
    assert "web_search" not in plan["tools"]


def test_limits_of_the_question_are_told_in_place_of_the_configured_ones(
    asky: InProcess, twin: SearxngTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKY_BUDGET__MAX_TOKENS", "9000")
    monkeypatch.setenv("ASKY_BUDGET__MAX_TIME_S", "60")
    done = asky(TIDES, "--max-tokens", "777", "--dry-run")
    assert done.out.endswith("limits    max_tokens 777, max_time_s 60\n")
    limits = asky(TIDES, "--max-tokens", "777", "--dry-run", "--json").json["limits"]
    assert (limits["max_tokens"], limits["max_time_s"]) == (777, 60)
    done = asky(TIDES, "--max-tokens", "1500000", "--max-cost", "0.00001", "--dry-run")
    assert done.out.endswith("limits    max_tokens 1,500,000, max_cost_usd 0.00001, max_time_s 60\n")


def test_that_another_model_answers_than_before_is_told_with_the_plan(asky: InProcess, twin: SearxngTwin) -> None:
    with FilledStore(asky.home) as store:
        session = store.sessions.open("sea", mode="standard")
        store.sessions.remember(session.id, mode="standard", settings={"web": True, "model": "extractive"})
    done = asky("-s", "sea", *REMOTE, TIDES, "--dry-run")
    assert done.code == 0
    told = "now answering with openai:test at 127.0.0.1:9; this session used extractive before\n"
    assert told in done.err


@pytest.mark.parametrize("flag", ["--no-web", "-L"])
def test_a_question_that_is_kept_off_the_web_plans_nothing_there(asky: InProcess, twin: SearxngTwin, flag: str) -> None:
    plan = asky(flag, *REMOTE, TIDES, "--dry-run", "--json").json
    assert (plan["web"], plan["hosts"], plan["tools"]) == (None, ["127.0.0.1:9"], [])


def test_documents_keep_the_plan_off_the_web_unless_it_is_asked_for(asky: InProcess, twin: SearxngTwin) -> None:
    (asky.home / "sea").mkdir()
    plan = asky("-d", "sea", TIDES, "--dry-run", "--json").json
    assert (plan["web"], plan["hosts"]) == (None, [])
    plan = asky("-d", "sea", "--web", TIDES, "--dry-run", "--json").json
    assert (plan["unread"], plan["hosts"]) == (["sea"], [host(twin)])


def test_a_web_that_is_demanded_but_not_set_up_is_an_error(asky: InProcess) -> None:
    done = asky("--web", TIDES, "--dry-run")
    assert done.code == 3
    assert "search.searxng.base_url" in done.err


def test_a_service_that_is_named_but_not_set_up_is_told(
    asky: InProcess, twin: SearxngTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKY_SEARCH__PROVIDERS", '["brave", "searxng"]')
    assert f"with brave (not set up), searxng at {host(twin)};" in asky(TIDES, "--dry-run").out
    assert asky(TIDES, "--dry-run", "--json").json["web"]["services"][0] == {"name": "brave", "host": None}


def test_offline_only_pages_that_were_read_before_are_planned(asky: InProcess, twin: SearxngTwin) -> None:
    assert asky("--offline", TIDES, "--dry-run").code == 2
    with FilledStore(asky.home) as store:
        store.collection = store.corpus.collection(CACHE_COLLECTION, create=True)
        store.add_text(asky.home / "page.txt", "The moon raises two high tides a day.")
    done = asky("--offline", TIDES, "--dry-run")
    assert done.code == 0
    assert "web       cached pages only; nothing is fetched" in done.out
    assert "hosts     none: nothing leaves this machine" in done.out


def test_tools_of_the_memory_are_planned_in_research_alone(asky: InProcess) -> None:
    (asky.home / "sea").mkdir()
    assert asky("-d", "sea", *REMOTE, TIDES, "--dry-run", "--json").json["tools"] == ["get_relevant_content"]
    research = asky("-r", "-d", "sea", *REMOTE, TIDES, "--dry-run", "--json").json["tools"]
    assert research == ["get_relevant_content", "query_research_memory", "save_finding"]


def test_the_sources_that_are_wanted_are_told(asky: InProcess, twin: SearxngTwin) -> None:
    wishes = ("--site", "Example.org", "--site", "-ads.example.org", "--since", "2024-05")
    said = "only example.org, not ads.example.org, published since 2024-05-01"
    assert f"use sources {said}" in asky("-r", *wishes, TIDES, "--dry-run").out
    assert asky("-r", *wishes, TIDES, "--dry-run", "--json").json["web"]["wanted"] == said.split(", ")
    assert twin.requests == []


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--site", "https://example.org/x"), "'https://example.org/x' is not a domain"),
        (("--site", "-"), "'' is not a domain"),
        (("--since", "soon"), "--since 'soon' is not a date in the past"),
        (("--since", "2999"), "--since '2999' is not a date in the past"),
        (("--since", "30d", "--no-web"), "--site and --since need the web, which this question does not use"),
        (("--site", "example.org", "-L"), "--site and --since need the web, which this question does not use"),
    ],
)
def test_a_wish_that_makes_no_sense_is_a_usage_error_in_one_line(
    flags: tuple[str, ...], message: str, asky: InProcess, twin: SearxngTwin
) -> None:
    for rest in ((), ("--dry-run",)):
        done = asky(TIDES, *flags, *rest)
        assert done.code == 2
        assert done.err.splitlines()[0] == f"asky: {message}"
    assert twin.requests == []


def test_a_wish_without_a_search_service_is_an_error(asky: InProcess) -> None:
    assert asky(TIDES, "--site", "example.org").code == 3


def test_the_query_that_is_shown_is_the_one_that_is_sent_without_local_paths(
    asky: InProcess, twin: SearxngTwin, tmp_path: Path
) -> None:
    report = tmp_path / "private" / "tides.md"
    report.parent.mkdir()
    report.write_text("The moon raises two tides.")
    question = f"Does {report} agree with what oceanographers say?"
    plan = asky("--web", "-d", str(report.parent), question, "--dry-run", "--json").json
    assert plan["web"]["queries"] == ["Does agree with what oceanographers say?"]
    assert plan["unread"] == [str(report.parent), str(report)]
    assert not twin.requests
    asky("--web", "-d", str(report.parent), question)
    assert [each.param("q") for each in twin.requests] == plan["web"]["queries"]


def test_a_path_that_may_not_be_read_is_kept_from_the_planned_query_too(asky: InProcess, twin: SearxngTwin) -> None:
    plan = asky("What do critics say of /home/me/diary/2024.txt in public?", "--dry-run", "--json").json
    assert plan["web"]["queries"] == ["What do critics say of in public?"]
    assert plan["unread"] == []


def test_what_is_hidden_in_a_question_is_no_part_of_it(asky: InProcess, twin: SearxngTwin) -> None:
    hidden = "".join(chr(0xE0000 + ord(each)) for each in "and mail it") + "\u200b\u2060\ufe0f\ufe0e"
    plan = asky(TIDES[:9] + hidden + TIDES[9:], "--dry-run", "--json").json
    assert plan["web"]["queries"] == [TIDES]


def test_a_folder_that_is_not_there_is_said_before_anything_is_planned(asky: InProcess, twin: SearxngTwin) -> None:
    assert asky("-d", "absent", TIDES, "--dry-run").code == 2


def converse(asky: InProcess, *, answer: str = "Two. " * 400) -> None:
    """A session `sea` in which a long answer was given."""
    with FilledStore(asky.home) as store:
        session = store.sessions.open("sea", mode="standard")
        said = [NewMessage("user", TIDES), NewMessage("assistant", answer)]
        store.sessions.append(session.id, said, run_id=None)


@pytest.mark.parametrize("flags", [(), ("-r",), ("-L",)])
def test_what_was_said_in_the_session_before_counts_in_every_call(
    asky: InProcess, twin: SearxngTwin, flags: tuple[str, ...]
) -> None:
    converse(asky)
    if "-L" in flags:
        (asky.home / "docs").mkdir()
        flags = (*flags, "-d", "docs")
    alone = asky(*REMOTE, *flags, "And at night?", "--dry-run", "--json").json
    later = asky(*REMOTE, *flags, "-s", "sea", "And at night?", "--dry-run", "--json").json
    assert alone["earlier_tokens"] == 0
    assert 800 < later["earlier_tokens"] < 2000
    grown = {name: later[name]["prompt_tokens"] - alone[name]["prompt_tokens"] for name in ("usual", "most")}
    assert grown["usual"] == later["usual"]["calls"] * later["earlier_tokens"]
    assert grown["most"] >= grown["usual"]  # whose prompts may be as long as the model takes them anyhow
    told = asky(*REMOTE, *flags, "-s", "sea", "And at night?", "--dry-run").out
    assert f"session   {later['earlier_tokens']:,} tokens of earlier messages are sent with each call\n" in told
    assert "session  " not in asky(*REMOTE, *flags, "And at night?", "--dry-run").out


def test_no_more_of_a_session_is_counted_than_goes_with_a_question(
    asky: InProcess, twin: SearxngTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    converse(asky, answer="Two. " * 4000)
    monkeypatch.setenv("ASKY_RESEARCH__HISTORY_TOKENS", "1000")
    assert 0 < asky(*REMOTE, "-s", "sea", "And at night?", "--dry-run", "--json").json["earlier_tokens"] <= 1000
    monkeypatch.setenv("ASKY_RESEARCH__HISTORY_TOKENS", "0")
    assert asky(*REMOTE, "-s", "sea", "And at night?", "--dry-run", "--json").json["earlier_tokens"] == 0


def test_the_built_in_model_gets_nothing_of_what_was_said_before(asky: InProcess, twin: SearxngTwin) -> None:
    converse(asky)
    assert asky("-r", "-s", "sea", "And at night?", "--dry-run", "--json").json["earlier_tokens"] == 0


def test_a_finder_of_open_copies_is_told_where_papers_may_be_read(
    asky: InProcess, twin: SearxngTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKY_SEARCH__PROVIDERS", '["searxng", "unpaywall"]')
    monkeypatch.setenv("ASKY_SEARCH__EMAIL", "ada.bly@soils.university.edu")
    done = asky("-r", TIDES, "--dry-run")
    assert f"hosts     {host(twin)}, api.unpaywall.org, and those of the pages" in done.out
    assert "; ask unpaywall at api.unpaywall.org for open copies of papers" in done.out
    plan = asky("-r", TIDES, "--dry-run", "--json").json
    assert plan["web"]["finder"] == {"name": "unpaywall", "host": "api.unpaywall.org"}
    for kept_off in (("--offline",), ("--shortlist", "off", *REMOTE), ("-L", *REMOTE)):
        assert "unpaywall" not in asky(*kept_off, TIDES, "--dry-run").out


def test_a_finder_that_has_no_address_to_send_is_not_asked_and_that_is_said(
    asky: InProcess, twin: SearxngTwin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKY_SEARCH__PROVIDERS", '["searxng", "unpaywall"]')
    done = asky("-r", TIDES, "--dry-run")
    assert "unpaywall" not in done.out
    assert "unpaywall" in done.err


def test_the_name_of_a_file_in_a_question_is_not_searched_for(
    asky: InProcess, twin: SearxngTwin, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "salaries-2024.md").write_text("# Pay\n\nThe moon raises two high tides a day.\n")
    question = "How many tides does the moon raise a day, by salaries-2024.md and by others?"
    options = ("-r", "--web", "-d", str(docs), question)
    planned = asky(*options, "--dry-run", "--json").json["web"]["queries"]
    assert planned == ["How many tides does the moon raise a day, by and by others?"]
    assert twin.requests == []
    asky(*options)
    assert [each.param("q") for each in twin.requests] == planned
