"""What a source is said to be: by itself, and by others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.values import Source, source_id
from tests.support.search_store import SearchStore

URI = "https://clay.example/a.pdf"
ID = source_id(URI)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SearchStore]:
    opened = SearchStore(tmp_path)
    yield opened
    opened.close()


def put(store: SearchStore, **metadata: object) -> None:
    source = Source(ID, "web", URI, "clay.example/a.pdf", url=URI)
    store.corpus.put_source(source, store.collection, document_id=None, verdict="empty", metadata=metadata)


def facts(store: SearchStore) -> tuple[object, ...]:
    source = store.corpus.source(ID)
    assert source is not None
    return source.authors, source.published, source.published_in, source.doi


def test_a_source_says_who_wrote_it_when_and_where(store: SearchStore) -> None:
    put(store)
    assert facts(store) == ((), None, None, None)
    put(store, author="Ada Bly; Bo Marsh;", published="2020", site_name="Clay", doi="10.5555/x")
    assert facts(store) == (("Ada Bly", "Bo Marsh"), "2020", "Clay", "10.5555/x")
    put(store, author="Ada Bly", published_in="Soils", site_name="Clay")
    assert facts(store) == (("Ada Bly",), None, "Soils", None)


def test_a_paper_says_its_journal_and_the_doi_of_its_arxiv_id(store: SearchStore) -> None:
    put(store, journal="Soils", arxiv="2101.00001v2")
    assert facts(store) == ((), None, "Soils", "10.48550/arxiv.2101.00001")
    put(store, doi="10.5555/x", arxiv="math/9404236v1")
    assert facts(store) == ((), None, None, "10.5555/x")


def test_what_others_say_goes_first_and_stays_when_the_source_is_read_again(store: SearchStore) -> None:
    put(store, author="scanner", published="2020")
    store.corpus.describe(ID, title="Clay", authors=["Ada Bly"], doi="10.5555/x")
    assert facts(store) == (("Ada Bly",), "2020", None, "10.5555/x")
    store.corpus.describe(ID, published_in="Soils")
    put(store, author="scanner", published="2021")
    assert facts(store) == (("Ada Bly",), "2021", "Soils", "10.5555/x")
    store.corpus.describe("s000000000000", doi="10.5555/y")


def test_a_title_that_others_give_replaces_the_address(store: SearchStore) -> None:
    put(store)
    store.corpus.describe(ID, title="Clay")
    found = store.corpus.source(ID)
    assert found is not None
    assert found.title == "Clay"


@pytest.mark.parametrize("said", ["x", {"doi": "10.5555/x"}, {"doi": 5}, [], None])
def test_a_source_cannot_say_what_others_say_of_it(store: SearchStore, said: object) -> None:
    put(store, of_the_work=said, published="2020")
    assert facts(store) == ((), "2020", None, None)
    store.corpus.describe(ID, doi="10.5555/y")
    put(store, of_the_work=said, published="2021")
    assert facts(store) == ((), "2021", None, "10.5555/y")
