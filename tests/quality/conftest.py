"""Quality is measured on data that is not part of the project: `make quality DATA=FOLDER`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.quality.corpora import Corpora, cache_folder


@pytest.fixture(scope="session")
def data_folder(request: pytest.FixtureRequest) -> Path:
    """The folder of development sets."""
    given = request.config.getoption("--data")
    if not given:
        pytest.skip("measured with --data FOLDER only")
    return Path(given)


@pytest.fixture(scope="session")
def corpora(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpora]:
    """The sets as stores, each filled once."""
    opened = Corpora(data_folder, cache_folder(tmp_path_factory.getbasetemp() / "quality"))
    yield opened
    opened.close()
