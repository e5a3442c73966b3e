"""The protocol over HTTP, for who knows the token: names of hosts and origins are checked first, on any address."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from socket import AI_PASSIVE, SOCK_STREAM, create_server, getaddrinfo
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from asky.config.paths import resolve_paths, write_private
from asky.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from socket import socket

    from mcp.server import Server

    from asky.mcp.runs import RunKeeper

PATH = "/mcp"
TOKEN_VARIABLE = "ASKY_MCP_TOKEN"  # noqa: S105 - the name of a variable
MAX_BODY = 4 * 1024 * 1024
_MIN_TOKEN_CHARS = 16
_TOKEN_BYTES = 32
_GRACE_S = 1
_MAX_SESSIONS = 100
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - they are compared with

AsgiMessages = Callable[..., Awaitable[Any]]
AsgiApp = Callable[[Any, AsgiMessages, AsgiMessages], Awaitable[None]]


class HttpGuard:
    """An ASGI application before another one: it lets requests pass that name a known host and show the token.

    `hosts` are values of `Host` with the port. An `Origin` must be one of them with `http://`: pages of other sites
    cannot use the server through a browser, even if their name leads here.
    """

    def __init__(self, app: AsgiApp, token: str, hosts: Sequence[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"http://{each}" for each in hosts)

    async def __call__(self, scope: Any, receive: AsgiMessages, send: AsgiMessages) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and (status := self._refusal(scope["headers"])) is not None:
            await _refuse(send, status)
        elif scope["type"] == "http":
            await self._app(scope, receive, send)

    def _refusal(self, headers: Sequence[tuple[bytes, bytes]]) -> int | None:
        """Return the status to refuse a request with, or `None`."""
        values: dict[bytes, list[str]] = {}
        for name, value in headers:
            values.setdefault(name.lower(), []).append(value.decode("latin-1"))
        hosts, origins = values.get(b"host", []), values.get(b"origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421
        if not all(each.lower() in self._origins for each in origins):
            return 403
        shown = [each.partition(" ") for each in values.get(b"authorization", [])]
        if len(shown) != 1 or shown[0][0].lower() != "bearer":
            return 401
        is_known = hmac.compare_digest(shown[0][2].strip().encode("latin-1", "replace"), self._token)
        return None if is_known else 401


async def _refuse(send: AsgiMessages, status: int) -> None:
    text = {421: "unknown host", 403: "foreign origin", 401: "the token is missing or wrong"}[status]
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def read_token(environ: Mapping[str, str], file: Path | None) -> tuple[str, str]:
    """Return the token and where it is: in `file`, in a variable, or in a file of ours, which is made if need be.

    Raises `UsageError` if the file cannot be read, or a token is too short.
    """
    if file is not None:
        return _sound(_read(file), f"the file {file}"), str(file)
    if given := environ.get(TOKEN_VARIABLE):
        return _sound(given.strip(), f"the variable {TOKEN_VARIABLE}"), f"${TOKEN_VARIABLE}"
    own = resolve_paths(environ).state / "mcp-token"
    if not own.exists():
        write_private(own, secrets.token_urlsafe(_TOKEN_BYTES) + "\n")
    if own.stat().st_mode & 0o077:
        raise ConfigError(f"others can read {own}", hint="delete it: the next start makes a new one")
    return _sound(_read(own), f"the file {own}"), str(own)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise UsageError(f"cannot read the token in {file}: {getattr(error, 'strerror', None) or 'not text'}") from None


def _sound(token: str, where: str) -> str:
    if len(token) < _MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"{where} holds no usable token", hint=f"it takes at least {_MIN_TOKEN_CHARS} ASCII characters, no spaces"
        )
    return token


def open_socket(host: str, port: int) -> socket:
    """Return a socket that listens on an address; port 0 takes a free one. Raises `UsageError`."""
    try:
        family = getaddrinfo(host or None, port, type=SOCK_STREAM, flags=AI_PASSIVE)[0][0]
        listening = create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"cannot listen on {host} port {port}: {reason.lower()}", hint="choose another --port"
        ) from None
    listening.setblocking(False)
    return listening


def known_hosts(host: str, port: int, more: Sequence[str] = ()) -> list[str]:
    """Return the values of `Host` that lead to a server on `host`, and those with the names in `more`."""
    bound = [] if host in _EVERYWHERE else [f"[{host}]" if ":" in host else host]
    names = dict.fromkeys(each.lower() for each in [*_LOOPBACK, *bound, *more])
    return [f"{name}:{port}" for name in names] + [name for name in names if port == 80]


async def serve_http(
    server: Server[RunKeeper],
    listening: socket,
    token: str,
    *,
    host: str,
    names: Sequence[str] = (),
    started: Callable[[], None],
) -> None:
    """Serve hosts on a socket until cancelled; then streams end within a second, and runs are stopped.

    `names` are further names that this machine is reached by. `started` is called once requests are served.
    """
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_BODY,
        max_sessions=_MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # `HttpGuard` does that
    )
    port = int(listening.getsockname()[1])
    settings = uvicorn.Config(
        HttpGuard(app, token, known_hosts(host, port, names)),
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    running = _Announcing(settings, started)

    async def serve() -> None:
        with anyio.CancelScope(shield=True):  # it ends in good order once it is told to
            await running.serve(sockets=[listening])
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        try:
            await anyio.sleep_forever()
        finally:
            running.should_exit = True


class _Announcing(uvicorn.Server):
    """Calls a function once it serves requests."""

    def __init__(self, settings: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(settings)
        self._announce = started

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()
