"""Connections that have not shown the token: how many there are, how long each may wait, and where descriptors end."""

from __future__ import annotations

import asyncio
import errno
import resource
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from asky.app.serving.guard import AUTHENTICATED

HEAD_S = 10.0
"""Seconds from the opening of a connection, or from the end of a reply, until the head of a request must be there."""
# A quarter of the usual limit of 1,024 descriptors. Each may keep 16 KiB of a head in memory, or 1 MiB of a body that
# it sends to the login.
_MOST_STRANGERS = 256
_LOGGED_EVERY_S = 60.0
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Strangers:
    """The open connections that have not shown the token. There are at most `limit`: a new one ends the oldest."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._open: dict[asyncio.Transport, None] = {}

    def add(self, connection: asyncio.Transport) -> None:
        """Count a connection that has just been opened."""
        if len(self._open) >= self.limit:
            oldest = next(iter(self._open))
            del self._open[oldest]
            oldest.abort()
        self._open[connection] = None

    def discard(self, connection: asyncio.Transport) -> None:
        """Count a connection no more: it has shown the token, or is closed."""
        self._open.pop(connection, None)


class TimedProtocol(H11Protocol):
    """HTTP on one connection, which is closed if it is given no whole head of a request for `head_s` seconds.

    It is one of `strangers` until the application has called the function `AUTHENTICATED`, or its request to become a
    WebSocket is answered.
    """

    def __init__(self, *, app_state: Mapping[str, Any], strangers: Strangers, head_s: float, **more: Any) -> None:
        super().__init__(app_state={**app_state, AUTHENTICATED: self._leave}, **more)
        self._strangers = strangers
        self._head_s = head_s
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._strangers.add(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._leave()  # from here on, another protocol has the connection, and the application refuses it at once
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def _leave(self) -> None:
        self._strangers.discard(self.transport)

    def _watch(self) -> None:
        """Wait for a head if no request is being answered: also while the rest of a body comes that was refused."""
        if not getattr(self.cycle, "response_complete", True):  # there is no cycle before the first request
            self._stop_waiting()
        elif self._waiting is None and self.transport.get_protocol() is self and not self.transport.is_closing():
            self._waiting = self.loop.call_later(self._head_s, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def timed_protocol(strangers: Strangers, head_s: float) -> Callable[..., TimedProtocol]:
    """Return what makes the protocol of each connection."""
    return partial(TimedProtocol, strangers=strangers, head_s=head_s)


def raise_descriptor_limit() -> int:
    """Let this process open as many files and connections as the system allows it; return how many these are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):  # some systems allow fewer than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return soft if soft != resource.RLIM_INFINITY else sys.maxsize


def most_strangers(descriptors: int) -> int:
    """Return how many connections without the token may be open: a quarter, so that runs and users keep theirs."""
    return max(1, min(descriptors // 4, _MOST_STRANGERS))


class ExhaustionLog:
    """The exception handler of an event loop that says at most once a minute that no connection can be accepted."""

    def __init__(self) -> None:
        self._logged_at: float | None = None

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in _EXHAUSTED and "socket" in context):
            loop.default_exception_handler(context)
        elif self._logged_at is None or loop.time() - self._logged_at >= _LOGGED_EVERY_S:
            self._logged_at = loop.time()
            reason = (error.strerror or str(error)).lower()
            sys.stderr.write(f"asky: new connections wait: {reason}\n")
