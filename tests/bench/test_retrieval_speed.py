"""What a search costs: warm, and in a new process."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from asky.research.index.following import Citing, Follower
from asky.research.index.lexical_query import word_expression
from asky.storage.scope import Scope
from asky.values import Span
from tests.bench.measure import measure_asky, measure_python, median_cpu_s, on_this_machine, own_cpu_s
from tests.bench.prose import real_text
from tests.support.large_store import queries, session_scope
from tests.support.search_store import SearchStore

pytestmark = pytest.mark.slow

LIMIT = 10

COLD = """
import sys
from pathlib import Path
from tests.support.large_store import RandomEmbedder
from tests.support.search_store import SearchStore
store = SearchStore(Path(sys.argv[1]), embedder=RandomEmbedder())
assert len(store.found(sys.argv[2])) == 10
"""


def test_a_warm_search_of_20_sources_among_5000_takes_15_ms(large_store: SearchStore, tmp_path: Path) -> None:
    scope = session_scope(large_store)

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
    words, scope = large_store.search.tables.lexical, session_scope(large_store)
    expressions = [word_expression(query) for query in queries(21)]

    def spent(scope: Scope) -> float:
        words.search(expressions[0], scope, limit=200)
        return own_cpu_s(lambda: [words.search(each, scope, limit=200) for each in expressions])

    rounds = [(spent(scope), spent(Scope())) for _ in range(3)]
    inside, everywhere = (min(side) for side in zip(*rounds, strict=True))
    print(f"\nsearch for 8 words: {1000 * inside / 21:.1f} ms in scope, {1000 * everywhere / 21:.1f} ms everywhere")
    assert inside < everywhere / 2


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


def test_titles_in_a_question_and_five_passages_are_looked_up_in_2_ms(large_store: SearchStore, tmp_path: Path) -> None:
    follower = Follower(large_store.search.tables.titles, large_store.scope)
    texts = [real_text(1_000, 1_000 * number) for number in range(100)]
    places = [
        [Citing(document, Span(0, 1_000), text, 1.0) for document, text in enumerate(texts[first : first + 5])]
        for first in range(0, 100, 5)
    ]

    def spent() -> float:
        return own_cpu_s(lambda: [follower.linked_from(each, is_named=True) for each in places]) / len(places)

    least, limit = min(spent() for _ in range(3)), on_this_machine(0.002, tmp_path)
    print(f"\ntitles in five passages among those of 5,000 sources: {1000 * least:.2f} ms of CPU")
    assert least <= limit
