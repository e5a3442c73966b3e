"""A connection that is given up in the middle of its TLS handshake is closed, whoever asked."""

from __future__ import annotations

import gc
import socket
import warnings
from collections.abc import Awaitable, Callable, Iterator

import anyio
import pytest

from asky.config.schema import Timeouts
from asky.net.retry import Waiting
from asky.search.catalog import make_provider
from asky.search.port import SearchRequest
from tests.support.adapters import configured_model, hear
from tests.support.fetching import open_fetcher
from tests.support.searching import search_context, search_settings


@pytest.fixture
def silent() -> Iterator[str]:
    """The authority of a server that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def fetch(authority: str) -> Awaitable[object]:
    return open_fetcher(allow=[authority]).fetch(f"https://{authority}/a")


def ask_model(authority: str) -> Awaitable[object]:
    return hear(configured_model(f"https://{authority}/v1", timeouts=Timeouts(connect_s=60)))


def search(authority: str) -> Awaitable[object]:
    shared = search_context({"TAVILY_API_KEY": "tvly-0123456789"}, waiting=Waiting())
    return make_provider("tavily", search_settings("tavily", f"https://{authority}"), shared).search(SearchRequest("a"))


@pytest.mark.few(1)
@pytest.mark.parametrize("ask", [fetch, ask_model, search])
def test_a_connection_given_up_in_its_handshake_is_closed(ask: Callable[[str], Awaitable[object]], silent: str) -> None:
    async def main() -> bool:
        with anyio.move_on_after(1.0) as scope:
            await ask(silent)
        return scope.cancelled_caught

    gc.collect()
    with warnings.catch_warnings(record=True) as left_open:
        warnings.simplefilter("always", ResourceWarning)
        assert anyio.run(main)
        gc.collect()
    assert [str(each.message) for each in left_open] == []
