"""`asky cache`: what is kept of pages that were read, how long it is fresh, and addresses that are none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.asky_command import run_asky
from tests.support.in_process import InProcess
from tests.support.site import Site

MOON = "The moon raises two high tides a day, which sailors on every coast of the ocean know by heart."
PAGE = f"<html><head><title>Tides</title></head><body><article><h1>Tides</h1><p>{MOON}</p></article></body></html>"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as opened:
        opened.page("/tides", html=PAGE)
        yield opened


@pytest.fixture
def asky(tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    home = tmp_path / "home"
    home.mkdir()
    command = InProcess(home, monkeypatch, capsys)
    monkeypatch.setenv("ASKY_RESEARCH__EMBEDDING__MODEL", str(tmp_path / "no model"))
    monkeypatch.setenv("ASKY_NETWORK__ALLOW_PRIVATE", json.dumps([site.authority]))
    monkeypatch.setenv("ASKY_NETWORK__HOST_GAP_S", "0")
    monkeypatch.setenv("ASKY_NETWORK__ROBOTS", "false")
    monkeypatch.setattr("sys.stdin", None)
    return command


def read(asky: InProcess, site: Site) -> None:
    assert asky("ask", f"What raises two high tides a day? {site.url('/tides')}", "--json").code == 0


def times_read(site: Site) -> int:
    return [each.path for each in site.requests].count("/tides")


def state(asky: InProcess, site: Site) -> str:
    found: str = asky("cache", "show", site.url("/tides"), "--json").json["state"]
    return found


@pytest.mark.extended
def test_a_lower_time_of_freshness_holds_for_what_was_read_before(
    asky: InProcess, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(asky, site)
    read(asky, site)
    assert (times_read(site), state(asky, site)) == (1, "fresh")
    assert asky("cache", "stats", "--json").json["stale"] == 0

    monkeypatch.setenv("ASKY_RESEARCH__CACHE__TTL_HOURS", "0")

    assert state(asky, site) == "stale"
    assert asky("cache", "list", "--json").json["pages"][0]["state"] == "stale"
    assert asky("cache", "stats", "--json").json["stale"] == 1
    read(asky, site)
    assert times_read(site) == 2


@pytest.mark.parametrize(
    "wrong", ["not-a-url", "", " ", "ftp://a.example/", "http://", "https://[::1", "a\udcffb", "/x"]
)
@pytest.mark.parametrize("command", ["show", "rm"])
def test_what_is_no_address_is_a_wrong_use_with_a_way_out(asky: InProcess, command: str, wrong: str) -> None:
    done = asky("cache", command, "--", wrong)

    assert done.code == 2
    assert "is not the URL of a page" in done.err
    assert "`asky cache list`" in done.err


def test_an_address_that_was_not_read_is_said_to_be_none_of_the_cache(asky: InProcess, site: Site) -> None:
    read(asky, site)

    done = asky("cache", "rm", site.url("/tides"), site.url("/other"))

    assert done.code == 2
    assert "/other is not in the cache" in done.err
    assert state(asky, site) == "fresh"


def test_a_page_that_is_dropped_is_gone(asky: InProcess, site: Site) -> None:
    read(asky, site)
    assert MOON in asky("cache", "show", site.url("/tides#top")).out

    assert "deleted 1 page" in asky("cache", "rm", site.url("/tides")).err

    assert asky("cache", "list", "--json").json["pages"] == []
    read(asky, site)
    assert times_read(site) == 2


def test_the_shell_completes_the_addresses_of_pages(asky: InProcess, site: Site) -> None:
    read(asky, site)
    environ = {"ASKY_HOME": str(asky.home), "_ASKY_COMPLETE": "bash_complete", "COMP_CWORD": "3"}
    done = run_asky(home=asky.home, environ=environ | {"COMP_WORDS": "asky cache show http"})
    assert done.stdout.split() == [f"plain,{site.url('/tides')}"]
