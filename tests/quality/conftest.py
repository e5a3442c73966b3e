"""Quality is measured on data that is not part of the project: `make quality DATA=FOLDER`."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_folder(request: pytest.FixtureRequest) -> Path:
    """The folder of development sets."""
    given = request.config.getoption("--data")
    if not given:
        pytest.skip("measured with --data FOLDER only")
    return Path(given)
