"""Twins of search services: loopback servers that answer as the real ones do, the odd parts included.

    with BraveTwin(key="key-1") as twin:                 # http, port 0, in a thread of its own
        search(base_url=twin.base_url)                   # sync, async or another process
    assert twin.faults == []                             # what the real service would have refused
    assert twin.gaps() ...                               # seconds between the requests that came

A twin of a service is a subclass that says

    base_path            what follows the host in the service's base URL
    refusal(request)     the service's own refusal of a request that it would not take, noted in `faults`; else `None`
    answer(request)      its normal answer, from `rows` (the twin's default ones, or those of the constructor)
    empty(request)       its answer when it finds nothing
    sparse(request)      an answer whose optional keys are absent, null or of another type
    failure(kind, request)   "bad_key", "quota", "throttle" and "echo" (an error that repeats the key) in its own words

What is played for each request is one of these scenarios, or a `Reply`, or a function of the `Request` that returns
one; `twin.play(a, b, c)` plays a, then b, then c for ever. A refused request takes its scenario along:

    normal empty sparse                      see above
    bad_key quota throttle echo              see above; `Throttled(headers)` is `throttle` with headers
    error500 html502 html403                 failures of the service's own, or of what stands before it
    captcha200 captcha202                    a page for people in place of an answer
    not_json redirect                        an answer that is none; an address elsewhere
    cut bom latin1 gzip bomb                 the normal answer: half of it, with a mark before it, in ISO 8859-1 (and
                                             saying so), compressed; 64 MB instead, compressed
    silent                                   nothing at all until `release()`

`requests` are the requests as they came, refused ones too, each with the time `at` which it came (on `time.monotonic`).
`wait_for_requests(n)` waits for them.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tests.support.endpoint_script import Wire
from tests.support.endpoint_wire import Connection, Gates, PeerLeft, send, stop_accepting

_WAIT_S = 300.0
_CAPTCHA = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Are you a robot?</body></html>"
_BAD_GATEWAY = b"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center>nginx</center></body></html>"


@dataclass(frozen=True, slots=True)
class Request:
    """A request that came. `path` is without the query; `params` are its decoded parameters, as lists; `json` is the
    body, `{}` where it is none."""

    method: str
    path: str
    params: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes
    json: Mapping[str, Any]
    at: float

    def param(self, name: str) -> str | None:
        """The first parameter of this name."""
        return next(iter(self.params.get(name, ())), None)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. `content` is bytes, text, or a value that is sent as JSON."""

    content: Any
    status: int = 200
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    wire: Wire = field(default_factory=Wire)

    @property
    def body(self) -> bytes:
        if isinstance(self.content, bytes):
            return self.content
        text = self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)
        return text.encode()


@dataclass(frozen=True, slots=True)
class Throttled:
    """The service's own throttling, with these headers, such as `("Retry-After", "1")`."""

    headers: tuple[tuple[str, str], ...] = ()


Scenario: TypeAlias = "str | Reply | Throttled | Callable[[Request], Reply]"


