"""Which sources a scope holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.storage.scope import Scope
from asky.values import Source, source_id
from tests.support.search_store import SearchStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SearchStore]:
    opened = SearchStore(tmp_path)
    yield opened
    opened.close()


def _unreadable(store: SearchStore, name: str) -> Source:
    source = Source(source_id(f"file:///{name}"), "file", f"file:///{name}", name, path=f"/{name}")
    store.corpus.put_source(source, store.collection, document_id=None, verdict="empty")
    return source


def test_sources_are_counted_as_they_are_listed(store: SearchStore) -> None:
    other = store.corpus.collection("other", create=True)
    tides = store.add("tides", "The moon pulls the sea.")
    store.add("mill", "The mill burned down.", collection=other)
    empty = _unreadable(store, "empty")
    here, there = store.collection, other
    for scope, expected in [
        (Scope(), 3),
        (Scope((here,)), 2),
        (Scope((there,)), 1),
        (Scope((here, there)), 3),
        (Scope(()), 0),
        (Scope((here,), (tides.id, empty.id)), 2),
        (Scope((there,), (tides.id,)), 0),
    ]:
        assert store.corpus.count_sources(scope) == expected == len(store.corpus.sources(scope)), scope


def test_the_first_sources_by_uri_are_listed_alone(store: SearchStore) -> None:
    for name in ("c", "a", "b"):
        store.add(name, f"The text of {name}.")
    assert [each.path for each in store.corpus.sources(store.scope, limit=2)] == ["/a", "/b"]
    assert store.corpus.sources(store.scope, limit=0) == []


def test_the_source_of_a_document_is_the_first_by_uri_of_those_in_scope(store: SearchStore) -> None:
    other = store.corpus.collection("other", create=True)
    first, second = (store.add(name, "The same text.") for name in ("a", "b"))
    third = store.add("c", "The same text.", collection=other)
    document_id = store.corpus.current_document(first.id)
    assert document_id is not None

    def found(scope: Scope) -> str | None:
        sources = store.search.tables.chunks.sources_of([document_id], scope)
        return sources[document_id].id if sources else None

    assert found(Scope()) == first.id
    assert found(Scope((other, store.collection), (second.id, third.id))) == second.id
    assert found(Scope((other,))) == third.id
    assert found(Scope((other,), (first.id,))) is None


@pytest.mark.parametrize("suffix", [".m_d", ".%", ".\\_", "%"])
def test_the_same_content_is_found_under_names_with_that_very_suffix_alone(store: SearchStore, suffix: str) -> None:
    digest = "0" * 64

    def keep(name: str) -> int | None:
        source = store.add(name, f"The text of {name}.")
        document = store.corpus.current_document(source.id)
        store.corpus.put_source(source, store.collection, document_id=document, content_sha256=digest, read_with="1.1")
        return document

    keep("a.mxd")
    keep("b.md")
    assert store.corpus.same_content(digest, suffix, "1.1") is None
    same = keep(f"c{suffix.upper()}")
    assert store.corpus.same_content(digest, suffix, "1.1") == same
    assert store.corpus.same_content(digest, suffix, "1.2") is None
    assert store.corpus.same_content("1" * 64, suffix, "1.1") is None
