"""Cached pages and findings through the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from asky.app.asky import Asky
from asky.app.schemas.cache import page_object, pages_object
from asky.app.schemas.memory import findings_object
from asky.errors import UsageError
from asky.events import Event, Noted
from tests.support.library import notes_of, open_asky
from tests.support.site import Site

MOON = "The moon raises two high tides a day, which sailors on every coast of the ocean know by heart."
PAGE = f"<html><head><title>Tides</title></head><body><article><h1>Tides</h1><p>{MOON}</p></article></body></html>"


@pytest.fixture
def heard() -> list[Event]:
    return []


@pytest.fixture
def asky(tmp_path: Path, heard: list[Event]) -> Iterator[Asky]:
    with open_asky(tmp_path, heard.append) as opened:
        yield opened


def test_a_page_is_listed_shown_and_forgotten(tmp_path: Path) -> None:
    with Site() as site:
        site.page("/tides", html=PAGE)
        reachable = {"network.allow_private": [site.authority], "network.robots": False}
        with open_asky(tmp_path, settings=reachable) as asky:
            url = site.url("/tides")
            anyio.run(asky.corpus.add, [url])
            (page,) = asky.cache.list_pages("tides").found
            assert page == asky.cache.find(url)
            assert page.state == "fresh"
            assert MOON in page_object(page, asky.cache.read_text(page), [])["text"]
            assert asky.cache.stats().pages == 1

            assert asky.cache.remove([url]) == 1
            assert len(asky.cache.list_pages()) == 0
            with pytest.raises(UsageError, match="is not in the cache"):
                asky.cache.find(url)
            assert len(asky.corpus.list_sources()) == 1  # a page of the corpus outlives the cache


def test_an_empty_cache(asky: Asky) -> None:
    assert pages_object(asky.cache.list_pages()) == {"schema": "asky.pages/1", "pages": [], "damaged": []}
    assert asky.cache.clear().pages == 0
    with pytest.raises(UsageError, match="'tides' is not the URL of a page"):
        asky.cache.remove(["tides"])


def test_findings_are_kept_found_and_forgotten(asky: Asky, heard: list[Event]) -> None:
    own = asky.memory.add("Bread rises with yeast.", tags=["kitchen"])
    other = asky.memory.add("The moon pulls the sea.", session="sea")
    assert heard == [Noted("created the session sea")]
    assert (own.is_new, other.is_new, other.finding.session) == (True, True, "sea")
    assert not asky.memory.add("Bread rises with yeast.").is_new

    assert [each.id for each in asky.memory.findings()] == [other.finding.id, own.finding.id]
    listed = findings_object(asky.memory.list_findings("sea"))
    assert [(each["text"], each["session"]) for each in listed["findings"]] == [("The moon pulls the sea.", "sea")]
    (found,) = anyio.run(asky.memory.search, "yeast bread")
    assert (found[0], found[1] > 0) == (own.finding, True)

    assert asky.memory.remove([own.finding.id]) == 1
    with pytest.raises(UsageError, match=f"there is no finding {own.finding.id}"):
        asky.memory.get([other.finding.id, own.finding.id])
    assert notes_of(heard) == ["created the session sea"]


def test_what_is_no_finding_query_session_or_source(asky: Asky) -> None:
    with pytest.raises(UsageError, match="the finding is empty"):
        asky.memory.add(" ", session="sea")
    with pytest.raises(UsageError, match="there is no session 'sea'"):
        asky.memory.findings("sea")
    with pytest.raises(UsageError, match="the query is empty"):
        anyio.run(asky.memory.search, "")
    with pytest.raises(UsageError, match=r"no finding cites 'a\.example'"):
        asky.memory.find_by_source("a.example")
