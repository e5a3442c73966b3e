"""How many sessions of hosts over HTTP are open: the longest idle one makes room for another."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from asky.app.serving.guard import AsgiApp, AsgiMessages

_ID = MCP_SESSION_ID_HEADER.encode()
_VERSION = MCP_PROTOCOL_VERSION_HEADER.encode()


@dataclass(slots=True)
class _Session:
    """`calls` and `streams` are in progress; `used` is when the last of them ended, and `busy_until` a time, or 0."""

    used: float
    calls: int = 0
    streams: int = 0
    busy_until: float = 0.0


class SessionLimit:
    """An ASGI application before that of the SDK, which refuses a session beyond its limit.

    When a request opens one beyond `limit`, the session is ended that is idle for longest: first of those that no host
    listens to. One with a call in progress is never ended; a call whose connection was lost counts for `call_s`
    seconds, the longest that one may take.
    """

    def __init__(self, app: AsgiApp, limit: int, *, call_s: float) -> None:
        self._app = app
        self._limit = limit
        self._call_s = call_s
        self._sessions: dict[bytes, _Session] = {}
        self._opening = 0

    async def __call__(self, scope: Any, receive: AsgiMessages, send: AsgiMessages) -> None:
        headers: Mapping[bytes, bytes] = dict(scope.get("headers", ()))
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif _ID in headers:
            await self._use(headers[_ID], scope, receive, send)
        elif headers.get(_VERSION, b"").decode("latin-1") in ("", *HANDSHAKE_PROTOCOL_VERSIONS):
            self._opening += 1
            try:
                await self._make_room(scope)
                await self._open(scope, receive, send)
            finally:
                self._opening -= 1
        else:
            await self._app(scope, receive, send)

    async def _open(self, scope: Any, receive: AsgiMessages, send: AsgiMessages) -> None:
        opened: _Session | None = None

        async def note(message: Any) -> None:
            nonlocal opened
            found = dict(message.get("headers", ())).get(_ID)
            if message["type"] == "http.response.start" and found is not None and message["status"] < 400:
                opened = self._sessions[found] = _Session(time.monotonic(), calls=1)
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            if opened is not None:
                opened.calls -= 1
                opened.used = time.monotonic()

    async def _use(self, id_: bytes, scope: Any, receive: AsgiMessages, send: AsgiMessages) -> None:
        session, is_stream, is_whole = self._sessions.get(id_), scope["method"] == "GET", False
        if session is None:  # it has ended, or never was
            await self._app(scope, receive, send)
            return

        async def note(message: Any) -> None:
            nonlocal is_whole
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                is_whole = True
            await send(message)

        session.streams += is_stream
        session.calls += not is_stream
        try:
            await self._app(scope, receive, note)
        finally:
            session.streams -= is_stream
            session.calls -= not is_stream
            session.used = time.monotonic()
            if not is_stream and not is_whole:
                session.busy_until = session.used + self._call_s
            if scope["method"] == "DELETE":
                self._sessions.pop(id_, None)

    async def _make_room(self, scope: Any) -> None:
        while len(self._sessions) + self._opening > self._limit:
            now = time.monotonic()
            idle = [id_ for id_, each in self._sessions.items() if not each.calls and each.busy_until <= now]
            if not idle:
                return  # the SDK refuses the new one
            longest = min(idle, key=lambda id_: (self._sessions[id_].streams > 0, self._sessions[id_].used))
            del self._sessions[longest]
            await self._end(longest, scope)

    async def _end(self, id_: bytes, scope: Any) -> None:
        """End a session as its host would."""

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            pass

        kept = [(name, value) for name, value in scope["headers"] if name in (b"host", b"accept")]
        await self._app({**scope, "method": "DELETE", "headers": [*kept, (_ID, id_)]}, receive, send)
