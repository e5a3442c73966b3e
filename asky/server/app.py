"""The server: the routes over an opened `Asky`, behind the guard and the limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
from fastapi import FastAPI

from asky.app.serving.guard import HttpGuard, known_hosts
from asky.app.serving.http import open_socket as open_socket
from asky.app.serving.http import serve_http
from asky.app.serving.runs import RunKeeper, keeping_runs
from asky.server.asking import AskingRoutes
from asky.server.bodies import BodyLimits
from asky.server.browsers import BrowserRoutes, SafeReplies, is_open
from asky.server.errors import Failures, Json, LastResort
from asky.server.research import ResearchRoutes
from asky.server.sessions import Sessions
from asky.server.settings import ServerSettings as ServerSettings
from asky.server.streams import RunStreams
from asky.version import __version__

if TYPE_CHECKING:
    from socket import socket

    from asky.app.asky import Asky
    from asky.app.serving.guard import AsgiApp
    from asky.app.serving.research import ResearchAgent

__all__ = ["ServerSettings", "create_app", "known_hosts", "open_socket", "serve"]


def create_app(
    asky: Asky, keeper: RunKeeper, settings: ServerSettings, *, agent: ResearchAgent, stopping: anyio.Event
) -> AsgiApp:
    """Return the ASGI application of a server; its runs are in `keeper`, and its streams end when `stopping` is set."""
    failures = Failures(settings)
    sessions = Sessions(asky, keeper, agent, failures, settings)
    research = ResearchRoutes(asky, sessions, RunStreams(sessions, failures, settings, stopping))
    api = FastAPI(
        title="asky",
        version=__version__,
        docs_url=None,  # these pages load scripts of other hosts
        redoc_url=None,
        openapi_url="/api/openapi.json",
        default_response_class=Json,
    )
    failures.install(api)
    for routes in (research, AskingRoutes(asky, sessions, stopping), BrowserRoutes(settings)):
        api.include_router(routes.router())
    api.add_api_websocket_route("/ws/research/{session_id}", research.follow)
    limited = SafeReplies(LastResort(BodyLimits(api), failures))
    return HttpGuard(limited, settings.token, settings.hosts, cookie=settings.cookie, is_open=is_open)


async def serve(
    asky: Asky,
    listening: socket,
    settings: ServerSettings,
    *,
    agent: ResearchAgent,
    started: Callable[[], None],
) -> None:
    """Serve the API on a socket until cancelled.

    Then streams end, replies have a second to be sent, and runs are cancelled: they keep what they have found, and can
    be resumed. `started` is called once requests are served.
    """
    stopping = anyio.Event()
    async with keeping_runs(settings.max_runs) as keeper:
        app = create_app(asky, keeper, settings, agent=agent, stopping=stopping)
        await serve_http(app, listening, started=started, stopping=stopping.set, has_websockets=True)
