"""Hybrid search over a real store, with the fake embedder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asky.config.schema import Retrieval
from asky.errors import NotConfigured
from asky.events import Warned
from asky.storage.scope import Scope
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore


@pytest.fixture
def store(tmp_path: Path):
    opened = SearchStore(tmp_path)
    yield opened
    opened.close()


def test_the_passage_that_fits_best_comes_first_with_both_scores(store: SearchStore) -> None:
    store.add("tides", "The moon pulls the sea and makes the tides.")
    store.add("bread", "Bread rises because yeast makes gas.")
    store.search.store_chunk_embeddings(store.scope)
    hits = store.search.search_content_chunks("what makes the tides", store.scope, limit=2)
    assert [hit.source.path for hit in hits] == ["/tides", "/bread"]
    assert hits[0].rank == 1
    assert hits[0].semantic is not None
    assert hits[0].lexical is not None
    assert hits[0].lexical > 0
    assert store.documents.text(hits[0].document_id, hits[0].span) == hits[0].text


def test_without_a_model_search_is_lexical_and_says_so_once(tmp_path: Path) -> None:
    store = SearchStore(tmp_path, embedder=NotConfigured("no embedding model is installed", hint="install one"))
    store.add("tides", "The moon makes the tides.")
    assert store.found("tides") == ["/tides"]
    assert store.found("moon") == ["/tides"]
    assert store.search.store_chunk_embeddings(store.scope) == 0
    warnings = [each for each in store.heard if isinstance(each, Warned)]
    assert [each.message for each in warnings] == ["no embedding model is installed; searching by keywords only"]
    store.close()


def test_a_question_over_a_fresh_corpus_embeds_only_its_best_candidates(tmp_path: Path) -> None:
    store = SearchStore(tmp_path, settings=Retrieval(embed_at_once=3))
    for number in range(20):
        store.add(f"note{number}", f"note number {number} about common things")
    store.add("tides", "The moon makes the tides, a common thing.")
    assert store.found("common tides")[0] == "/tides"
    assert isinstance(store.embedder, FakeEmbedder)
    assert len(store.embedder.embedded) == 3
    assert store.search.store_chunk_embeddings(store.scope) == 18
    coverage = store.search.coverage(store.scope)
    assert coverage is not None
    assert coverage.embedded == coverage.chunks == 21


def test_embedding_resumes_where_it_stopped(store: SearchStore) -> None:
    store.add("a", "one", "two", "three")
    assert store.search.store_chunk_embeddings(store.scope) == 3
    store.add("b", "four")
    assert store.search.store_chunk_embeddings(store.scope) == 1
    assert store.search.store_chunk_embeddings(store.scope) == 0


def test_another_model_makes_another_space(tmp_path: Path) -> None:
    store = SearchStore(tmp_path)
    store.add("a", "the moon")
    store.search.store_chunk_embeddings(store.scope)
    store.close()
    other = SearchStore(tmp_path, embedder=FakeEmbedder(dim=32, fingerprint="fake-32-1"))
    coverage = other.search.coverage(other.scope)
    assert coverage is not None
    assert coverage.embedded == 0
    assert other.found("moon") == ["/a"]
    messages = [each.message for each in other.heard if isinstance(each, Warned)]
    assert any("embedding model has changed" in message for message in messages)
    other.close()


def test_a_vector_that_is_not_finite_is_refused_and_nothing_is_stored(tmp_path: Path) -> None:
    class Broken(FakeEmbedder):
        def embed(self, texts, *, progress=None):
            return super().embed(texts, progress=progress) * np.float32("nan")

    store = SearchStore(tmp_path, embedder=Broken())
    store.add("a", "the moon")
    with pytest.raises(Exception, match="zero or not finite"):
        store.search.store_chunk_embeddings(store.scope)
    assert store.vectors.coverage(store.vectors.space("fake-64-1", 64), store.scope).embedded == 0
    store.close()


def test_a_scope_of_sources_is_searched_alone(store: SearchStore) -> None:
    store.add("a", "the moon one")
    b = store.add("b", "the moon two")
    store.search.store_chunk_embeddings(store.scope)
    assert store.found("moon", scope=Scope((store.collection,), (b.id,))) == ["/b"]


def test_a_source_that_left_is_not_found_and_a_cached_matrix_follows(store: SearchStore) -> None:
    a = store.add("a", "the moon one")
    store.add("b", "the moon two")
    store.search.store_chunk_embeddings(store.scope)
    assert sorted(store.found("moon")) == ["/a", "/b"]
    store.corpus.remove_sources(store.collection, [a.id])
    assert store.found("moon") == ["/b"]


def test_nothing_matches_nothing(store: SearchStore) -> None:
    assert store.found("moon") == []


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300))
def test_no_query_is_an_error(store: SearchStore, query: str) -> None:
    store.add("a", 'the moon AND the sea NEAR("x") OR *')
    store.search.search_content_chunks(query.encode("utf-8", "replace").decode(), store.scope, limit=3)