class Twin:
    """The twin of a service; use it as a context manager. See the module."""

    base_path = ""

    def __init__(self, *, rows: Sequence[Any] | None = None, key: str | None = None) -> None:
        self.rows = rows
        self.key = key
        self.requests: list[Request] = []
        self.faults: list[str] = []
        self._script: tuple[Scenario, ...] = ("normal",)
        self._played = 0
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name=type(self).__name__)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._gates: Gates
        self._stopping: asyncio.Event
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0

    # what a service's own twin says

    def refusal(self, request: Request, /) -> Reply | None:
        """The service's refusal of what it does not take."""
        raise NotImplementedError

    def answer(self, request: Request, /) -> Reply:
        """The normal answer."""
        raise NotImplementedError

    def empty(self, request: Request, /) -> Reply:
        """The answer when nothing is found."""
        raise NotImplementedError

    def sparse(self, request: Request, /) -> Reply:
        """An answer without its optional parts."""
        raise NotImplementedError

    def failure(self, kind: str, request: Request, /) -> Reply:
        """A failure in the service's words."""
        raise NotImplementedError

    # for tests

    @property
    def base_url(self) -> str:
        """The URL that a client is configured with; no slash at the end."""
        return f"http://{self.host}{self.base_path}"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._port}"

    def play(self, *script: Scenario) -> None:
        """Begin another script; what was recorded stays."""
        assert script, "a script has a scenario"
        self._script, self._played = script, 0

    def gaps(self) -> list[float]:
        """The seconds between one request and the next."""
        return [later.at - earlier.at for earlier, later in itertools.pairwise(self.requests)]

    def release(self) -> None:
        """Let silent replies go on."""
        self._loop.call_soon_threadsafe(self._gates.released.set)

    def wait_for_requests(self, count: int) -> None:
        """Until that many requests have come. Raises `TimeoutError` after five minutes."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.requests) >= count, _WAIT_S):
                raise TimeoutError(f"no {count} requests within {_WAIT_S:.0f} s")

    def __enter__(self) -> Any:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    # in the thread of the server

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._gates = Gates()
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        await stop_accepting(server)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = Connection(0, reader, writer)
        try:
            while (came := await connection.read_request()) is not None:
                url = urlsplit(came.path)
                params = parse_qs(url.query, keep_blank_values=True)
                request = Request(
                    came.method, url.path, params, came.headers, came.body, came.json, at=time.monotonic()
                )
                if not await self._write(connection, self._next_reply(request)):
                    break
        except PeerLeft:
            pass
        except asyncio.CancelledError:
            pass  # the server stops; a task that ends as cancelled would be reported
        finally:
            await connection.close()
            self._tasks.discard(task)

    def _next_reply(self, request: Request) -> Reply:
        with self._changed:
            self.requests.append(request)
            scenario = self._script[min(self._played, len(self._script) - 1)]
            self._played += 1
            self._changed.notify_all()
        try:
            refused = self.refusal(request)
            if refused is not None:
                self.faults.append(f"{request.method} {request.path}: {refused.content}")
                return refused
            if isinstance(scenario, str):
                return self._perform(scenario, request)
            if isinstance(scenario, Throttled):
                return replace(self.failure("throttle", request), headers=scenario.headers)
            return scenario if isinstance(scenario, Reply) else scenario(request)
        except Exception as error:  # noqa: BLE001 - a fault of the twin or the test's function must reach the test
            self.faults.append(f"the twin failed: {error!r}")
            return Reply("the twin failed", status=500, content_type="text/plain")

    def _perform(self, scenario: str, request: Request) -> Reply:
        if scenario in ("normal", "empty", "sparse"):
            return {"normal": self.answer, "empty": self.empty, "sparse": self.sparse}[scenario](request)
        if scenario in ("bad_key", "quota", "throttle", "echo"):
            return self.failure(scenario, request)
        if scenario in _ALIKE:
            return _ALIKE[scenario]
        return _damaged(scenario, self.answer(request))

    async def _write(self, connection: Connection, reply: Reply) -> bool:
        headers = [("Content-Type", reply.content_type), *reply.headers]
        body = reply.body
        return await send(connection, reply.status, headers, (body,), reply.wire, self._gates, length=len(body))


_PAGE = "text/html; charset=utf-8"
_ALIKE: Mapping[str, Reply] = {
    "error500": Reply({"error": "internal"}, status=500),
    "html502": Reply(_BAD_GATEWAY, status=502, content_type="text/html"),
    "html403": Reply(_CAPTCHA, status=403, content_type=_PAGE),
    "captcha200": Reply(_CAPTCHA, content_type=_PAGE),
    "captcha202": Reply(_CAPTCHA, status=202, content_type=_PAGE),
    "not_json": Reply("<<< {", content_type="application/json"),
    "redirect": Reply("", status=302, headers=(("Location", "http://10.0.0.1/elsewhere?key=secret"),)),
    "silent": Reply({}, wire=Wire(silent_before_headers=True)),
}


def _damaged(scenario: str, reply: Reply) -> Reply:
    """The reply as something on its way has left it."""
    body = reply.body
    if scenario == "cut":
        return replace(reply, wire=Wire(cut_after=len(body) // 2))
    if scenario == "bom":
        return replace(reply, content=b"\xef\xbb\xbf" + body)
    if scenario == "latin1":
        media_type = reply.content_type.partition(";")[0]
        encoded = body.decode().encode("latin-1", "replace")
        return replace(reply, content=encoded, content_type=f"{media_type}; charset=ISO-8859-1")
    if scenario == "gzip":
        return _encoded(reply, gzip.compress(body))
    if scenario == "bomb":
        return _encoded(reply, _bomb(64 << 20))
    raise ValueError(f"there is no scenario called {scenario!r}")


def _encoded(reply: Reply, body: bytes) -> Reply:
    return replace(reply, content=body, headers=(*reply.headers, ("Content-Encoding", "gzip")))


def _bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    piece = b" " * (1 << 20)
    return b"".join(packer.compress(piece) for _ in range(size >> 20)) + packer.flush()
