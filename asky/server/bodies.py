"""Limits on what clients send, in plain ASGI: they hold before anything reads a request."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

import anyio

from asky.app.failures import ErrorReport
from asky.app.serving.guard import AsgiApp, AsgiMessages, refuse

MAX_BODY = 1024 * 1024
MAX_DEPTH = 32
"""The most lists and objects of JSON within each other."""
_BODY_S = 30.0
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")
_JSON = re.compile(rb'application/json(?:\s*;\s*charset="?utf-?8"?)?\s*', re.IGNORECASE)


class BodyLimits:
    """An ASGI application before another one, which receives each body at once.

    A body must be JSON of at most 1 MiB, with at most 32 lists and objects within each other, and arrive within 30 s.
    """

    def __init__(self, app: AsgiApp, *, body_s: float = _BODY_S) -> None:
        self._app = app
        self._body_s = body_s

    async def __call__(self, scope: Any, receive: AsgiMessages, send: AsgiMessages) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        body: bytes | None = None
        with anyio.move_on_after(self._body_s) as limit:
            body = await _read(receive)
        if body is None and not limit.cancelled_caught:
            return  # the client has gone
        refusal = _refusal(body, headers.get(b"content-type", b""))
        if refusal is not None:
            status, message = refusal
            # The rest of a body that is too large is read and dropped beside this, for as long as a head may take: a
            # client that still sends would lose the reply with its connection.
            closing = [(b"connection", b"close")] if body is None else []
            await refuse(scope, receive, send, status, ErrorReport(2, "usage", message), closing)
            return
        assert body is not None
        await self._app(scope, _replayed(body, receive), send)


async def _read(receive: AsgiMessages) -> bytes | None:
    """Return a body, or as much of it as exceeds the limit, or `None` if the client goes before its end."""
    parts, size, is_more = [], 0, True
    while is_more and size <= MAX_BODY:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        is_more = message.get("more_body", False)
        size += len(parts[-1])
    return b"".join(parts)


def _refusal(body: bytes | None, content_type: bytes) -> tuple[int, str] | None:
    if body is None:
        return 408, "the body took too long"
    if len(body) > MAX_BODY:
        return 413, "the body has more than 1 MiB"
    if body and not _JSON.fullmatch(content_type):
        return 415, "the body is not application/json"
    if _depth(body) > MAX_DEPTH:
        return 400, f"the body has more than {MAX_DEPTH} lists and objects within each other"
    return None


def _depth(body: bytes) -> int:
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return 0
    brackets = _BRACKET.findall(_STRING.sub(b"", body))
    return max(accumulate(1 if each in (b"[", b"{") else -1 for each in brackets), default=0)


def _replayed(body: bytes, receive: AsgiMessages) -> AsgiMessages:
    """Return a function that returns the body, and then what else the connection says."""
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return pending.pop() if pending else await receive()

    return replay
