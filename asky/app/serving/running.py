"""The server of this user that is running, and research that is started on it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asky.agent.models import ResearchRequest
from asky.app.serving.tokens import read_token
from asky.config.paths import resolve_paths, write_private
from asky.errors import UsageError
from asky.net.plain_get import plain_get

_NO_SERVER = "no server is running"
_START_ONE = "start one with `asky serve`, or leave out --detach"
_REQUEST_S = 30.0
_MAX_BYTES = 1_000_000


def _file(environ: Mapping[str, str]) -> Path:
    return resolve_paths(environ).state / "server.json"


@contextmanager
def announced_server(environ: Mapping[str, str], url: str) -> Iterator[None]:
    """Let `start_on_server` find a server at `url` during the body."""
    file = _file(environ)
    text = json.dumps({"url": url, "pid": os.getpid()}) + "\n"
    write_private(file, text)
    try:
        yield
    finally:
        if file.exists() and file.read_text("utf-8") == text:  # not that of a server that was started since
            file.unlink()


def start_on_server(request: ResearchRequest, environ: Mapping[str, str]) -> str:
    """Start research on the running server, where it goes on without this process; return its id.

    Raises `UsageError` if there is no server, or it refuses the request.
    """
    try:
        found = json.loads(_file(environ).read_text("utf-8"))
        url = str(found["url"])
        os.kill(int(found["pid"]), 0)  # if it has gone, somebody else may have its port: nothing is sent there
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        raise UsageError(_NO_SERVER, hint=_START_ONE) from None
    token, _ = read_token(environ, None, server="server")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    address, data = f"{url}api/research/start", json.dumps(_body(request)).encode("utf-8", "surrogateescape")
    try:
        _, reply = plain_get(address, headers, timeout_s=_REQUEST_S, max_bytes=_MAX_BYTES, data=data)
        found = json.loads(reply)
    except (OSError, ValueError):
        raise UsageError(f"{_NO_SERVER} at {url}", hint=_START_ONE) from None
    if "session_id" not in found:
        raise UsageError(f"the server refused: {found.get('message')}", hint=found.get("hint"))
    return str(found["session_id"])


def _body(request: ResearchRequest) -> dict[str, Any]:
    limits = request.limits
    return {
        "query": request.query,
        "privacy_mode": request.privacy_mode,
        "documents": [str(each.absolute()) for each in request.documents],
        "collections": list(request.collections),
        "default_documents": request.default_documents,
        "library": request.library,
        "vault": request.vault,
        "web": request.web,
        "domain": request.domain,
        "model": request.model,
        "session": request.session,
        "limits": {"tokens": limits.tokens, "cost_usd": limits.cost_usd, "time_s": limits.time_s},
        "max_cycles": request.max_cycles,
        "max_fetches": request.max_fetches,
    }
