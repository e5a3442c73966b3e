"""The protocol over HTTP, for who knows the token."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mcp.server.transport_security import TransportSecuritySettings

from asky.app.serving import http
from asky.app.serving.guard import HttpGuard, known_hosts
from asky.app.serving.http import open_socket as open_socket
from asky.mcp.server import LIMIT_S
from asky.mcp.sessions import SessionLimit

if TYPE_CHECKING:
    from socket import socket

    from mcp.server import Server

    from asky.app.serving.runs import RunKeeper

PATH = "/mcp"
MAX_BODY = 4 * 1024 * 1024
MAX_SESSIONS = 100


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
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # `HttpGuard` does that
    )
    hosts = known_hosts(host, int(listening.getsockname()[1]), names)
    limited = SessionLimit(app, MAX_SESSIONS, call_s=LIMIT_S)
    await http.serve_http(HttpGuard(limited, token, hosts), listening, started=started)
