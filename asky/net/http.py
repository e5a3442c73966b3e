"""The one HTTP client: no redirects, TLS verified, proxies from the environment, no timeouts of its own.

A caller sets deadlines with cancel scopes; two kinds of timers would only race.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from asky.net.addresses import is_loopback
from asky.net.reach import check_request
from asky.version import __version__

if TYPE_CHECKING:
    import httpx2


_CLOSING_S = 1.0


class Connecting:
    """The connection of a request until its TLS handshake is over: a client abandoned before that leaves it open.

    Pass `trace` to the client as its trace callback, and await `aclose` however the request ends.
    """

    def __init__(self) -> None:
        self._stream: Any = None

    async def trace(self, event: str, info: Any) -> None:
        """Handle an event of the client, see `extensions={"trace": ...}` of httpx2."""
        if event.endswith("connect_tcp.complete"):
            self._stream = info["return_value"]
        elif event.endswith("send_request_headers.started"):
            self._stream = None

    async def aclose(self) -> None:
        """Close the connection if no request was sent over it."""
        if self._stream is not None:
            import anyio  # checking whether a host is local needs none of it

            with anyio.move_on_after(_CLOSING_S, shield=True):
                await self._stream.aclose()


def client_factory(base_url: str) -> Callable[[], httpx2.AsyncClient]:
    """Return a function that opens a client for `base_url`; the clients share one TLS context, made on the first call.

    Follows no redirects, and sends nothing to a host that `asky.net.reach` refuses. A local host is reached without the
    proxies of the environment. The caller closes each client, in the event loop that used it.
    """
    parts = urlsplit(base_url)
    is_tls = parts.scheme.lower() == "https"
    uses_environment = not is_loopback(parts.hostname or "")
    contexts: list[ssl.SSLContext] = []

    def open_client() -> httpx2.AsyncClient:
        import httpx2  # 0.09 s and 13 MB: only where the network is used

        if not contexts:
            contexts.append(_tls_context(uses_environment) if is_tls else _empty_trust_context())
        return httpx2.AsyncClient(
            verify=contexts[0],
            trust_env=uses_environment,
            follow_redirects=False,
            timeout=None,
            event_hooks={"request": [check_request]},
            headers={"User-Agent": f"asky/{__version__}"},
        )

    return open_client


def _tls_context(uses_environment: bool) -> ssl.SSLContext:
    import httpx2  # loaded by the caller

    return httpx2.create_ssl_context(trust_env=uses_environment)


def _empty_trust_context() -> ssl.SSLContext:
    """Return a context for plain HTTP: reading the machine's certificates would take 0.05 s for nothing."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
