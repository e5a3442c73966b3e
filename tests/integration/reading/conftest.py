"""What the tests of reading share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _readers(own_readers: None) -> None:
    """Start the processes that a test reads with for it alone."""
