"""The fake embedder keeps the contract that tests rely on."""

from __future__ import annotations

import pytest

from asky.research.embedding.embedder import Embedder
from tests.support.embedding import FakeEmbedder
from tests.support.embedding_contract import EmbedderContract


class TestFakeEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return FakeEmbedder()


def test_the_fake_tells_what_it_was_given() -> None:
    embedder = FakeEmbedder()
    embedder.embed(["a", "b"])
    embedder.embed_query("c")
    assert (embedder.embedded, embedder.queries) == (["a", "b"], ["c"])
