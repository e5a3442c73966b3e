"""Serving an ASGI application on a socket until it is cancelled."""

from __future__ import annotations

import asyncio
import socket as sockets
from collections.abc import Callable
from socket import AI_PASSIVE, IPPROTO_TCP, SOCK_STREAM, create_server, getaddrinfo
from typing import TYPE_CHECKING

import anyio
import uvicorn

from asky.app.serving.connections import (
    HEAD_S,
    ExhaustionLog,
    Strangers,
    most_strangers,
    raise_descriptor_limit,
    timed_protocol,
)
from asky.errors import UsageError

if TYPE_CHECKING:
    from socket import socket

    from asky.app.serving.guard import AsgiApp

MAX_WEBSOCKET_BYTES = 64 * 1024
_GRACE_S = 1
_UNREAD_MS = 30_000
_QUEUE = 2048  # connections that the system keeps until they are accepted


def open_socket(host: str, port: int) -> socket:
    """Return a socket that listens on an address; port 0 takes a free one. Raises `UsageError`.

    Where the system allows it, a connection is dropped whose other end has taken nothing of what was sent for 30 s.
    """
    try:
        family = getaddrinfo(host or None, port, type=SOCK_STREAM, flags=AI_PASSIVE)[0][0]
        listening = create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        reason, _, _ = (getattr(error, "strerror", None) or str(error)).partition(" (while attempting")
        raise UsageError(
            f"cannot listen on {host} port {port}: {reason.lower()}", hint="choose another --port"
        ) from None
    if (option := getattr(sockets, "TCP_USER_TIMEOUT", None)) is not None:
        listening.setsockopt(IPPROTO_TCP, option, _UNREAD_MS)  # connections inherit it
    listening.setblocking(False)
    return listening


async def serve_http(
    app: AsgiApp,
    listening: socket,
    *,
    started: Callable[[], None],
    stopping: Callable[[], None] = lambda: None,
    has_websockets: bool = False,
    head_s: float = HEAD_S,
) -> None:
    """Serve an application on a socket until cancelled.

    `started` is called once requests are served. At the end, `stopping` is called, for streams that would go on; what
    has not ended a second later is cancelled.

    A connection is closed if the head of a request is not there after `head_s` seconds. A quarter of the descriptors
    that this process may open, whose limit is raised, is for connections that have not shown the token: the oldest of
    these makes room for a new one, so that runs can open theirs.
    """
    strangers = Strangers(most_strangers(raise_descriptor_limit()))
    settings = uvicorn.Config(
        app,
        http=timed_protocol(strangers, head_s),  # type: ignore[arg-type] # it makes a protocol, as a class does
        # So many are accepted at a time. They are counted a few turns of the loop later, and more are accepted in each.
        backlog=max(1, strangers.limit // 4),
        ws="websockets-sansio" if has_websockets else "none",
        ws_max_size=MAX_WEBSOCKET_BYTES,
        ws_per_message_deflate=False,  # the messages of 200 clients would each be compressed anew
        log_config=None,
        # Each refused WebSocket would be logged as an error, and each request that is none as a warning.
        log_level="critical" if has_websockets else "error",
        access_log=False,
        lifespan="on",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    running = _Announcing(settings, started)

    async def serve() -> None:
        with anyio.CancelScope(shield=True):  # it ends in good order once it is told to
            await running.serve(sockets=[listening])
        group.cancel_scope.cancel()

    loop = asyncio.get_running_loop()
    former = loop.get_exception_handler()
    loop.set_exception_handler(ExhaustionLog())
    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        try:
            await anyio.sleep_forever()
        finally:
            stopping()
            running.should_exit = True
            loop.set_exception_handler(former)


class _Announcing(uvicorn.Server):
    """Calls a function once it serves requests."""

    def __init__(self, settings: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(settings)
        self._announce = started

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_QUEUE)
        self._announce()
