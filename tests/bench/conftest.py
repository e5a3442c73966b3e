"""Stores that several benchmarks measure."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from asky.config.schema import Retrieval
from tests.support.large_store import CHUNKS_PER_SOURCE, build
from tests.support.search_store import SearchStore


@pytest.fixture(scope="session")
def large_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchStore]:
    """A store with 100,000 chunks of 200 words, 400 of them in the collection "session"."""
    folder = tmp_path_factory.mktemp("large")
    store = build(folder, 100_000 // CHUNKS_PER_SOURCE, settings=Retrieval(engine="exact"))
    yield store
    store.close()
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty home folder."""
    return tmp_path_factory.mktemp("home")
