"""Papers that are remembered for a while, and what becomes of those that cannot be read any more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from asky.research.web.lookup_cache import CachedLookup
from asky.search.identifiers import Identifier
from asky.search.lookup import FoundPaper, Notice
from asky.search.port import Candidate
from asky.storage.database import Database
from asky.storage.pages import SearchTable
from asky.storage.repair.damage import find_damage
from tests.support.lookups import FakeLookup

DOI, PREPRINT = Identifier("doi", "10.5555/x"), Identifier("arxiv", "2301.01234", 2)
BARE = FoundPaper(Candidate("https://doi.org/10.5555/x", "Tides", kind="paper"), (DOI,))
FULL = FoundPaper(
    Candidate("https://doi.org/10.5555/x", "Tïdes", "On.", "2020", kind="paper", authors=("Ada Bly",), citations=3),
    (DOI, PREPRINT),
    (Identifier("doi", "10.5555/y"),),
    (Notice("retraction", "2010", "crossref", Identifier("doi", "10.5555/n")), Notice("correction", None, "crossref")),
    is_notice=True,
)  # fmt: skip


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "asky.db")
    yield opened
    opened.close()


def look_up(database: Database, registry: FakeLookup, identifier: Identifier = DOI, ttl_s: float = 60.0) -> object:
    """What is found; each lookup is made by a process of its own."""
    cached = CachedLookup(registry, SearchTable(database), ttl_s=ttl_s, now=lambda: 1000.0)
    return anyio.run(cached.lookup, identifier)


@pytest.mark.parametrize("paper", [BARE, FULL, None])
def test_a_paper_is_looked_up_once_and_kept_in_the_shape_that_is_checked(
    database: Database, paper: FoundPaper | None
) -> None:
    registry = FakeLookup({DOI.key: paper} if paper else {})
    assert look_up(database, registry) == look_up(database, registry) == paper
    assert registry.asked == [DOI]
    assert find_damage(database) == []


def test_answers_are_kept_for_each_registry_version_and_time(database: Database) -> None:
    one, two = FakeLookup({PREPRINT.key: BARE}), FakeLookup(name="arxiv")
    first = Identifier("arxiv", "2301.01234", 1)
    for _ in range(2):
        assert look_up(database, one, PREPRINT) == look_up(database, one, first) == BARE
        assert look_up(database, two, PREPRINT) is None
    assert (one.asked, two.asked) == ([PREPRINT, first], [PREPRINT])
    look_up(database, one, PREPRINT, ttl_s=61.0)
    assert one.asked == [PREPRINT, first, PREPRINT]


@pytest.mark.parametrize(
    "damaged",
    [
        "'{bad'",
        "json_set(results, '$[0].notices[0].kind', 'scandal')",
        "json_set(results, '$[0].notices[0].identifier', 7)",
        "json_set(results, '$[0].ids[0].more', 7)",
        "json_remove(results, '$[0].candidate.url')",
        "json_set(results, '$[0].unchecked', 'x')",
    ],
)
def test_a_paper_that_cannot_be_read_is_damage_and_is_looked_up_again(database: Database, damaged: str) -> None:
    registry = FakeLookup({DOI.key: FULL})
    look_up(database, registry)
    with database.write() as connection:
        connection.execute(f"UPDATE search SET results = {damaged}")
    assert [(each.column, each.repair) for each in find_damage(database)] == [("results", "taken out")]
    assert look_up(database, registry) == FULL
    assert len(registry.asked) == 2
    assert find_damage(database) == []
