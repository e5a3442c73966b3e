"""Errors as replies: an `asky.error/1` object, and the status of HTTP that fits."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from asky.app.failures import ErrorReport, describe, describe_to_client
from asky.app.schemas.event import error_object
from asky.app.serving.runs import TooManyRuns
from asky.config.paths import resolve_paths
from asky.errors import (
    AskyError,
    AuthenticationFailed,
    ConfigError,
    Interrupted,
    NotConfigured,
    ProviderError,
    RateLimited,
    SourceError,
    SourceRefused,
    StorageError,
    StoreFull,
    TimedOut,
    Unreachable,
    UsageError,
)
from asky.text.printable import json_text, one_line

if TYPE_CHECKING:
    from asky.app.serving.guard import AsgiApp, AsgiMessages
    from asky.server.settings import ServerSettings

NOT_FOUND = "Session not found"
_MAX_CHARS = 300


class SessionNotFound(UsageError):
    """There is no run with that id."""

    def __init__(self) -> None:
        super().__init__(NOT_FOUND, hint="GET /api/research lists them")


class RunConflict(UsageError):
    """The run is in a state in which this cannot be done."""


_STATUSES: tuple[tuple[type[AskyError], int], ...] = (
    (SessionNotFound, 404),
    (RunConflict, 409),
    (TooManyRuns, 429),
    (UsageError, 400),
    (ConfigError, 409),
    (NotConfigured, 409),
    (Interrupted, 503),
    (SourceRefused, 403),
    (SourceError, 422),
    (AuthenticationFailed, 502),
    (Unreachable, 502),
    (RateLimited, 503),
    (TimedOut, 504),
    (ProviderError, 502),
    (StoreFull, 507),
    (StorageError, 503),
)
"""The first class that an error has decides. What an endpoint or the store did wrong is 5xx, what was asked 4xx."""


class Json(Response):
    """A value as JSON in ASCII, which no reader can take for anything else."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json_text(content).encode()


class Failures:
    """Reports errors to clients, without secrets and without the folders that asky's own files are in."""

    def __init__(self, settings: ServerSettings) -> None:
        self._environ = settings.environ
        paths = resolve_paths(settings.environ)
        places = [str(each) for each in (paths.config, paths.data, paths.cache, paths.state)]
        self._places = sorted({*places, settings.environ.get("HOME", "")} - {"", "/"}, key=len, reverse=True)

    def report(self, error: BaseException) -> tuple[int, dict[str, Any]]:
        """Return the status and the `asky.error/1` object of an error; one that asky did not raise is printed."""
        if not isinstance(error, AskyError):
            sys.stderr.write(f"asky: {describe(error, environ=self._environ, debug=True).details}")
            return 500, error_object(ErrorReport(1, "unexpected", "unexpected error", "the server has printed more"))
        report = describe_to_client(error, environ=self._environ)
        value = error_object(report)
        value |= {name: self._without_places(value[name]) for name in ("message", "hint") if value[name]}
        if isinstance(error, SessionNotFound):
            value["detail"] = NOT_FOUND
        return next((status for cls, status in _STATUSES if isinstance(error, cls)), 500), value

    def install(self, app: FastAPI) -> None:
        """Have an application report every error that it knows."""
        app.add_exception_handler(AskyError, self._on_asky_error)
        app.add_exception_handler(RequestValidationError, self._on_invalid)
        app.add_exception_handler(HTTPException, self._on_http)

    async def _on_asky_error(self, request: Request, error: Exception) -> Response:  # noqa: ARG002 - the signature
        status, value = self.report(error)
        return Json(value, status)

    async def _on_invalid(self, request: Request, error: Exception) -> Response:  # noqa: ARG002
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"][1:]))
        message = one_line(f"{where}: {first['msg']}" if where else first["msg"])[:_MAX_CHARS]
        return Json(error_object(ErrorReport(2, "usage", message)), 422)

    async def _on_http(self, request: Request, error: Exception) -> Response:  # noqa: ARG002
        assert isinstance(error, HTTPException)
        value = error_object(ErrorReport(2, "usage", str(error.detail)))
        return Json(value, error.status_code, headers=error.headers)

    def _without_places(self, text: str) -> str:
        for place in self._places:
            text = text.replace(place, "~")
        return text


class LastResort:
    """An ASGI application before another one: an error that this one raises is printed, and its connection ends."""

    def __init__(self, app: AsgiApp, failures: Failures) -> None:
        self._app = app
        self._failures = failures

    async def __call__(self, scope: Any, receive: AsgiMessages, send: AsgiMessages) -> None:
        has_started = False

        async def note(message: Any) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, note)
        except Exception as error:  # noqa: BLE001 - the boundary: nothing above would tell the client
            status, value = self._failures.report(error)
            if scope["type"] == "http" and not has_started:
                body = json_text(value).encode()
                headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
                await send({"type": "http.response.start", "status": status, "headers": headers})
                await send({"type": "http.response.body", "body": body})
