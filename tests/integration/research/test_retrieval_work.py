"""How much work a search makes, counted in statements to SQLite; and that an index finds what a scan finds."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.config.schema import Engine, Retrieval
from asky.research.index.lexical_query import word_expression
from asky.storage.scope import Scope
from tests.support.large_store import CHUNKS_PER_SOURCE, RandomEmbedder, build, queries, session_scope, statements
from tests.support.search_store import SearchStore

SOURCES = 100
LIMIT = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store of 100 sources with 2,000 chunks of 200 words, all of which Chroma has taken in."""
    folder = tmp_path_factory.mktemp("store")
    store = build(folder, SOURCES, settings=Retrieval(engine="chroma"))
    index = store.search.index(RandomEmbedder())
    assert index is not None
    assert len(index) == SOURCES * CHUNKS_PER_SOURCE
    store.close()
    return folder


@pytest.fixture
def store(folder: Path) -> Iterator[SearchStore]:
    opened = SearchStore(folder, settings=Retrieval(engine="exact"), embedder=RandomEmbedder())
    yield opened
    opened.close()


@pytest.mark.extended
def test_full_text_search_is_not_asked_once_for_each_chunk_in_scope(store: SearchStore) -> None:
    expression = word_expression(queries(1)[0])
    with statements(store) as seen:
        store.search.tables.lexical.search(expression, session_scope(store), limit=200)
    with store.database.read() as connection:
        plan = [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {seen[-1]}")]
    matched = [step for step in plan if "VIRTUAL TABLE INDEX" in step]
    assert len(matched) == 1
    assert "=" not in matched[0].rsplit(":", 1)[1]  # FTS5's note for a lookup of single rows


def test_statements_of_a_search_do_not_grow_with_the_sources(store: SearchStore) -> None:
    query = queries(1)[0]
    sources = [source.id for source in store.corpus.sources(Scope((store.collection,)))]
    assert store.found(query, limit=1)  # a store's first search learns what there is
    counts = []
    for scope in [*(Scope(sources=tuple(sources[:count])) for count in (5, 20, 80)), session_scope(store), Scope()]:
        with statements(store) as seen:
            assert store.found(query, limit=1, scope=scope)
        counts.append(len(seen))
    assert max(counts) <= 21
    assert max(counts) - min(counts) <= 2  # a scope is first compared with the whole corpus


def test_vectors_of_two_scopes_that_are_searched_in_turn_are_read_once(store: SearchStore) -> None:
    first, second = (each.id for each in store.corpus.sources(Scope((store.collection,)))[:2])
    scopes = [Scope(sources=(each,)) for each in (first, second)]
    with statements(store) as seen:
        for scope in scopes * 3:
            store.found(queries(1)[0], scope=scope)
    read = [each for each in seen if each.startswith("SELECT document_id, chunk_ids, vectors")]
    assert len(read) == 2


def test_hits_cost_at_most_one_statement_each(store: SearchStore) -> None:
    counts = {}
    for limit in (1, LIMIT):
        with statements(store) as seen:
            store.found(queries(1)[0], limit=limit)
        counts[limit] = len(seen)
    assert counts[LIMIT] - counts[1] <= LIMIT - 1


def test_statements_of_a_search_with_chroma_do_not_grow_with_the_sources(folder: Path) -> None:
    store = SearchStore(folder, settings=Retrieval(engine="chroma"), embedder=RandomEmbedder())
    store.found(queries(1)[0], limit=1)
    with statements(store) as seen:
        assert store.found(queries(1)[0], limit=1)
    assert store.heard == []
    store.close()
    assert len(seen) <= 29


@pytest.mark.extended
def test_chroma_finds_what_the_exact_scan_finds(folder: Path) -> None:
    asked = ["\x01" * cluster for cluster in range(1, SOURCES)]  # no words, so that the vectors alone decide
    found = {}
    engines: tuple[Engine, ...] = ("chroma", "exact")
    for engine in engines:
        store = SearchStore(folder, settings=Retrieval(engine=engine), embedder=RandomEmbedder())
        found[engine] = [
            {hit.chunk_id for hit in store.search.search_content_chunks(query, store.scope, limit=LIMIT)}
            for query in asked
        ]
        assert store.heard == []
        store.close()
    assert all(len(each) == LIMIT for each in found["exact"])
    recall = statistics.mean(
        len(near & exact) / LIMIT for near, exact in zip(found["chroma"], found["exact"], strict=True)
    )
    assert recall >= 0.99
