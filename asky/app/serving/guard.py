"""Who may use a server: names of hosts and origins are checked first, on any address, and then the token.

It is plain ASGI, since middleware for HTTP never sees a WebSocket.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http.cookies import CookieError, SimpleCookie
from types import MappingProxyType
from typing import Any

from asky.app.failures import ErrorReport
from asky.app.schemas.event import error_object
from asky.text.printable import json_text

AsgiMessages = Callable[..., Awaitable[Any]]
AsgiApp = Callable[[Any, AsgiMessages, AsgiMessages], Awaitable[None]]

AUTHENTICATED = "asky.authenticated"
"""Key of a function in the state of a scope, if there is one: called once its connection has shown the token."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 - they are compared with
_DENIAL = "websocket.http.response"  # the extension of ASGI that answers a WebSocket with a status
_POLICY = 1008
_REFUSALS: Mapping[int, tuple[str, str]] = MappingProxyType(
    {
        421: ("usage", "unknown host"),
        403: ("usage", "foreign origin"),
        401: ("authentication", "the token is missing or wrong"),
    }
)


def known_hosts(host: str, port: int, more: Sequence[str] = ()) -> list[str]:
    """Return the values of `Host` that lead to a server on `host`, and those with the names in `more`."""
    bound = [] if host in _EVERYWHERE else [f"[{host}]" if ":" in host else host]
    names = dict.fromkeys(each.lower() for each in [*LOOPBACK, *bound, *more])
    return [f"{name}:{port}" for name in names] + [name for name in names if port == 80]


def cookie_value(token: str) -> str:
    """Return what a browser shows in place of the token, which cannot be found out from it."""
    return hmac.new(token.encode(), b"the cookie of a page of asky", hashlib.sha256).hexdigest()


def is_same(shown: str, secret: str) -> bool:
    """Return whether two texts are the same, in a time that does not depend on where they differ."""
    return hmac.compare_digest(shown.encode("utf-8", "surrogatepass"), secret.encode())


class HttpGuard:
    """An ASGI application before another one: it lets requests pass that name a known host and show the token.

    `hosts` are values of `Host` with the port. An `Origin` must be one of them with `http://`: pages of other sites
    cannot use the server through a browser, even if their name leads here. With `cookie`, a name, browsers may show
    `cookie_value` in that cookie. `is_open` says which requests, by method and path, need no token.

    A WebSocket is refused before it is accepted, with the same status if the server can say one. If the state of a
    scope has a function `AUTHENTICATED`, it is called for each request that shows the token.
    """

    def __init__(
        self,
        app: AsgiApp,
        token: str,
        hosts: Sequence[str],
        *,
        cookie: str | None = None,
        is_open: Callable[[str, str], bool] = lambda method, path: False,  # noqa: ARG005 - the signature
    ) -> None:
        self._app = app
        self._token = token
        self._cookie = cookie
        self._cookie_value = cookie_value(token)
        self._is_open = is_open
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"http://{each}" for each in hosts)

    async def __call__(self, scope: Any, receive: AsgiMessages, send: AsgiMessages) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] in ("http", "websocket"):
            status = self._refusal(scope)
            if status is None:
                await self._app(scope, receive, send)
            else:
                code, message = _REFUSALS[status]
                headers = [(b"www-authenticate", b"Bearer")] if status == 401 else []
                await refuse(scope, receive, send, status, ErrorReport(2, code, message), headers)

    def _refusal(self, scope: Any) -> int | None:
        """Return the status to refuse a request with, or `None`."""
        values: dict[bytes, list[str]] = {}
        for name, value in scope["headers"]:
            values.setdefault(name.lower(), []).append(value.decode("latin-1"))
        hosts, origins = values.get(b"host", []), values.get(b"origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421
        if not all(each.lower() in self._origins for each in origins):
            return 403
        if self._shows_token(values):
            scope.get("state", {}).get(AUTHENTICATED, _nothing)()
            return None
        return None if self._is_open(scope.get("method", ""), scope["path"]) else 401

    def _shows_token(self, values: Mapping[bytes, Sequence[str]]) -> bool:
        shown = [each.partition(" ") for each in values.get(b"authorization", [])]
        if shown:
            is_bearer = len(shown) == 1 and shown[0][0].lower() == "bearer"
            return is_bearer and is_same(shown[0][2].strip(), self._token)
        cookies = [each for header in values.get(b"cookie", []) for each in self._cookies(header)]
        return len(cookies) == 1 and is_same(cookies[0], self._cookie_value)

    def _cookies(self, header: str) -> list[str]:
        try:
            found = SimpleCookie(header)
        except CookieError:
            return []
        return [found[self._cookie].value] if self._cookie is not None and self._cookie in found else []


def _nothing() -> None:
    pass


async def refuse(
    scope: Any,
    receive: AsgiMessages,
    send: AsgiMessages,
    status: int,
    report: ErrorReport,
    headers: Sequence[tuple[bytes, bytes]] = (),
) -> None:
    """Answer a request with an `asky.error/1` object, or refuse a WebSocket that has not been accepted with it."""
    is_websocket = scope["type"] == "websocket"
    if is_websocket:
        await receive()  # the request to connect
        if _DENIAL not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": _POLICY, "reason": report.message})
            return
    body = json_text(error_object(report)).encode()
    sent = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *headers]
    kind = _DENIAL if is_websocket else "http.response"
    await send({"type": f"{kind}.start", "status": status, "headers": sent})
    await send({"type": f"{kind}.body", "body": body})
