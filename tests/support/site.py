"""A web site on loopback: it serves the pages that a test gives it, does every kind of damage, and notes requests.

    with Site() as site:
        site.page("/a", html="<p>The mill burnt in 1911.</p>", delay_s=0.3)
        site.page("/report.pdf", body=data)                 # the media type follows from the name, or say media_type=
        site.page("/old", status=404)
        site.page("/b", html="...", etag='"1"', last_modified="...")     # answers 304 to who has it already
        site.redirect("/here", "/a")
        site.robots("User-agent: *\nDisallow: /private")    # without this, robots.txt is a 404
        site.script("/odd", answer)                         # async def answer(asked: Asked, wire: Wire) -> None
        fetch(site.url("/a")), fetch(site.url("/damage/gzip_cut"))       # names: tests.support.site_damage.DAMAGES
        site.requests                                       # every Asked, in order: path, headers, at (monotonic)
        site.reached                                        # of every connection, the address it was made to

The site's addresses are private ones: tests allow `site.authority` ("127.0.0.1:PORT") under `network.allow_private`.
`Site(host="127.0.0.2")` is another host to a fetcher. A page may be changed while the site runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip as gzip_module
import itertools
import mimetypes
import socket
import ssl
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import unquote

from tests.support.endpoint_wire import stop_accepting

MEDIA_TYPES = {".pdf": "application/pdf", ".txt": "text/plain", ".json": "application/json", ".xml": "application/xml"}


@dataclass(frozen=True)
class Asked:
    """One request: `at` is when its head had come, on the clock `time.monotonic`; `headers` have lower-case names."""

    at: float
    method: str
    target: str
    headers: Mapping[str, str]
    connection: int

    @property
    def path(self) -> str:
        return unquote(self.target.partition("?")[0])


class Wire:
    """The server's end of one connection, for what no well-behaved server does."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes | str) -> None:
        self.writer.write(data if isinstance(data, bytes) else data.encode("latin-1"))
        await self.writer.drain()

    async def reset(self) -> None:
        """Break the connection off without a farewell."""
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.writer.transport.abort()

    async def hang(self) -> None:
        """Say nothing more until the other side leaves."""
        while await self.reader.read(65_536):
            pass

    async def answer(
        self, status: int = 200, body: bytes = b"", *, headers: Mapping[str, str] | None = None, length: bool = True
    ) -> None:
        """A proper answer; the connection is closed after it."""
        lines = [f"HTTP/1.1 {status} {'OK' if status == 200 else 'Whatever'}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if length and status not in (204, 304):
            lines.append(f"Content-Length: {len(body)}")
        await self.send("\r\n".join([*lines, "", ""]).encode("latin-1") + body)


Answer = Callable[[Asked, Wire], Awaitable[None]]


@dataclass
class Page:
    """What is served at a path."""

    body: bytes
    media_type: str | None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    etag: str | None = None
    last_modified: str | None = None
    is_gzipped: bool = False

    async def __call__(self, asked: Asked, wire: Wire) -> None:
        await asyncio.sleep(self.delay_s)
        headers = {**self._validators(), **self.headers}
        if self._is_known(asked):
            await wire.answer(304, headers=headers)
            return
        if self.media_type is not None:
            headers.setdefault("Content-Type", self.media_type)
        body = gzip_module.compress(self.body) if self.is_gzipped else self.body
        if self.is_gzipped:
            headers["Content-Encoding"] = "gzip"
        await wire.answer(self.status, body, headers=headers)

    def _validators(self) -> dict[str, str]:
        named = {"ETag": self.etag, "Last-Modified": self.last_modified}
        return {name: value for name, value in named.items() if value is not None}

    def _is_known(self, asked: Asked) -> bool:
        if "if-none-match" in asked.headers:
            return asked.headers["if-none-match"] == self.etag
        return self.last_modified is not None and asked.headers.get("if-modified-since") == self.last_modified


class Site:
    """A site that serves while the `with` block runs. With `tls`, over HTTPS."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.host = host
        self.requests: list[Asked] = []
        self.reached: list[str] = []
        self._tls = tls
        self._news = threading.Condition()
        self._answers: dict[str, Answer] = {}
        self._numbers = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="site", daemon=True)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), backlog=512, family=family)
        self.port: int = self._listener.getsockname()[1]
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_open = threading.Event()

    @property
    def authority(self) -> str:
        """`host:port`: what `allow_private` has to hold."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"{'https' if self._tls else 'http'}://{self.authority}{path}"

    def page(
        self,
        path: str,
        html: str | None = None,
        *,
        body: bytes | str | None = None,
        media_type: str | None = "",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        delay_s: float = 0.0,
        etag: str | None = None,
        last_modified: str | None = None,
        gzip: bool = False,
    ) -> str:
        """Serve `html`, or `body`, at `path`; returns the URL. `media_type=None` sends none."""
        content = html if body is None else body
        data = content if isinstance(content, bytes) else (content or "").encode()
        kind = (_guess(path) if html is None else "text/html; charset=utf-8") if media_type == "" else media_type
        self._answers[path] = Page(
            data, kind, status, dict(headers or {}), delay_s, etag, last_modified, is_gzipped=gzip
        )
        return self.url(path)

    def redirect(self, path: str, to: str, status: int = 302) -> str:
        """Send whoever asks for `path` to `to`, which is sent as it is."""
        self._answers[path] = Page(b"", None, status, {"Location": to})
        return self.url(path)

    def robots(self, text: str | bytes, status: int = 200) -> None:
        """What `/robots.txt` says."""
        self.page("/robots.txt", body=text, media_type="text/plain", status=status)

    def script(self, path: str, answer: Answer) -> str:
        """Let `answer` do what it wants with requests for `path`."""
        self._answers[path] = answer
        return self.url(path)

    def paths(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [asked.path for asked in self.requests]

    def wait_for(self, *paths: str) -> None:
        """Wait until each of these paths has been asked for."""
        with self._news:
            assert self._news.wait_for(lambda: set(paths) <= set(self.paths()), timeout=120), self.paths()

    def __enter__(self) -> Site:
        self._thread.start()
        assert self._is_open.wait(timeout=60)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=60)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, sock=self._listener, ssl=self._tls, limit=1 << 20)
        )
        self._is_open.set()
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(stop_accepting(server))
            for task in self._tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.reached.append(str(writer.get_extra_info("sockname")[0]))
        try:
            await self._answer(Wire(reader, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the other side left, as it should, or the site closes
        finally:
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError, ssl.SSLError):
                await writer.wait_closed()
            self._tasks.discard(task)

    async def _answer(self, wire: Wire) -> None:
        asked = await self._read(wire.reader)
        with self._news:
            self.requests.append(asked)
            self._news.notify_all()
        answer = self._answers.get(asked.path) or _damage(asked.path)
        if answer is None:
            await wire.answer(404, b"nothing here", headers={"Content-Type": "text/plain"})
            return
        await answer(asked, wire)

    async def _read(self, reader: asyncio.StreamReader) -> Asked:
        first_byte = await reader.readexactly(1)
        if first_byte == b"\x16":  # a greeting in TLS, of which this site understands nothing
            return Asked(time.monotonic(), "", "tls", {}, next(self._numbers))
        head = (first_byte + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        pairs = (line.partition(":") for line in lines if line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        return Asked(time.monotonic(), method, rest.rpartition(" ")[0], headers, next(self._numbers))


def _guess(path: str) -> str:
    for ending, kind in MEDIA_TYPES.items():
        if path.endswith(ending):
            return kind
    return mimetypes.guess_type(path)[0] or "text/html; charset=utf-8"


def _damage(path: str) -> Answer | None:
    from tests.support.site_damage import DAMAGES

    if not path.startswith("/damage/"):
        return None
    return DAMAGES.get(path.removeprefix("/damage/").partition("/")[0])
