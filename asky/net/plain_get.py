"""A single small request to an address of the user's own configuration, in plain synchronous Python.

It loads no HTTP library: asking whether a model server runs on this machine takes less than a millisecond if none does.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import closing, suppress
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from asky.net.reach import require_reachable

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

_CHUNK_BYTES = 65_536
_TLS_PORT = 443
_PORT = 80


def is_listening(url: str, *, timeout_s: float = 0.2) -> bool:
    """Return whether anything accepts connections at the host and port of `url`. Raises as `plain_get` does."""
    parts = urlsplit(url)
    require_reachable(parts.hostname or "")
    port = parts.port or (_TLS_PORT if parts.scheme == "https" else _PORT)
    with suppress(OSError), socket.create_connection((parts.hostname or "", port), timeout_s):
        return True
    return False


def plain_get(
    url: str, headers: Mapping[str, str], *, timeout_s: float, max_bytes: int, data: bytes | None = None
) -> tuple[int, bytes]:
    """Return the status and the body of `url`, or of the reply to `data` posted to it.

    No redirect is followed, and no proxy used.

    Raises `OSError` without a connection, and if the body is not complete in time or longer than `max_bytes`; whatever
    is not HTTP is one too. Raises `SourceRefused` for a host that may not be reached.
    """
    from http.client import HTTPException  # 8 ms: only to ask

    parts = urlsplit(url)
    require_reachable(parts.hostname or "")
    try:
        with closing(_connect(url, timeout_s)) as connection:
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            connection.request("GET" if data is None else "POST", path, body=data, headers=dict(headers))
            response = connection.getresponse()
            return response.status, _read(response, monotonic() + timeout_s, max_bytes)
    except HTTPException as error:
        raise OSError("not HTTP") from error


def _connect(url: str, timeout_s: float) -> HTTPConnection:
    import ssl
    from http.client import HTTPConnection, HTTPSConnection

    parts = urlsplit(url)
    if parts.scheme == "https":
        context = ssl.create_default_context()
        return HTTPSConnection(parts.hostname or "", parts.port, timeout=timeout_s, context=context)
    return HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_s)


def _read(response: HTTPResponse, deadline: float, max_bytes: int) -> bytes:
    body = b""
    while piece := response.read1(_CHUNK_BYTES):
        body += piece
        if monotonic() > deadline or len(body) > max_bytes:
            raise TimeoutError
    if response.length:  # what is missing of the length that was promised
        raise OSError("cut off")
    return body
