"""HTTP/1.1 on one connection, written by hand so that a test decides about every byte."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Callable, Iterable, Iterator

from tests.support.endpoint_script import Request, Wire

_REASONS = {
    200: "OK",
    302: "Found",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    429: "Too Many Requests",
}
_MAX_HEAD_BYTES = 64 * 1024


class PeerLeft(Exception):
    """The client closed the connection."""


class Connection:
    """One client: reads its requests and writes the replies, noticing at once when it leaves."""

    def __init__(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.number = number
        self._reader = reader
        self._writer = writer
        self._next_byte = asyncio.ensure_future(reader.read(1))

    async def read_request(self) -> Request | None:
        """The next request, or `None` when the client has left or does not speak HTTP, as with TLS."""
        try:
            first = await self._next_byte
            if not first.isalpha():
                return None
            head = (first + await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split("\r\n", 1)[0].split(" ", 2)
            pairs = (line.split(":", 1) for line in head.split("\r\n")[1:] if ":" in line)
            headers = {name.strip().lower(): value.strip() for name, value in pairs}
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        self._next_byte = asyncio.ensure_future(self._reader.read(1))
        return Request(self.number, method, path, headers, body, _read_body(body))

    async def wait_for(self, event: asyncio.Event | asyncio.Semaphore) -> None:
        """Wait for an event or a permit. Raises `PeerLeft` when the client leaves first."""
        waiting = asyncio.ensure_future(event.wait() if isinstance(event, asyncio.Event) else event.acquire())
        try:
            await asyncio.wait({waiting, self._next_byte}, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                raise PeerLeft
        finally:
            waiting.cancel()

    async def pause(self, seconds: float) -> None:
        """Let time pass. Raises `PeerLeft` as soon as the client leaves."""
        await asyncio.wait({self._next_byte}, timeout=seconds)
        if self._next_byte.done() and not self._gone_on():
            raise PeerLeft

    async def send_head(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """The status line and the headers."""
        lines = [
            f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}",
            *(f"{name}: {value}" for name, value in headers),
        ]
        await self.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def write(self, data: bytes) -> None:
        """Bytes on the wire. Raises `PeerLeft` when nobody takes them."""
        if self._next_byte.done() and not self._gone_on():
            raise PeerLeft
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            raise PeerLeft from None

    def _gone_on(self) -> bool:
        """Whether the byte that arrived begins another request."""
        return self._next_byte.exception() is None and bool(self._next_byte.result())

    def reset(self) -> None:
        """Let the close that follows be a reset."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def close(self) -> None:
        """Close the connection."""
        self._next_byte.cancel()
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            await self._next_byte
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


async def stop_accepting(server: asyncio.Server) -> None:
    """Close `server` once the connections that it has just accepted are with their handlers, which close them.

    A server that is closed between the two leaves such a connection open, for a later test to be blamed for it.
    """
    loop = asyncio.get_running_loop()
    for each in server.sockets:
        loop.remove_reader(each.fileno())
    for _ in range(10):  # from accepting a connection to its handler the loop takes four steps
        await asyncio.sleep(0)
    server.close()


class Gates:
    """What a test holds back: bytes until `released`, pieces until a permit of `steps`."""

    def __init__(self) -> None:
        self.released = asyncio.Event()
        self.steps = asyncio.Semaphore(0)


async def send(
    connection: Connection,
    status: int,
    headers: list[tuple[str, str]],
    chunks: Iterable[bytes],
    wire: Wire,
    gates: Gates,
    *,
    length: int | None = None,
    sent: Callable[[int], None] = lambda _: None,
) -> bool:
    """Write a response and say whether the connection can be used again. Chunked unless its `length` is known."""
    if wire.silent_before_headers:
        await connection.wait_for(gates.released)
    framing = ("Transfer-Encoding", "chunked") if length is None else ("Content-Length", str(length))
    await connection.send_head(status, [*headers, framing])
    for piece in _arranged(chunks, wire):
        if piece is None:
            await connection.wait_for(gates.released)
            continue
        if wire.gated:
            await connection.wait_for(gates.steps)
        if wire.pause_s:
            await connection.pause(wire.pause_s)
        await connection.write(b"%x\r\n%b\r\n" % (len(piece), piece) if length is None else piece)
        sent(len(piece))
    if wire.cut_after is not None and wire.cut == "reset":
        connection.reset()
        return False
    if wire.cut_after is not None and wire.cut == "close":
        return False
    if length is None:
        await connection.write(b"0\r\n\r\n")
    return True


def _arranged(chunks: Iterable[bytes], wire: Wire) -> Iterator[bytes | None]:
    """The pieces in the sizes that the wire wants, `None` where it falls silent, none after its cut."""
    position = 0
    silent = wire.silent_after
    for piece in _resized(chunks, wire.write_bytes):
        left = piece
        if wire.cut_after is not None:
            left = left[: max(0, wire.cut_after - position)]
        if silent is not None and position + len(left) >= silent:
            before, left = left[: silent - position], left[silent - position :]
            if before:
                yield before
            yield None
            position += len(before)
            silent = None
        if left:
            yield left
        position += len(left)
        if wire.cut_after is not None and position >= wire.cut_after:
            return


def _resized(chunks: Iterable[bytes], size: int | None) -> Iterator[bytes]:
    if size is None:
        yield from chunks
        return
    for chunk in chunks:
        yield from (chunk[start : start + size] for start in range(0, len(chunk), size))


def _read_body(body: bytes) -> dict[str, object]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
