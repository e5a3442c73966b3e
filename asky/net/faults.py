"""Explanation of requests that did not go through."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from socket import EAI_AGAIN, gaierror
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True, slots=True)
class TransportFault:
    """The reason for a missing response, as the end of a sentence, and whether a retry may succeed."""

    why: str
    may_retry: bool


def transport_fault(error: httpx2.HTTPError) -> TransportFault:
    """Explain the client's `error`. The text contains nothing of the address, which may hold a key."""
    import httpx2  # the error comes from it

    causes = list(_causes(error))
    if isinstance(error, httpx2.TimeoutException):
        return TransportFault("no connection could be established in time", may_retry=True)
    if isinstance(error, httpx2.LocalProtocolError | httpx2.UnsupportedProtocol):
        return TransportFault("the request could not be sent", may_retry=False)
    if isinstance(error, httpx2.DecodingError):
        return TransportFault("its compression is damaged", may_retry=False)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return TransportFault("its certificate is not valid", may_retry=False)
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return TransportFault("no TLS connection could be established", may_retry=False)
    unknown = next((cause for cause in causes if isinstance(cause, gaierror)), None)
    if unknown is not None:
        return TransportFault("its name cannot be resolved", may_retry=unknown.errno == EAI_AGAIN)
    if isinstance(error, httpx2.ProxyError):
        return TransportFault("the proxy refused the connection", may_retry=False)
    if isinstance(error, httpx2.ConnectError):
        refused = any(isinstance(cause, ConnectionRefusedError) for cause in causes)
        return TransportFault(
            "the connection was refused" if refused else "no connection could be established", may_retry=True
        )
    return TransportFault("the connection ended without a whole answer", may_retry=True)


def _causes(error: BaseException, depth: int = 0) -> Iterator[BaseException]:
    """Yield the error and its causes, with groups expanded."""
    yield error
    if depth > 8:
        return
    for inner in getattr(error, "exceptions", ()):
        yield from _causes(inner, depth + 1)
    cause = error.__cause__ or error.__context__
    if cause is not None:
        yield from _causes(cause, depth + 1)
