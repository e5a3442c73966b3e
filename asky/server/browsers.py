"""What browsers need: the page, and a cookie in place of the token, which is sent in no address."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from asky.app.serving.guard import cookie_value, is_same
from asky.errors import AuthenticationFailed
from asky.server.errors import Json
from asky.server.models import Login

if TYPE_CHECKING:
    from asky.app.serving.guard import AsgiApp, AsgiMessages
    from asky.server.settings import ServerSettings

_COOKIE_S = 30 * 24 * 3600
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


_FILES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "/": ("index.html", "text/html"),
        "/page.js": ("page.js", "text/javascript"),
        "/page.css": ("page.css", "text/css"),
    }
)
"""The files of the page, by path."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' ws://{host}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


class BrowserRoutes:
    """Serves the page, and exchanges the token for a cookie.

    Scripts cannot read the cookie, and it is not sent with requests of other sites.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter(tags=["browsers"])
        router.add_api_route("/api/login", self.login, methods=["POST"])
        router.add_api_route("/api/logout", self.logout, methods=["POST"])
        for path, (name, kind) in _FILES.items():
            router.add_api_route(path, partial(_file, name, kind), methods=["GET"], include_in_schema=False)
        return router

    async def login(self, body: Login) -> Response:
        """Exchange the token for the cookie."""
        if not is_same(body.token, self._settings.token):
            refused = AuthenticationFailed("the token is wrong", hint="`asky serve` says where the token is")
            return Json(_error(refused), 401)
        return self._with_cookie(cookie_value(self._settings.token), _COOKIE_S)

    async def logout(self) -> Response:
        """Take the cookie back."""
        return self._with_cookie("", 0)

    def _with_cookie(self, value: str, max_age: int) -> Response:
        reply = Json({"status": "ok"})
        reply.set_cookie(self._settings.cookie, value, max_age=max_age, httponly=True, samesite="strict")
        return reply


def _error(error: AuthenticationFailed) -> dict[str, object]:
    return {"schema": "asky.error/1", "code": error.code, "message": error.message, "hint": error.hint}


def is_open(method: str, path: str) -> bool:
    """Return whether a request needs no token: what a browser loads before it has the cookie."""
    return (method, path) == ("POST", "/api/login") or (method == "GET" and path in _FILES)


async def _file(name: str, kind: str, request: Request) -> Response:
    """Return a file of the page, which may talk to nobody but this server."""
    text = (Path(__file__).parent / "page" / name).read_bytes()
    policy = _POLICY.format(host=request.headers["host"])
    return Response(text, media_type=kind, headers={"content-security-policy": policy})


class SafeReplies:
    """An ASGI application before another one, whose replies browsers neither keep, guess about nor show elsewhere."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: AsgiMessages, send: AsgiMessages) -> None:
        async def add(message: Any) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message.get("headers", ())}
                missing = [each for each in _HEADERS if each[0] not in present]
                message = {**message, "headers": [*message.get("headers", ()), *missing]}
            await send(message)

        await self._app(scope, receive, add)
