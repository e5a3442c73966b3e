"""Files of one host, for keeps: large ones are resumed where they broke off. Nothing of the user is sent along.

A request carries no token, cookie or credentials, and a redirect is followed only to the same host or to one that the
caller trusts, by TLS.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import anyio

from asky.errors import AskyError, ProviderError, RateLimited, SourceRefused, StoreFull, TimedOut, Unreachable
from asky.net.faults import transport_fault
from asky.net.http import Connecting, client_factory
from asky.net.reach import require_reachable
from asky.net.replies import RETRIED
from asky.net.retry import Pauses, Retry, Waiting, named_wait_s

if TYPE_CHECKING:
    import httpx2

_HEAD_S = 15.0
"""Seconds until the head of a response, connecting included; a host that is silent for so long is given up."""

_SILENCE_S = 30.0
"""Seconds between two pieces of a body after which the connection counts as broken."""

_MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RETRY = Retry()
"""Attempts without a byte of progress; one that brought some starts the count again."""

_MAX_ATTEMPTS = 50
"""Of one file: a connection that breaks after every few bytes ends too."""

_FULL = (27, 28, 122)  # EFBIG, ENOSPC, EDQUOT


class NotServed(ProviderError):
    """The host answered with a status that is no file. `status` is that of HTTP, `headers` have lower-case names."""

    def __init__(self, message: str, *, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers
        self.retryable = status in RETRIED


@dataclass(frozen=True, slots=True)
class _Part:
    """A response whose body begins at byte `start` of the file."""

    response: httpx2.Response
    start: int


class Downloads:
    """Downloads from `base_url`. `trusts` says of a host name whether a redirect may lead there by TLS."""

    def __init__(self, base_url: str, *, trusts: Callable[[str], bool], waiting: Waiting | None = None) -> None:
        self._base_url = base_url.rstrip("/")
        self._trusts = trusts
        self._waiting = waiting or Waiting()
        self._pauses = Pauses(_RETRY, self._waiting)

    @property
    def host(self) -> str:
        """The host, with its port if it is named."""
        return urlsplit(self._base_url).netloc.rpartition("@")[2]

    async def read(self, path: str, *, max_bytes: int) -> bytes:
        """Return the body at `path`. Raises as `save` does, and `ProviderError` if it is longer than `max_bytes`."""
        body = bytearray()

        async def once() -> None:
            body.clear()
            async with self._open(path, 0) as part:
                async for piece in self._pieces(part.response):
                    body.extend(piece)
                    if len(body) > max_bytes:
                        raise ProviderError(f"{self.host} sent more than {max_bytes:,} bytes for {path}")

        await self._persist(once, lambda: 0)
        return bytes(body)

    async def save(self, path: str, file: Path, size: int, progress: Callable[[int], None]) -> None:
        """Write the `size` bytes at `path` to `file`, after what it holds already; call `progress` with its size.

        What was written stays, however it ends. Raises `Unreachable` or `TimedOut` without a connection, `NotServed`
        for any status but that of a file, `RateLimited` for 429, `SourceRefused` for a redirect to a host that is not
        trusted, `ProviderError` for more bytes than `size`, and `StoreFull`.
        """

        def held() -> int:
            return file.stat().st_size if file.exists() else 0

        def forget() -> None:
            file.unlink(missing_ok=True)

        async def once() -> None:
            try:
                await self._continue(path, file, size, held(), progress)
            except NotServed as error:
                if error.status not in (206, 416) or not held():
                    raise
                forget()  # what is there is no beginning of the file
                raise Unreachable(f"{self.host} did not go on with {path}") from error

        if held() > size:
            forget()
        await self._persist(once, held)

    async def _continue(self, path: str, file: Path, size: int, start: int, progress: Callable[[int], None]) -> None:
        if start == size and size:
            progress(size)
            return
        async with self._open(path, start) as part:
            done = part.start
            try:
                with file.open("r+b" if done else "wb") as out:
                    out.seek(done)
                    out.truncate()
                    async for piece in self._pieces(part.response):
                        done += len(piece)
                        if done > size:
                            raise ProviderError(f"{self.host} sent more than the {size:,} bytes of {path}")
                        out.write(piece)
                        progress(done)
            except OSError as error:
                if error.errno in _FULL:
                    raise StoreFull(f"disk full while downloading to {file.parent}") from error
                raise
        if done < size:
            raise Unreachable(f"{self.host} broke off {path} after {done:,} of {size:,} bytes")

    async def _persist(self, once: Callable[[], Awaitable[None]], held: Callable[[], int]) -> None:
        """Await `once()` until it succeeds; see `_RETRY`."""
        failed = 0
        for _ in range(_MAX_ATTEMPTS):
            before = held()
            try:
                await once()
            except AskyError as error:
                failed = 1 if held() > before else failed + 1
                if not error.retryable or failed >= _RETRY.max_tries:
                    raise
                named = error.wait_s if isinstance(error, RateLimited) else None
                delay = named if named is not None else self._pauses.backoff_s(failed)
                await self._pauses.wait(error, delay, until=float("inf"))
            else:
                return
        raise Unreachable(f"{self.host} broke off {_MAX_ATTEMPTS} times", retryable=False)

    @asynccontextmanager
    async def _open(self, path: str, start: int) -> AsyncIterator[_Part]:
        url = f"{self._base_url}/{path.lstrip('/')}"
        for _ in range(_MAX_REDIRECTS + 1):
            async with self._exchange(url, start) as response:
                if response.status_code not in _REDIRECTS:
                    yield _Part(response, self._checked(response, start))
                    return
                url = self._followed(url, response.headers.get("location", ""))
        raise ProviderError(f"{self.host} redirects {path} more than {_MAX_REDIRECTS} times")

    @asynccontextmanager
    async def _exchange(self, url: str, start: int) -> AsyncIterator[httpx2.Response]:
        import httpx2  # 0.09 s and 13 MB: only where something is downloaded

        host = urlsplit(url).netloc.rpartition("@")[2]
        require_reachable(urlsplit(url).hostname or "")
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
        connecting = Connecting()
        try:
            async with client_factory(url)() as client:
                request = client.build_request("GET", url, headers=headers, extensions={"trace": connecting.trace})
                with anyio.move_on_after(_HEAD_S) as scope:
                    response = await client.send(request, stream=True)
                if scope.cancelled_caught:
                    raise TimedOut(f"{host} did not answer within {_HEAD_S:g} s", retryable=False)
                try:
                    yield response
                finally:
                    await response.aclose()
        except httpx2.HTTPError as error:
            fault = transport_fault(error)
            raise Unreachable(f"{host} does not answer: {fault.why}", retryable=fault.may_retry) from error
        except httpx2.InvalidURL as error:
            raise Unreachable(f"{host} does not answer: its address is not valid", retryable=False) from error
        finally:
            await connecting.aclose()

    def _followed(self, url: str, location: str) -> str:
        """Return where a redirect leads. Raises `SourceRefused` unless it is trusted."""
        target = urljoin(url, location)
        if location and (is_same_host(target, self._base_url) or is_same_host(target, url)):
            return target
        if location and is_plain_tls(target) and self._trusts(urlsplit(target).hostname or ""):
            return target
        place = urlsplit(target).netloc.rpartition("@")[2] if location else "no address"
        raise SourceRefused(f"refused: {self.host} redirects to {place}, which is not its own")

    def _checked(self, response: httpx2.Response, start: int) -> int:
        """Return the byte of the file with which the body begins. Raises what the status calls for."""
        status = response.status_code
        headers = {name.lower(): value for name, value in response.headers.items()}
        if status == 200:
            return 0
        if status == 206 and start and headers.get("content-range", "").startswith(f"bytes {start}-"):
            return start
        wait_s = named_wait_s(headers, self._waiting.wall_clock)
        host = response.url.host
        if status == 429:
            limited = RateLimited(f"{host} asks clients to wait (HTTP 429)", hint="try again later")
            limited.wait_s = wait_s
            raise limited
        raise NotServed(f"{host} sent no file (HTTP {status})", status=status, headers=headers)

    async def _pieces(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        pieces = response.aiter_raw()  # in pieces as they come: what a broken connection sent is kept
        while True:
            with anyio.move_on_after(_SILENCE_S) as scope:
                piece = await anext(pieces, None)
            if scope.cancelled_caught:
                raise TimedOut(f"{response.url.host} sent nothing for {_SILENCE_S:g} s")
            if piece is None:
                return
            yield piece


def is_same_host(url: str, other: str) -> bool:
    """Return whether two addresses have the same scheme, host and port."""
    first, second = urlsplit(url), urlsplit(other)
    return (first.scheme, first.netloc.lower()) == (second.scheme, second.netloc.lower())


def is_plain_tls(url: str) -> bool:
    """Return whether an address uses TLS on the usual port, without a user in it."""
    parts = urlsplit(url)
    return parts.scheme == "https" and parts.netloc.lower() == parts.hostname
