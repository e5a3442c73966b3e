"""Runs without the network beside runs with it, in one process."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from asky import AskRequest, Asky, SyncAsky, load_config
from asky.events import Event, Warned
from tests.support.lab import ASKED, SECRET, Lab

pytestmark = pytest.mark.anyio


@dataclass
class Hub:
    """A model hub that closes every connection, and counts them."""

    url: str = ""
    connections: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    found = Hub()

    class Refusing(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with found.lock:
                found.connections += 1

    with ExitStack() as closing:
        server = closing.enter_context(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusing))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        closing.callback(thread.join)
        closing.callback(server.shutdown)
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setenv("HF_ENDPOINT", found.url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield found


def open_asky(lab: Lab, listen: list[Event] | None = None) -> Asky:
    """Return the use cases with an embedding model that only the hub has."""
    environ = lab.environ(ASKY_RESEARCH__EMBEDDING__MODEL="nobody/has-it")
    config = load_config(environ=environ, cwd=lab.home)
    return Asky.open(config, environ=environ, listen=(listen if listen is not None else []).append)


async def test_a_run_without_the_network_takes_it_from_no_other_run(lab: Lab, hub: Hub) -> None:
    async with open_asky(lab) as asky:
        for offline, why in ((True, "downloads are off"), (False, hub.url), (True, "downloads are off")):
            before = hub.connections
            answer = await asky.chat.ask(AskRequest(question=ASKED, documents=(lab.private,), offline=offline))
            assert SECRET in answer.text
            assert [each for each in answer.warnings if why in each]
            assert (hub.connections == before) is offline


async def test_runs_with_and_without_the_network_at_once(lab: Lab, hub: Hub) -> None:
    warnings: dict[bool, str] = {}

    async def ask(asky: Asky, offline: bool) -> None:
        request = AskRequest(question=ASKED, documents=(lab.private,), session=f"s{offline}", offline=offline)
        warnings[offline] = " ".join((await asky.chat.ask(request)).warnings)

    async with open_asky(lab) as asky, anyio.create_task_group() as group:
        for offline in (True, False):
            group.start_soon(ask, asky, offline)
    assert "downloads are off" in warnings[True]
    assert hub.url in warnings[False]


async def test_documents_are_added_without_the_network_and_later_with_it(lab: Lab, hub: Hub) -> None:
    heard: list[Event] = []
    async with open_asky(lab, heard) as asky:
        await asky.corpus.add((lab.private,), offline=True)
        assert hub.connections == 0
        await asky.corpus.sync()
        assert hub.connections > 0
    messages = [each.message for each in heard if isinstance(each, Warned)]
    assert "downloads are off" in messages[0]
    assert hub.url in messages[-1]


def test_every_search_warns_of_a_model_that_is_not_there(lab: Lab, tmp_path: Path) -> None:
    heard: list[Event] = []
    config = load_config(environ=lab.environ(), cwd=tmp_path)
    with SyncAsky.open(config, environ=lab.environ(), listen=heard.append) as asky:
        asky.add(lab.private)
        for _ in range(2):
            heard.clear()
            asky.search("harbour code")
            assert sum(isinstance(each, Warned) for each in heard) == 1
