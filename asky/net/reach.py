"""Which hosts the calling code may connect to: any, or only this machine.

    with reach(local_only=True):    # around a run
        ...                         # whatever it opens a connection with asks `require_reachable` first

Pages, the browser, models, search services and single requests ask before a name is resolved and before a socket is
opened. Tasks, and threads started by anyio, inherit the value. Other processes do not need it: those that read files,
embed and show pages never use the network; and the programs that the user configured as tools or adapters are the
user's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from asky.errors import SourceRefused
from asky.net.addresses import is_loopback

if TYPE_CHECKING:
    import httpx2

_HINT = "leave out --offline, or choose a privacy mode that allows the network"

_LOCAL_ONLY: ContextVar[bool] = ContextVar("asky_local_only", default=False)


@contextmanager
def reach(*, local_only: bool) -> Iterator[None]:
    """With `local_only`, keep the code in this context on this machine; without, change nothing."""
    token = _LOCAL_ONLY.set(local_only or _LOCAL_ONLY.get())
    try:
        yield
    finally:
        _LOCAL_ONLY.reset(token)


def is_local_only() -> bool:
    """Return whether the calling code may reach this machine only; see `reach`."""
    return _LOCAL_ONLY.get()


def require_reachable(host: str) -> None:
    """Raise `SourceRefused` if the calling code may not connect to `host`, a name or an address without port."""
    if is_local_only() and not is_loopback(host):
        raise SourceRefused(
            f"refused: {host or 'an empty host'} is not this machine, which is all that may be reached", hint=_HINT
        )


def require_searchable(name: str) -> None:
    """Raise `SourceRefused` if the calling code may not use the search service `name`.

    One on this machine is refused too: it would pass the words on.
    """
    if is_local_only():
        raise SourceRefused(f"refused: {name} searches the web, and only this machine may be reached", hint=_HINT)


async def check_request(request: httpx2.Request) -> None:
    """Raise `SourceRefused` for a request to a host that may not be reached: a hook of every HTTP client."""
    require_reachable(request.url.host)
