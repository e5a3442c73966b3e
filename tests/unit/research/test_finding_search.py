"""Findings are found by meaning, by words without a model, and again after the model has changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from asky.errors import NotConfigured, ProviderError
from asky.events import Warned
from asky.research import vector_store_finding_ops as ops
from asky.storage.findings import EVERY_FINDING, FindingScope
from asky.storage.sessions import SessionStore
from tests.support.embedding import FakeEmbedder
from tests.support.search_store import SearchStore


@pytest.fixture
def store(tmp_path: Path):
    opened = SearchStore(tmp_path)
    yield opened
    opened.close()


def keep(store: SearchStore, *texts: str, session: str | None = None) -> None:
    for text in texts:
        store.search.store_finding(text, session_id=session, run_id=None)


def found(store: SearchStore, query: str, scope: FindingScope = EVERY_FINDING, limit: int = 5) -> list[str]:
    return [finding.text for finding, _ in store.search.search_findings(query, scope, limit=limit)]


def test_findings_come_back_by_meaning_and_stay_in_their_session(store: SearchStore) -> None:
    sessions = SessionStore(store.database)
    mine, yours = sessions.open("mine", mode="research").id, sessions.open("yours", mode="research").id
    keep(store, "the moon makes the tides", "yeast makes bread rise", session=mine)
    keep(store, "the moon is far away", session=yours)
    assert found(store, "moon tides", FindingScope("recalled", mine)) == ["the moon makes the tides"]
    assert found(store, "the moon") == ["the moon makes the tides", "the moon is far away"]


def test_scores_are_cosines_in_order_and_the_newer_of_two_equals_comes_first(store: SearchStore) -> None:
    keep(store, "moon tides", "tides moon", "moon tides sea")
    hits = store.search.search_findings("moon tides", EVERY_FINDING, limit=2)
    assert [finding.text for finding, _ in hits] == ["tides moon", "moon tides"]
    assert [round(score, 4) for _, score in hits] == [1.0, 1.0]
    assert found(store, "moon tides", limit=9)[-1] == "moon tides sea"


def test_what_is_below_the_floor_is_not_found(store: SearchStore) -> None:
    keep(store, "yeast makes bread rise")
    vector = store.embedder.embed_query("moon tides bread sea salt harbour")
    score = float(vector @ store.embedder.embed_query("yeast makes bread rise"))
    assert 0 < score < ops.RELEVANCE_FLOOR
    assert found(store, "moon tides bread sea salt harbour") == []


def test_without_a_model_the_share_of_the_querys_terms_decides(tmp_path: Path) -> None:
    store = SearchStore(tmp_path, embedder=NotConfigured("no model"))
    keep(store, "The moon makes tides.", "A moon.", "Moons, and the TIDES they make", "Bread.")
    hits = store.search.search_findings("what tides does the moon make", EVERY_FINDING, limit=5)
    assert [(finding.text, score) for finding, score in hits] == [
        ("Moons, and the TIDES they make", 1.0),
        ("The moon makes tides.", 1.0),
    ]
    assert found(store, "what is the") == []
    assert found(store, "") == []
    store.close()


def test_what_was_kept_without_a_model_is_later_found_by_meaning_and_embedded_once(tmp_path: Path) -> None:
    bare = SearchStore(tmp_path, embedder=NotConfigured("no model"))
    keep(bare, "the moon makes the tides")
    assert found(bare, "moon tides") == ["the moon makes the tides"]
    bare.close()
    later = SearchStore(tmp_path)
    assert found(later, "moon tides") == ["the moon makes the tides"]
    assert found(later, "tides moon") == ["the moon makes the tides"]
    assert later.embedder.embedded == ["the moon makes the tides"]
    later.close()


def test_another_model_embeds_in_bulk_what_the_last_one_had(tmp_path: Path) -> None:
    first = SearchStore(tmp_path)
    keep(first, *(f"moon tide {number}" for number in range(300)))
    first.close()
    second = SearchStore(tmp_path, embedder=FakeEmbedder(dim=32, fingerprint="another"))
    assert len(found(second, "moon tide", limit=400)) == 300
    assert len(second.embedder.embedded) == 300
    assert len(found(second, "moon tide", limit=400)) == 300
    assert len(second.embedder.embedded) == 300
    second.close()


def test_a_search_embeds_so_many_and_finds_the_rest_by_words(tmp_path: Path) -> None:
    bare = SearchStore(tmp_path, embedder=NotConfigured("no model"))
    most = ops.MAX_EMBEDDED
    with bare.database.write():
        keep(bare, "the oldest moon tide", *(f"bread {number}" for number in range(most)))
    bare.close()
    later = SearchStore(tmp_path)
    assert found(later, "moon tide", limit=1) == ["the oldest moon tide"]
    assert len(later.embedder.embedded) == most
    assert Warned("findings not embedded yet and found by keywords only: 1", topic="findings") in later.heard
    assert found(later, "moon tide", limit=1) == ["the oldest moon tide"]
    assert len(later.embedder.embedded) == most + 1
    later.close()


def test_a_damaged_vector_is_made_anew(store: SearchStore) -> None:
    keep(store, "the moon makes the tides")
    with store.database.write() as connection:
        connection.execute("UPDATE finding SET vector = x'00'")
    assert found(store, "moon tides") == ["the moon makes the tides"]
    assert store.findings.without_vector(EVERY_FINDING, 1, store.embedder.dim) == []


def test_a_store_that_is_only_read_is_searched_all_the_same(tmp_path: Path) -> None:
    bare = SearchStore(tmp_path, embedder=NotConfigured("no model"))
    keep(bare, "the moon makes the tides", "bread")
    bare.close()
    later = SearchStore(tmp_path)
    later.database.read_only = True
    with later.database.read() as connection:
        connection.execute("PRAGMA query_only=ON")
    assert found(later, "moon tides") == ["the moon makes the tides"]
    later.close()


def test_a_vector_that_is_not_finite_is_not_kept(tmp_path: Path) -> None:
    class Broken(FakeEmbedder):
        def embed(self, texts, *, progress=None):  # noqa: ARG002 - the port's
            return np.full((len(texts), self.dim), np.nan, dtype=np.float32)

    store = SearchStore(tmp_path, embedder=Broken())
    with pytest.raises(ProviderError, match="not finite"):
        keep(store, "the moon")
    assert store.findings.recent() == []
    store.close()


def test_the_same_words_are_not_embedded_twice(store: SearchStore) -> None:
    keep(store, "the moon", "the moon")
    assert store.embedder.embedded == ["the moon"]
    assert len(store.findings.recent()) == 1
