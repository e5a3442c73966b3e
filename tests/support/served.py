"""A server of asky on loopback, and its clients."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.from_thread import start_blocking_portal
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from asky.app.asky import Asky
from asky.app.serving.research import ResearchAgent
from asky.server.app import ServerSettings, known_hosts, open_socket, serve

TOKEN = "a-token-of-the-tests"
BEARER = {"authorization": f"Bearer {TOKEN}"}


@dataclass
class Served:
    """A server; `port` is where it listens, and `http` a client that shows the token."""

    port: int
    http: httpx2.AsyncClient = field(init=False)
    running: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)

    def __post_init__(self) -> None:
        self.http = httpx2.AsyncClient(headers=BEARER, timeout=60, base_url=self.url)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def get(self, path: str, *, status: int = 200) -> Any:
        """The object at a path."""
        return _value(await self.http.get(path), status)

    async def post(self, path: str, body: Mapping[str, Any] | None = None, *, status: int = 200) -> Any:
        """The object that a request returns."""
        reply = await self.http.post(path) if body is None else await self.http.post(path, json=body)
        return _value(reply, status)

    async def start(self, query: str = "Why are there tides?", **more: Any) -> str:
        """The id of new research."""
        started = await self.post("/api/research/start", {"query": query, "privacy_mode": "local_only", **more})
        assert started["status"] == "started"
        return str(started["session_id"])

    def known_run(self) -> str:
        """The id of new research, from another thread than that of the server."""
        body = {"query": "Why are there tides?"}
        return str(httpx2.post(f"{self.url}/api/research/start", json=body, headers=BEARER).json()["session_id"])

    async def end(self) -> None:
        """Have the server end, as a signal does, and wait for it."""
        self.running.cancel()
        await self.ended.wait()

    @asynccontextmanager
    async def websocket(
        self, run_id: str, after: int = 0, headers: Mapping[str, str] = BEARER, **options: Any
    ) -> AsyncIterator[ClientConnection]:
        """A connection that follows a run."""
        shown = {name: value for name, value in headers.items() if name != "host"}
        url = f"ws://{headers.get('host', f'127.0.0.1:{self.port}')}/ws/research/{run_id}?after={after}"
        place = {"host": "127.0.0.1", "port": self.port, "proxy": None}
        async with connect(url, additional_headers=shown, **place, **options) as connection:
            yield connection

    async def followed(self, run_id: str, after: int = 0) -> list[dict[str, Any]]:
        """All messages about a run, to its end."""
        async with self.websocket(run_id, after) as connection:
            return [json.loads(each) async for each in received(connection)]


async def received(connection: ClientConnection) -> AsyncIterator[str | bytes]:
    """Yield what comes until a connection is closed, however that is."""
    with suppress(ConnectionClosed):
        while True:
            yield await connection.recv()


async def close_code(connection: ClientConnection) -> int | None:
    """Return the code that a connection is closed with, or `None` if it is lost."""
    async for _ in received(connection):
        pass
    return connection.protocol.close_rcvd.code if connection.protocol.close_rcvd is not None else None


def _value(reply: httpx2.Response, status: int) -> Any:
    assert reply.status_code == status, reply.text
    return reply.json()


@asynccontextmanager
async def serving(
    asky: Asky, agent: ResearchAgent | None = None, *, host: str = "127.0.0.1", **settings: Any
) -> AsyncIterator[Served]:
    """A server over `asky` on a free port."""
    listening, started = open_socket(host, 0), anyio.Event()
    port = int(listening.getsockname()[1])
    made = ServerSettings(token=TOKEN, hosts=known_hosts(host, port), environ={"HOME": "/home/nobody"}, **settings)
    served = Served(port)

    async def run() -> None:
        with served.running:
            await serve(asky, listening, made, agent=agent or asky.agent, started=started.set)
        served.ended.set()

    async with anyio.create_task_group() as group, served.http:
        group.start_soon(run)
        await started.wait()
        try:
            yield served
        finally:
            served.running.cancel()


@contextmanager
def serving_in_thread(
    asky: Asky, agent: ResearchAgent | None = None, *, documents: Sequence[Path] = (), **settings: Any
) -> Iterator[Served]:
    """A server in a thread of its own, for clients that are not asynchronous; `documents` are added first."""
    with start_blocking_portal() as portal:
        if documents:
            portal.call(asky.corpus.add, documents)
        with portal.wrap_async_context_manager(serving(asky, agent, **settings)) as served:
            yield served
