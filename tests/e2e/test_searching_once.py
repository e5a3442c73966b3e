"""Runs that were killed while they searched and read, as a user sees them: no search service is asked twice."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.test_ask_models import SEARCH, cites, environ_of
from tests.e2e.test_ask_web import TIDES, Web, web
from tests.e2e.test_custom_tools import bare, calls, configure, with_tool
from tests.e2e.test_replaying import TWO, kill, only_run, replay, start, until
from tests.support.endpoint import Answer, Endpoint, Problem
from tests.support.here import run_here
from tests.support.site import Asked
from tests.support.site import Wire as SiteWire
from tests.support.twins.web import BraveTwin

__all__ = ["bare", "web"]

NOTHING_KEPT = {"ASKY_RESEARCH__CACHE__SEARCH_TTL_HOURS": "0", "ASKY_RESEARCH__CACHE__TTL_HOURS": "0"}
LATER = "<p>A harbour is a place where ships lie safely, and boats too.</p>"


@pytest.fixture
def second(web: Web) -> Iterator[BraveTwin]:
    """A second service beside the one that finds the pages of `web`."""
    with BraveTwin(key="key-1", rows=[]) as twin:
        web.environ |= {
            "ASKY_SEARCH__BRAVE__BASE_URL": twin.base_url,
            "ASKY_SEARCH__BRAVE__GAP_S": "0",
            "BRAVE_API_KEY": "key-1",
        }
        yield twin


def recorded(home: Path) -> list[str]:
    """The kinds of all steps that are on disk."""
    path = home / "asky" / "data" / "asky.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as connection:
        try:
            return [kind for (kind,) in connection.execute("SELECT kind FROM step ORDER BY ordinal")]
        except sqlite3.OperationalError:  # it is just being made
            return []


@pytest.mark.few(1)
@pytest.mark.model
@pytest.mark.parametrize("settings", [{}, NOTHING_KEPT], ids=["kept for a while", "nothing kept"])
def test_a_run_that_was_killed_while_it_read_asks_no_service_again_that_had_answered(
    home: Path, web: Web, second: BraveTwin, settings: dict[str, str]
) -> None:
    async def hang(asked: Asked, wire: SiteWire) -> None:
        await wire.hang()

    second.play("bad_key")
    web.site.script("/harbour", hang)
    with Endpoint(SEARCH, cites(TWO)) as endpoint:
        environ = web.environ | environ_of(endpoint) | settings
        process = start(home, environ, "-r", "-m", "priced", TIDES)
        until(lambda: "/harbour" in web.pages_fetched())
        kill(process)
        assert (len(web.twin.requests), len(second.requests)) == (1, 1)
        assert recorded(home) == ["begun", "searched"]
        web.site.page("/harbour", html=LATER)
        done = run_here("runs", "resume", "--json", home=home, environ=environ)
        assert done.returncode == 0, done.stderr
        assert (len(web.twin.requests), len(second.requests)) == (1, 2)
        assert len(endpoint.requests) == 2
    answer = json.loads(done.stdout)
    assert "two high tides" in answer["answer"]
    assert answer["usage"]["searches"] == 3  # one by each process, and one of the passages
    assert replay(home, "--json").stdout == done.stdout


@pytest.mark.extended
@pytest.mark.model
@pytest.mark.parametrize("settings", [{}, NOTHING_KEPT], ids=["kept for a while", "nothing kept"])
def test_a_run_that_was_killed_while_one_service_was_silent_keeps_what_the_other_found(
    home: Path, web: Web, second: BraveTwin, settings: dict[str, str]
) -> None:
    second.play("silent")
    with Endpoint(SEARCH, cites(TWO)) as endpoint:
        environ = web.environ | environ_of(endpoint) | settings
        process = start(home, environ, "-r", "-m", "priced", TIDES)
        second.wait_for_requests(1)
        until(lambda: "searched" in recorded(home))
        kill(process)
        assert web.pages_fetched() == []
        second.play("empty")
        done = run_here("runs", "resume", "--json", home=home, environ=environ)
        assert done.returncode == 0, done.stderr
        assert (len(web.twin.requests), len(second.requests)) == (1, 2)
    assert "two high tides" in json.loads(done.stdout)["answer"]
    shown = run_here("runs", "show", home=home).stdout
    assert shown.count("searxng at ") == 1
    assert replay(home, "--json").stdout == done.stdout


@pytest.mark.extended
@pytest.mark.model
def test_a_run_whose_services_had_all_answered_searches_no_more(home: Path, web: Web, second: BraveTwin) -> None:
    async def hang(asked: Asked, wire: SiteWire) -> None:
        await wire.hang()

    second.play("empty")
    web.site.script("/harbour", hang)
    with Endpoint(SEARCH, cites(TWO)) as endpoint:
        environ = web.environ | environ_of(endpoint) | NOTHING_KEPT
        process = start(home, environ, "-r", "-m", "priced", TIDES)
        until(lambda: "/harbour" in web.pages_fetched())
        kill(process)
        assert recorded(home) == ["begun", "searched", "searched"]
        web.site.page("/harbour", html=LATER)
        done = run_here("runs", "resume", "--json", home=home, environ=environ)
        assert done.returncode == 0, done.stderr
        assert (len(web.twin.requests), len(second.requests)) == (1, 1)
    assert json.loads(done.stdout)["usage"]["searches"] == 2  # one of the web, one of the passages
    hosts = next(line for line in run_here("runs", "show", home=home).stdout.splitlines() if line.startswith("hosts"))
    for twin in (web.twin, second):
        assert twin.base_url.split("/")[2] in hosts
    assert replay(home, "--json").stdout == done.stdout


def test_a_run_that_was_taken_back_is_passed_over(bare: Path) -> None:
    configure(bare, with_tool("echo 12 fathoms"))
    with Endpoint(calls("Firth"), Problem("auth"), Answer("It is 12 fathoms deep, says depth.")) as endpoint:
        environ = environ_of(endpoint)
        run_here("-m", "priced", "--no-web", "-s", "sea", "How deep?", home=bare, environ=environ)
        run = only_run(bare)
        assert run["status"] == "failed"
        undone = run_here("chat", "-s", "sea", home=bare, environ=environ, stdin="/undo\n/quit\n")
        assert undone.returncode == 0, undone.stderr
        assert len(endpoint.requests) == 2
        last = run_here("runs", "resume", home=bare, environ=environ)
        assert (last.returncode, "no run was interrupted" in last.stderr) == (2, True)
        named = run_here("runs", "resume", run["id"], home=bare, environ=environ)
        assert (named.returncode, f"run {run['id']} was taken back" in named.stderr) == (2, True)
        assert len(endpoint.requests) == 2
    transcript = json.loads(run_here("session", "show", "sea", "--json", home=bare).stdout)
    assert all(each["withdrawn"] for each in transcript["messages"])
