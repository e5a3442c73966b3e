"""One request and its response, over a separate connection to a checked address.

    connect        to one of the given IP addresses, within the available time
    TLS            for the name of the host, whose certificate must match
    send, receive  HTTP/1.1 without cookies, referrer or credentials; no redirect is followed, nothing is decoded

Errors before the end of the response head are `Unreachable`, or `SourceUnreadable` for anything but HTTP.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio

from asky.errors import AskyError, SourceUnreadable, Unreachable
from asky.net.reach import require_reachable
from asky.text.urls import WebAddress


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a response: names in lower case; the values of a repeated name in order."""

    status: int
    headers: Mapping[str, tuple[str, ...]]

    def first(self, name: str) -> str | None:
        values = self.headers.get(name)
        return values[0] if values else None

    def single(self) -> dict[str, str]:
        """Return the first value of each name."""
        return {name: values[0] for name, values in self.headers.items()}


@dataclass(frozen=True, slots=True)
class OpenConnection:
    """A response whose body has not been read: `pieces` are its bytes as received, still encoded."""

    head: Head
    pieces: AsyncIterator[bytes]


@asynccontextmanager
async def open_response(
    address: WebAddress, ips: Sequence[str], headers: Sequence[tuple[str, str]], context: ssl.SSLContext | None
) -> AsyncIterator[OpenConnection]:
    """Request `address` at one of `ips`, without resolving its name. The connection ends with the block.

    `pieces` raises `SourceUnreadable` with the verdict `truncated` if the body ends early, and `failed` if it is not
    HTTP. Raises `SourceRefused` if one of `ips` may not be reached.
    """
    for ip in ips:
        require_reachable(ip)
    import httpcore2  # 0.08 s: only where something is fetched

    from asky.net.http import Connecting
    from asky.net.located import Located

    connecting = Connecting()
    connection = httpcore2.AsyncHTTPConnection(
        httpcore2.Origin(address.scheme.encode(), _bracketed(address.host).encode(), address.port),
        ssl_context=context,
        network_backend=Located(ips),
    )
    url = httpcore2.URL(scheme=address.scheme, host=_bracketed(address.host), port=address.port, target=address.target)
    fields = [("Host", address.authority), *headers, ("Connection", "close")]
    request = httpcore2.Request("GET", url, headers=[(name.encode(), _latin(value)) for name, value in fields])
    request.extensions["sni_hostname"] = address.host.rstrip(".")
    request.extensions["trace"] = connecting.trace
    try:
        try:
            response = await connection.handle_async_request(request)
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise _no_answer(address, error) from error
        if response.status == 101:
            raise SourceUnreadable(f"could not read {address.host}: it does not speak HTTP on this port")
        async with aclosing(_pieces(address, response)) as pieces:
            yield OpenConnection(Head(response.status, _by_name(response.headers)), pieces)
    finally:
        with anyio.move_on_after(1, shield=True):
            await connecting.aclose()
            await connection.aclose()


async def _pieces(address: WebAddress, response: Any) -> AsyncGenerator[bytes, None]:
    import httpcore2

    try:
        async for piece in response.aiter_stream():
            yield piece
    except httpcore2.RemoteProtocolError as error:
        if "complete message body" in str(error):
            raise _cut_short(address) from error
        raise SourceUnreadable(f"could not read {address.host}: its response is not HTTP") from error
    except (httpcore2.NetworkError, OSError) as error:
        raise _cut_short(address) from error


def _cut_short(address: WebAddress) -> SourceUnreadable:
    return SourceUnreadable(f"{address.host} sent only a part of the page", verdict="truncated", hint="try again later")


def _no_answer(address: WebAddress, error: Exception) -> AskyError:
    """Return the error that prevented a response head."""
    import httpcore2

    cause = _root(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Unreachable(
            f"could not reach {address.host}: its certificate is not valid ({cause.verify_message})", retryable=False
        )
    if isinstance(cause, ssl.SSLError):
        return Unreachable(f"could not reach {address.host}: no TLS connection ({_word(cause)})", retryable=False)
    if isinstance(error, httpcore2.ProtocolError) and "without sending" not in str(error):
        return SourceUnreadable(f"could not read {address.host}: its response is not HTTP")
    may_pass = not isinstance(cause, TimeoutError)  # the system has tried a silent host three times
    return Unreachable(f"could not reach {address.host}: {_word(cause)}", retryable=may_pass)


def _root(error: BaseException) -> BaseException:
    seen = error
    while seen.__cause__ is not None:
        seen = seen.__cause__
    return seen


def _word(error: BaseException) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, ssl.SSLError):
        return (error.reason or "handshake failed").lower().replace("_", " ")
    if isinstance(error, OSError) and error.strerror and not isinstance(error, ConnectionError):
        return error.strerror.lower()
    return "it closed the connection without an answer"


def _by_name(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        key = name.decode("latin-1").lower()
        found[key] = (*found.get(key, ()), value.decode("latin-1"))
    return found


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _latin(value: str) -> bytes:
    return value.encode("latin-1")
