"""A network backend with fixed addresses for every name. Imported only if something is fetched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import httpcore2

CONNECT_S = 5.0
"""Connection timeout: a first packet that is lost is sent again after 1 s and after 3 s. Source: RFC 6298."""

_STAGGER_S = 0.25
"""Delay before the next address of a host is tried in parallel. Source: RFC 8305, section 5."""

_MAX_ADDRESSES = 4


class Located(httpcore2.AsyncNetworkBackend):
    """Connects to whichever of `ips` answers first, whatever the host name. Resolves nothing."""

    def __init__(self, ips: Sequence[str]) -> None:
        self._ips = ips[:_MAX_ADDRESSES]
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore2.AsyncNetworkStream:  # noqa: ARG002
        """Connect to the first responding address. Raises `httpcore2.ConnectError` if none does in `CONNECT_S`."""
        winners: list[httpcore2.AsyncNetworkStream] = []
        failures: list[httpcore2.ConnectError] = []

        async def attempt(ip: str, failed: anyio.Event) -> None:
            try:
                stream = await self._network.connect_tcp(ip, port)
            except httpcore2.ConnectError as error:
                failures.append(error)
                failed.set()
                return
            winners.append(stream)
            group.cancel_scope.cancel()

        try:
            with anyio.move_on_after(CONNECT_S):
                async with anyio.create_task_group() as group:
                    for ip in self._ips:
                        failed = anyio.Event()
                        group.start_soon(attempt, ip, failed)
                        with anyio.move_on_after(_STAGGER_S):
                            await failed.wait()
        except BaseException:
            await _close(winners)
            raise
        await _close(winners[1:])
        if winners:
            return winners[0]
        raise failures[0] if failures else _silence()


async def _close(streams: Sequence[httpcore2.AsyncNetworkStream]) -> None:
    with anyio.move_on_after(1, shield=True):
        for stream in streams:
            await stream.aclose()


def _silence() -> httpcore2.ConnectError:
    error = httpcore2.ConnectError("no answer")
    error.__cause__ = TimeoutError()
    return error
