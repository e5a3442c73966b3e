"""Searches that are remembered for a while, and what becomes of those that cannot be read any more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from asky.research.web.search_cache import CachedSearch, decode_candidates, encode_candidates
from asky.search.federation import Federation
from asky.search.port import Candidate, SearchRequest, ServiceRank
from asky.storage.database import Database
from asky.storage.pages import SearchTable
from asky.storage.repair.damage import find_damage
from asky.storage.stored_json import RESULTS, fits
from tests.support.searching import FakeSearch

URL = "https://tides.example/a"
REQUEST = SearchRequest("tides")
PAPER = Candidate(
    URL, "Tides", "On tides.", "2020", kind="paper", found=(ServiceRank("a", 1, "tides"),), parent="https://b.example",
    doi="10.5555/x", authors=("Ada Bly", "Bo Marsh"), venue="Seas", pdf_url=URL, citations=3, is_retracted=True,
)  # fmt: skip


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "asky.db")
    yield opened
    opened.close()


def search(database: Database, service: FakeSearch, *, ttl_s: float = 600.0) -> list[str]:
    """The addresses that a search finds; each is made by a process of its own."""
    remembered = CachedSearch(Federation([service]), SearchTable(database), ttl_s=ttl_s, now=lambda: 1000.0)
    found = anyio.run(remembered.search, [REQUEST])
    return [each.url for each in found.candidates]


def test_a_search_is_made_once_and_its_results_are_of_the_shape_that_is_checked(database: Database) -> None:
    service = FakeSearch([URL])
    assert search(database, service) == search(database, service) == [URL]
    assert len(service.requests) == 1
    assert find_damage(database) == []


def test_who_remembers_for_another_time_has_the_search_made_again(database: Database) -> None:
    service = FakeSearch([URL])
    search(database, service)
    assert search(database, service, ttl_s=0.0) == search(database, service, ttl_s=0.0) == [URL]
    assert len(service.requests) == 3
    search(database, service)
    assert len(service.requests) == 3


@pytest.mark.parametrize("candidate", [Candidate(URL), PAPER])
def test_whatever_a_candidate_says_fits_and_comes_back(candidate: Candidate) -> None:
    packed = encode_candidates([candidate])
    assert decode_candidates(packed) == (candidate,)
    stored = [{**each, "found": list(each["found"]), "authors": list(each["authors"])} for each in packed]
    assert fits(stored, RESULTS)


@pytest.mark.parametrize(
    "damaged",
    [
        "'{bad'",
        """'{"a": 1}'""",
        "'[1]'",
        """'[{"url": "https://b.example"}]'""",
        """json_array(json_insert(json_extract(results, '$[0]'), '$.more', 1))""",
        """json_set(results, '$[0].found[0].rank', 'first')""",
        "CAST(x'5bff5d' AS TEXT)",
        "x'5b5d'",
    ],
)
def test_results_that_cannot_be_read_are_damage_and_the_search_is_made_again(database: Database, damaged: str) -> None:
    service = FakeSearch([URL])
    search(database, service)
    with database.write() as connection:
        connection.execute(f"UPDATE search SET results = {damaged}")
    assert [(each.column, each.repair) for each in find_damage(database)] == [("results", "taken out")]
    assert search(database, service) == [URL]
    assert len(service.requests) == 2
    assert find_damage(database) == []
    assert search(database, service) == [URL]
    assert len(service.requests) == 2
