"""Fixtures that every test may use."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# A test means the same each time it is run; `make fuzz` looks further, with other examples each time.
settings.register_profile("settled", derandomize=True, deadline=None)
settings.register_profile("fuzz", derandomize=False, deadline=None)
settings.load_profile("settled")


def pytest_configure() -> None:
    """Hear Ctrl-C as in a terminal: what a shell puts into the background ignores it, and so would every child."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--data", default="", help="A folder of development sets, for the tests of quality.")


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for exported embedding models, the same for all tests of a run: each model is exported once."""
    root = tmp_path_factory.getbasetemp()
    # Parallel workers have a folder each below one that they share; the client's lock keeps them from exporting twice.
    return (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "model-cache"
