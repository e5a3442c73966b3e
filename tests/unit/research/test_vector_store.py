"""Hybrid search over a real store, with the fake embedder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from asky.config.schema import Retrieval
from asky.errors import NotConfigured
from asky.events import StageAdvanced, StageFinished, StageStarted, Warned
from asky.research.index.background import BackgroundEmbedding, Job
from asky.research.ranking import Selection
from asky.storage.scope import Scope
from tests.support.embedding import FakeEmbedder
from tests.support.examples import examples
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


def test_without_a_model_search_is_lexical_and_says_so_of_one_topic(tmp_path: Path) -> None:
    store = SearchStore(tmp_path, embedder=NotConfigured("no embedding model is installed", hint="install one"))
    store.add("tides", "The moon makes the tides.")
    assert store.found("tides") == ["/tides"]
    assert store.found("moon") == ["/tides"]
    assert store.search.store_chunk_embeddings(store.scope) == 0
    assert warnings_of(store) == ["no embedding model is installed; searching by keywords only"]
    store.close()


def test_meaning_and_words_can_be_searched_alone(store: SearchStore) -> None:
    store.add("tides", "The moon pulls the sea and makes the tides.")
    store.add("bread", "Bread rises because yeast makes gas.")
    store.search.store_chunk_embeddings(store.scope)
    query = "what makes the tides"
    by_words = store.search.search_content_chunks(query, store.scope, limit=9, selection=Selection(mode="keyword"))
    assert [(each.source.path, each.semantic) for each in by_words] == [("/tides", None), ("/bread", None)]
    by_meaning = store.search.search_content_chunks(query, store.scope, limit=9, selection=Selection(mode="semantic"))
    assert [(each.source.path, each.lexical) for each in by_meaning] == [("/tides", None), ("/bread", None)]
    assert all(each.score == each.semantic for each in by_meaning)
    nothing = store.search.search_content_chunks("zebra", store.scope, limit=9, selection=Selection(mode="keyword"))
    assert nothing == []


def test_a_word_that_a_text_repeats_weighs_more(store: SearchStore) -> None:
    words = {"tides": "The moon makes tides.", "bread": "Yeast makes bread."}
    for name, text in words.items():
        store.add(name, text)
    by_words = Selection(mode="keyword")

    def scores(query: str) -> dict[str | None, float]:
        hits = store.search.search_content_chunks(query, store.scope, limit=9, selection=by_words)
        return {each.source.path: each.lexical or 0.0 for each in hits}

    once = scores("Tides or bread")
    assert scores("Tides or bread and tides") == once
    repeated = scores("Tides or bread. And tides.")
    assert repeated == {"/tides": pytest.approx(2 * once["/tides"], rel=1e-6), "/bread": once["/bread"]}


def test_what_resembles_the_best_hits_of_a_text_is_raised(store: SearchStore) -> None:
    for text in ("boats coast harbour", "coast harbour waves", "boats harbour waves"):
        store.add(text, f"moon tides {text}")
    store.add("unlike", "moon bread yeast oven flour")
    store.add("like", "moon boats coast harbour waves")
    store.search.store_chunk_embeddings(store.scope)
    by_meaning = Selection(mode="semantic")

    def last(query: str) -> list[str | None]:
        hits = store.search.search_content_chunks(query, store.scope, limit=9, selection=by_meaning)
        return [each.source.path for each in hits[3:]]

    assert last("moon tides") == ["/unlike", "/like"]
    assert last("Moon. Tides.") == ["/like", "/unlike"]


def test_without_a_model_words_stand_in_for_meaning(tmp_path: Path) -> None:
    store = SearchStore(tmp_path, embedder=NotConfigured("no embedding model is installed", hint="install one"))
    store.add("tides", "The moon makes the tides.")
    hits = store.search.search_content_chunks("moon", store.scope, limit=9, selection=Selection(mode="semantic"))
    assert [each.source.path for each in hits] == ["/tides"]
    assert warnings_of(store) == ["no embedding model is installed; searching by keywords only"]
    store.search.search_content_chunks("moon", store.scope, limit=9, selection=Selection(mode="keyword"))
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


def test_a_question_that_shares_no_word_with_a_small_corpus_is_answered_by_meaning(store: SearchStore) -> None:
    store.add("cat", "The feline slept on the carpet.")
    store.add("sea", "潮の満ち引きは月の引力による。")
    for query in ("cat nap rug", "満潮"):
        hits = store.search.search_content_chunks(query, store.scope, limit=5)
        assert sorted(hit.source.path or "" for hit in hits) == ["/cat", "/sea"]
        assert all(hit.semantic is not None for hit in hits)
        assert [hit.lexical for hit in hits] == [0.0, 0.0]
    assert warnings_of(store) == []


def warnings_of(store: SearchStore) -> list[str]:
    """What a run that searched all that would keep: of each topic the first warning."""
    first: dict[str, str] = {}
    for each in store.heard:
        if isinstance(each, Warned):
            first.setdefault(each.topic or each.message, each.message)
    return list(first.values())


def embedded_by(
    store: SearchStore, *queries: str, scope: Scope | None = None, first: tuple[str, ...] = ()
) -> list[str]:
    """The passages that are embedded for these queries, asked together; sorted."""
    assert isinstance(store.embedder, FakeEmbedder)
    store.embedder.embedded.clear()
    store.search.search_several(queries, scope or store.scope, limit=5, first=first)
    return sorted(text.strip() for text in store.embedder.embedded)


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[SearchStore]:
    """A store whose questions embed three passages at once."""
    opened = SearchStore(tmp_path, settings=Retrieval(embed_at_once=3))
    yield opened
    opened.close()


def test_a_corpus_beyond_the_room_is_embedded_by_words_then_by_first_passages_and_that_is_said_once(
    narrow: SearchStore,
) -> None:
    for name in ("a", "b", "c"):
        narrow.add(name, *(f"{name}{number}" for number in range(1, 5)))
    assert embedded_by(narrow, "b4") == ["a1", "b1", "b4"]
    assert warnings_of(narrow) == ["9 of 12 passages are not embedded yet and are found by keywords only"]
    assert embedded_by(narrow, "nothing of that") == ["a2", "c1", "c2"]
    assert embedded_by(narrow, "a4", "a3", "b1") == ["a3", "a4"]
    assert embedded_by(narrow, "nothing at all") == ["b2", "b3", "c3"]
    assert embedded_by(narrow, "nothing at last") == ["c4"]
    assert len(warnings_of(narrow)) == 1


def test_embedding_that_takes_more_than_a_moment_is_a_stage(store: SearchStore) -> None:
    store.add("few", *(f"a{number}" for number in range(20)))
    store.found("nothing")
    assert store.heard == []
    store.add("many", *(f"b{number}" for number in range(40)))
    store.found("nothing")
    started, advanced, finished = store.heard
    assert (started, advanced) == (StageStarted("embed", 40), StageAdvanced("embed", 40, 40))
    assert isinstance(finished, StageFinished)


def test_once_nobody_waits_for_vectors_what_is_embedded_is_searched_by_meaning_and_the_rest_by_words(
    store: SearchStore,
) -> None:
    store.add("early", "the moon pulls the sea")
    store.found("moon")
    store.add("late", "the barrage of the Rance")
    assert isinstance(store.embedder, FakeEmbedder)
    store.embedder.embedded.clear()

    def found(query: str, *answers: bool) -> list[str]:
        asked = iter(answers)
        hits = store.search.search_content_chunks(query, store.scope, limit=5, may_embed=lambda: next(asked))
        return [hit.source.path or "" for hit in hits]

    assert found("barrage", False) == ["/late", "/early"]
    assert store.embedder.embedded == []
    assert found("barrage", True, False) == ["/late", "/early"], "the batch under way is the last"
    coverage = store.search.coverage(store.scope)
    assert coverage is not None
    assert (coverage.embedded, coverage.chunks) == (1, 2)
    assert warnings_of(store) == []


def test_while_a_process_embeds_the_rest_a_question_embeds_what_matches_it(tmp_path: Path) -> None:
    background = BackgroundEmbedding(tmp_path / "asky.db", lambda: ())
    narrow = SearchStore(tmp_path, settings=Retrieval(embed_at_once=3), background=background)
    narrow.add("a", *(f"a{number}" for number in range(1, 10)))
    descriptor = os.open(tmp_path / "indexing.json", os.O_RDWR | os.O_CREAT)
    job = Job(tmp_path / "asky.db", descriptor)
    job.fail("")
    assert job.resume()  # as a process that has the lock
    assert embedded_by(narrow, "nothing") == ["a1", "a2", "a3"]  # without any vector, words alone would answer
    assert embedded_by(narrow, "a9") == ["a9"]
    assert embedded_by(narrow, "nothing at all") == []
    os.close(descriptor)
    assert {each.hint for each in narrow.heard if isinstance(each, Warned)} == {
        "that goes on in the background; `asky corpus status` shows how far it is"
    }
    narrow.close()


def test_where_no_process_can_be_started_another_command_is_named(tmp_path: Path) -> None:
    def command() -> list[str]:
        raise OSError

    narrow = SearchStore(
        tmp_path, settings=Retrieval(embed_at_once=1), background=BackgroundEmbedding(tmp_path / "asky.db", command)
    )
    narrow.add("a", "a1", "a2")
    assert embedded_by(narrow, "nothing") == ["a1"]
    (warned,) = [each for each in narrow.heard if isinstance(each, Warned)]
    assert warned.hint == "`asky corpus sync --all` embeds them"
    narrow.close()


def test_the_same_question_embeds_nothing_again_until_there_are_other_texts(tmp_path: Path) -> None:
    settings = Retrieval(embed_at_once=3)
    store = SearchStore(tmp_path, settings=settings)
    store.add("a", *(f"a{number}" for number in range(1, 10)))
    assert embedded_by(store, "nothing") == ["a1", "a2", "a3"]
    assert embedded_by(store, "nothing") == []
    assert embedded_by(store, "a9") == ["a4", "a5", "a9"]
    store.close()
    later = SearchStore(tmp_path, settings=settings)
    assert embedded_by(later, "nothing") == embedded_by(later, "a9") == []
    assert warnings_of(later) == ["3 of 9 passages are not embedded yet and are found by keywords only"]
    later.corpus.remove_sources(later.collection, [later.add("b", "b1").id])
    assert embedded_by(later, "nothing") == []
    later.add("c", "c1")
    assert embedded_by(later, "nothing") == ["a6", "a7", "c1"]
    later.close()


def test_queries_that_are_asked_together_share_the_room(narrow: SearchStore) -> None:
    narrow.add("a", "one x", "one y", "one z", "two x", "two y", "six")
    found = embedded_by(narrow, "one", "two")
    assert len(found) == 3
    assert {each.split()[0] for each in found} == {"one", "two"}
    single = narrow.search.search_content_chunks("two", narrow.scope, limit=5)
    assert narrow.search.search_several(["one", "two"], narrow.scope, limit=5)[1] == single


def test_the_passages_of_preferred_sources_have_the_room_before_others(narrow: SearchStore) -> None:
    narrow.add("a", "a1", "a2")
    page = narrow.add("b", "b1", "b2")
    narrow.add("c", "c1", "c2")
    assert embedded_by(narrow, "nothing", first=(page.id,)) == ["a1", "b1", "b2"]


def test_sources_that_are_embedded_leave_the_room_to_the_others(narrow: SearchStore) -> None:
    for number in range(5):
        narrow.add(f"old{number}", f"old {number}")
    narrow.search.store_chunk_embeddings(narrow.scope)
    narrow.add("new", "n1", "n2", "n3", "n4")
    assert embedded_by(narrow, "nothing") == ["n1", "n2", "n3"]


def test_embedding_resumes_where_it_stopped(store: SearchStore) -> None:
    store.add("a", "one", "two", "three")
    assert store.search.store_chunk_embeddings(store.scope) == 3
    store.add("b", "four")
    assert store.search.store_chunk_embeddings(store.scope) == 1
    assert store.search.store_chunk_embeddings(store.scope) == 0


def test_another_model_makes_another_space(tmp_path: Path) -> None:
    store = SearchStore(tmp_path)
    store.add("a", "the moon", "the sea")
    store.search.store_chunk_embeddings(store.scope)
    store.close()
    other = SearchStore(
        tmp_path, settings=Retrieval(embed_at_once=1), embedder=FakeEmbedder(dim=32, fingerprint="fake-32-1")
    )
    coverage = other.search.coverage(other.scope)
    assert coverage is not None
    assert coverage.embedded == 0
    assert other.found("moon") == ["/a"]
    assert warnings_of(other) == ["the embedding model has changed: 1 of 2 passages are not embedded with the new one"]
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


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300))
def test_no_query_is_an_error(store: SearchStore, query: str) -> None:
    store.add("a", 'the moon AND the sea NEAR("x") OR *')
    store.search.search_content_chunks(query.encode("utf-8", "replace").decode(), store.scope, limit=3)


@pytest.mark.parametrize(
    ("chosen", "everything", "small"),
    [
        (Retrieval(engine="auto"), "exact", "exact"),
        (Retrieval(engine="auto", exact_max_chunks=11), "chroma", "exact"),
        (Retrieval(engine="auto", exact_max_chunks=12), "exact", "exact"),
        (Retrieval(engine="chroma"), "chroma", "exact"),  # two of twelve passages: cheaper to compare than to ask for
        (Retrieval(engine="exact", exact_max_chunks=1), "exact", "exact"),
    ],
)
def test_the_engine_of_a_scope_follows_from_its_size(
    tmp_path: Path, chosen: Retrieval, everything: str, small: str
) -> None:
    store = SearchStore(tmp_path, settings=chosen)
    part = store.corpus.collection("part", create=True)
    for number in range(10):
        store.add(f"note{number}", f"note number {number}")
    for number in range(2):
        store.add(f"part{number}", f"part number {number}", collection=part)
    store.search.store_chunk_embeddings(Scope())
    assert (store.search.engine(Scope()), store.search.engine(Scope((part,)))) == (everything, small)
    store.close()
