"""What the tests of the server share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint
from tests.support.lab import Lab, open_lab


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with Endpoint("The harbour is deep.") as endpoint:
        yield open_lab(tmp_path, endpoint)
