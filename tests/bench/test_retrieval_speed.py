"""What a search costs: warm, in a new process, and in statements to SQLite."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from asky.config.schema import Engine, Retrieval
from asky.research.lexical_query import word_expression
from asky.storage.scope import Scope
from tests.bench.measure import measure_asky, measure_python, median_cpu_s, on_this_machine, own_cpu_s
from tests.bench.prose import real_text
from tests.support.large_store import VOCABULARY, RandomEmbedder
from tests.support.search_store import SearchStore

pytestmark = pytest.mark.slow

LIMIT = 10
STOP_WORDS = 100  # a language's commonest words, which are never searched

COLD = """
import sys
from pathlib import Path
from tests.support.large_store import RandomEmbedder
from tests.support.search_store import SearchStore
store = SearchStore(Path(sys.argv[1]), embedder=RandomEmbedder())
assert len(store.found(sys.argv[2])) == 10
"""


def queries(count: int) -> list[str]:
    """Questions of 8 content words, as often common and rare as words are."""
    draw = np.random.default_rng(5)
    ranks = np.arange(STOP_WORDS, VOCABULARY)
    chance = 1.0 / (ranks + 10)
    chosen = [draw.choice(ranks, 8, replace=False, p=chance / chance.sum()) for _ in range(count)]
    return [" ".join(f"w{rank:x}" for rank in each) for each in chosen]


def session(store: SearchStore) -> Scope:
    return Scope((store.corpus.collection("session"),))


@contextmanager
def statements(store: SearchStore) -> Iterator[list[str]]:
    """The statements that this thread gives to SQLite, without those that FTS5 gives to itself."""
    seen: list[str] = []
    with store.database.read() as connection:
        connection.set_trace_callback(lambda sql: None if sql.startswith("--") else seen.append(sql))
        try:
            yield seen
        finally:
            connection.set_trace_callback(None)


def test_a_warm_search_of_20_sources_among_5000_takes_15_ms(large_store: SearchStore, tmp_path: Path) -> None:
    scope = session(large_store)

    def median_s() -> float:
        spent = []
        for query in queries(41):
            spent.append(own_cpu_s(lambda query=query: large_store.found(query, limit=LIMIT, scope=scope)))  # type: ignore[misc]  # a default binds it
        return statistics.median(spent[1:])

    limit = on_this_machine(0.015, tmp_path)
    medians = [median_s()]
    while min(medians) > limit and len(medians) < 4:  # a slow spell of the machine only adds to what it meets
        medians.append(median_s())
    print(f"\nwarm search of 400 of 100,000 chunks: {1000 * min(medians):.1f} ms of CPU, at most {1000 * limit:.1f}")
    assert min(medians) <= limit


def test_a_scope_makes_the_search_for_words_cheaper(large_store: SearchStore) -> None:
    words, scope = large_store.search.tables.lexical, session(large_store)
    expressions = [word_expression(query) for query in queries(21)]

    def spent(scope: Scope) -> float:
        words.search(expressions[0], scope, limit=200)
        return own_cpu_s(lambda: [words.search(each, scope, limit=200) for each in expressions])

    rounds = [(spent(scope), spent(Scope())) for _ in range(3)]
    inside, everywhere = (min(side) for side in zip(*rounds, strict=True))
    print(f"\nsearch for 8 words: {1000 * inside / 21:.1f} ms in scope, {1000 * everywhere / 21:.1f} ms everywhere")
    assert inside < everywhere / 2


def test_full_text_search_is_not_asked_once_for_each_chunk_in_scope(large_store: SearchStore) -> None:
    expression = word_expression(queries(1)[0])
    with statements(large_store) as seen:
        large_store.search.tables.lexical.search(expression, session(large_store), limit=200)
    with large_store.database.read() as connection:
        plan = [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {seen[-1]}")]
    matched = [step for step in plan if "VIRTUAL TABLE INDEX" in step]
    assert len(matched) == 1
    assert "=" not in matched[0].rsplit(":", 1)[1]  # FTS5's note for a lookup of single rows


def test_statements_of_a_search_do_not_grow_with_the_sources(large_store: SearchStore) -> None:
    store, query = large_store, queries(1)[0]
    sources = [source.id for source in store.corpus.sources(Scope((store.collection,)))]
    counts = []
    for scope in [*(Scope(sources=tuple(sources[:count])) for count in (5, 20, 1000)), session(store), Scope()]:
        with statements(store) as seen:
            assert store.found(query, limit=1, scope=scope)
        counts.append(len(seen))
    print(f"\nstatements a search: {counts}")
    assert max(counts) <= 16
    assert max(counts) - min(counts) <= 2  # a scope is first compared with the whole corpus


def test_hits_cost_at_most_one_statement_each(large_store: SearchStore) -> None:
    counts = {}
    for limit in (1, LIMIT):
        with statements(large_store) as seen:
            large_store.found(queries(1)[0], limit=limit)
        counts[limit] = len(seen)
    assert counts[LIMIT] - counts[1] <= LIMIT - 1


def test_statements_of_a_search_with_chroma_do_not_grow_with_the_sources(
    indexed_folder: Callable[[int], Path],
) -> None:
    settings = Retrieval(engine="chroma")
    store = SearchStore(indexed_folder(10_000), settings=settings, embedder=RandomEmbedder())
    store.found(queries(1)[0], limit=1)
    with statements(store) as seen:
        assert store.found(queries(1)[0], limit=1)
    assert store.heard == []
    store.close()
    print(f"\nstatements a search with Chroma: {len(seen)}")
    assert len(seen) <= 24


def test_the_first_search_of_100000_chunks_in_a_new_process_is_bounded(
    large_store: SearchStore, tmp_path: Path
) -> None:
    arguments = ("-c", COLD, str(large_store.folder), queries(1)[0])
    # The least of three: its large copies of memory are what a busy neighbour slows down most.
    done = min((measure_python(arguments, tmp_path) for _ in range(3)), key=lambda each: each.cpu_s)
    limit = on_this_machine(1.5, tmp_path)
    print(f"\ncold search of 100,000 chunks: {done.cpu_s:.2f} s of CPU, {done.peak_bytes >> 20} MiB")
    assert done.cpu_s <= limit
    assert done.peak_bytes < 1 << 30


@pytest.mark.model
def test_the_search_command_takes_a_second_in_a_new_process(home: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(10):
        (docs / f"{number}.md").write_text(real_text(15_000, 15_000 * number), "utf-8")
    measure_asky("corpus", "add", str(docs), "--collection", "reference", home=home)

    def ask() -> float:
        done = measure_asky("search", "--json", "--collection", "reference", "how are names looked up", home=home)
        assert len(json.loads(done.out)["hits"]) == 10
        assert not done.err
        return done.cpu_s

    spent = median_cpu_s(ask)
    limit = on_this_machine(1.0, tmp_path)
    print(f"\nasky search, cold: {spent:.2f} s of CPU, at most {limit:.2f}")
    assert spent <= limit


def test_chroma_finds_what_the_exact_scan_finds(indexed_folder: Callable[[int], Path]) -> None:
    folder = indexed_folder(10_000)
    asked = ["\x01" * cluster for cluster in range(1, 500, 5)]  # no words, so that the vectors alone decide
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
    print(f"\nrecall@{LIMIT} of Chroma against the exact scan: {recall:.4f}")
    assert recall >= 0.99
