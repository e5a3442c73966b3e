"""How long a connection may take to send a request, and which one makes room for another."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import pytest

from asky.app.serving.connections import ExhaustionLog, most_strangers
from asky.app.serving.guard import HttpGuard, known_hosts
from asky.app.serving.http import open_socket, serve_http

pytestmark = pytest.mark.anyio

TOKEN = "a-token-of-the-tests"
HEAD_S = 0.5
HALF_A_HEAD = b"GET / HTTP/1.1\r\nX: "


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Client:
    """One connection to a server on a port."""

    def __init__(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._host = f"127.0.0.1:{port}".encode()

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def request(self, path: bytes = b"/", *more: bytes, shows_token: bool = True) -> None:
        """Send a whole head."""
        shown = b"Authorization: Bearer " + TOKEN.encode() if shows_token else b"X: y"
        await self.send(b"\r\n".join([b"GET " + path + b" HTTP/1.1", b"Host: " + self._host, shown, *more, b"", b""]))

    async def reply(self) -> bytes:
        """The next reply, whose body is `{}` or an error of one line."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return head + await self.reader.readexactly(size)

    async def is_closed(self) -> bool:
        """Whether the server closes the connection, without another word, before a second is over."""
        with anyio.move_on_after(1.0), suppress(ConnectionResetError):
            assert await self.reader.read(1) == b""
            return True
        return False


@asynccontextmanager
async def server(released: anyio.Event | None = None, head_s: float = HEAD_S) -> AsyncIterator[int]:
    """The port of a server behind a guard. `/slow` is answered once `released` is set."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for kind in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{kind}.complete"})
            return
        if scope["path"] == "/slow":
            assert released is not None
            await released.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"{}"})

    listening, started = open_socket("127.0.0.1", 0), anyio.Event()
    port = int(listening.getsockname()[1])
    guarded = HttpGuard(app, TOKEN, known_hosts("127.0.0.1", port), is_open=lambda _, path: path == "/open")
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: serve_http(guarded, listening, started=started.set, head_s=head_s))
        await started.wait()
        yield port
        group.cancel_scope.cancel()


@asynccontextmanager
async def client(port: int) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Client(port, reader, writer)
    finally:
        writer.close()


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD])
async def test_a_connection_that_sends_no_whole_head_is_closed(sent: bytes) -> None:
    async with server() as port, client(port) as other:
        await other.send(sent)
        assert await other.is_closed()


@pytest.mark.parametrize("shows_token", [True, False])
async def test_so_is_one_whose_next_head_stays_away_after_a_reply(shows_token: bool) -> None:
    async with server() as port, client(port) as other:
        await other.request(shows_token=shows_token)
        await other.reply()
        await other.send(HALF_A_HEAD)  # which ends the limit of a connection that is kept
        assert await other.is_closed()


async def test_the_rest_of_a_body_that_was_refused_does_not_keep_a_connection_open() -> None:
    async with server() as port, client(port) as other:
        await other.request(b"/", b"Content-Length: 1000", shows_token=False)
        assert b" 401 " in await other.reply()
        await other.send(b"x")
        assert await other.is_closed()


async def test_a_head_that_comes_in_drops_has_no_longer() -> None:
    async with server() as port, client(port) as other, anyio.create_task_group() as group:

        async def drip() -> None:
            with suppress(ConnectionError):
                while True:
                    await other.send(b"X")
                    await anyio.sleep(HEAD_S / 10)

        group.start_soon(drip)
        assert await other.is_closed()
        group.cancel_scope.cancel()


async def test_a_reply_may_take_longer_and_each_head_has_its_own_time() -> None:
    released = anyio.Event()
    async with server(released) as port, client(port) as other:
        await other.request(b"/slow")
        assert not await other.is_closed()
        released.set()
        assert b" 200 " in await other.reply()
        for _ in range(4):
            await anyio.sleep(HEAD_S * 0.4)
            await other.request()
            assert b" 200 " in await other.reply()


async def test_heads_that_come_together_are_each_answered() -> None:
    async with server() as port, client(port) as other:
        for _ in range(3):
            await other.request()
        for _ in range(3):
            assert b" 200 " in await other.reply()


async def test_the_oldest_connection_without_the_token_makes_room_and_none_that_showed_it() -> None:
    released = anyio.Event()
    async with server(released, head_s=60) as port, client(port) as known, client(port) as oldest:
        await known.request(b"/slow")
        await oldest.send(HALF_A_HEAD)
        crowd = [await asyncio.open_connection("127.0.0.1", port) for _ in range(most_strangers(1024))]
        assert await oldest.is_closed()
        released.set()
        assert b" 200 " in await known.reply()
        async with client(port) as newest:
            await newest.request(b"/open", shows_token=False)
            assert b" 200 " in await newest.reply()
        for _, writer in crowd:
            writer.close()


def test_a_quarter_of_the_descriptors_is_for_strangers_up_to_a_number() -> None:
    assert [most_strangers(each) for each in (1, 128, 1024, 20_000)] == [1, 32, 256, 256]


async def test_the_end_of_the_descriptors_is_said_once_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    loop, log = asyncio.get_running_loop(), ExhaustionLog()
    context = {"message": "socket.accept() out of system resource", "socket": object()}
    for _ in range(1000):
        log(loop, context | {"exception": OSError(errno.EMFILE, "Too many open files")})
    assert capsys.readouterr().err == "asky: new connections wait: too many open files\n"
