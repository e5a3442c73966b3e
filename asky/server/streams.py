"""Following a run over a WebSocket or as server-sent events.

Each client reads the feed of the run at its own pace, so that one that is slow costs the others nothing. One that takes
too long to receive a message is dropped; it can go on from the number of its last message.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from fastapi import WebSocketDisconnect
from fastapi.responses import Response

from asky.errors import AskyError
from asky.server.messages import Messages, RunMessage, RunProgress, completed, failed

if TYPE_CHECKING:
    from asky.server.errors import Failures
    from asky.server.sessions import Sessions
    from asky.server.settings import ServerSettings

_DONE, _RESTARTS, _NOT_FOUND = 1000, 1012, 4404
_MAX_RECEIVED = 100
"""The most messages of one client, which has nothing to say."""

Send = Callable[[Any], Awaitable[Any]]


class SlowClient(Exception):
    """A client did not receive a message in time."""


_GONE = (SlowClient, WebSocketDisconnect, OSError)
"""What is raised for a client that takes nothing more."""


class RunStreams:
    """The messages of runs for any number of clients; they end when `stopping` is set."""

    def __init__(self, sessions: Sessions, failures: Failures, settings: ServerSettings, stopping: anyio.Event) -> None:
        self._sessions = sessions
        self._failures = failures
        self._settings = settings
        self._stopping = stopping
        self._messages = Messages(sessions.mask)

    async def messages(self, run_id: str, after: int) -> AsyncGenerator[RunMessage, None]:
        """Yield the messages of a run about its events after number `after`, and the one that says how it ended."""
        progress, seq = RunProgress(), 0
        async with aclosing(self._sessions.events(run_id)) as events:
            async for envelope in events:
                progress, seq = progress.after(envelope.event), envelope.seq
                if seq > after:
                    yield self._messages.of_event(envelope, progress)
        yield await self._last(run_id, seq)

    async def _last(self, run_id: str, seq: int) -> RunMessage:
        try:
            outcome = await self._sessions.outcome(run_id)
        except AskyError as error:
            return failed(run_id, seq, self._failures.report(error)[1])
        if outcome.error is not None:
            return failed(run_id, seq, outcome.error)
        return completed(run_id, seq, outcome.status, outcome.answer)

    # WebSocket

    async def websocket(self, run_id: str, after: int, receive: Callable[[], Awaitable[Any]], send: Send) -> None:
        """Follow a run over a WebSocket that has not been accepted yet."""
        is_known = await self._sessions.is_known(run_id)
        await receive()  # the request to connect
        await send({"type": "websocket.accept"})

        async def deliver(message: RunMessage) -> None:
            await self._send(send, {"type": "websocket.send", "text": message.text})

        if await self._follow(run_id, after, deliver, partial(_listen, receive)):
            code = _RESTARTS if self._stopping.is_set() else _DONE if is_known else _NOT_FOUND
            with suppress(*_GONE):
                await self._send(send, {"type": "websocket.close", "code": code})

    # server-sent events

    async def server_sent_events(
        self, run_id: str, after: int, receive: Callable[[], Awaitable[Any]], send: Send
    ) -> None:
        """Follow a run in the body of a response, which has not been started yet."""
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        sending = anyio.Lock()

        async def write(text: str, *, is_more: bool = True) -> None:
            async with sending:
                await self._send(send, {"type": "http.response.body", "body": text.encode(), "more_body": is_more})

        async def deliver(message: RunMessage) -> None:
            await write(f"id: {message.seq}\ndata: {message.text}\n\n")

        async def ping() -> None:
            while True:
                await anyio.sleep(self._settings.ping_s)
                await write(": ping\n\n")

        with suppress(*_GONE):
            await write("retry: 2000\n\n")
            if await self._follow(run_id, after, deliver, partial(_wait_for_end, receive), ping):
                await write("", is_more=False)

    async def _follow(
        self,
        run_id: str,
        after: int,
        deliver: Callable[[RunMessage], Awaitable[None]],
        until: Callable[[], Awaitable[None]],
        *beside: Callable[[], Awaitable[None]],
    ) -> bool:
        """Deliver messages until the last one, or the end of the server; return `False` if the client went before.

        It has gone when `until` or one of `beside` returns.
        """
        is_there = True
        async with anyio.create_task_group() as group:

            async def go(wait: Callable[[], Awaitable[None]]) -> None:
                nonlocal is_there
                with suppress(*_GONE):
                    await wait()
                is_there = False
                group.cancel_scope.cancel()

            async def stop() -> None:
                await self._stopping.wait()
                group.cancel_scope.cancel()

            group.start_soon(stop)
            for each in (until, *beside):
                group.start_soon(go, each)
            try:
                async with aclosing(self.messages(run_id, after)) as messages:
                    async for message in messages:
                        await deliver(message)
            except _GONE:
                is_there = False
            group.cancel_scope.cancel()
        return is_there

    async def _send(self, send: Send, message: Any) -> None:
        with anyio.move_on_after(self._settings.send_s) as limit:
            await send(message)
        if limit.cancelled_caught:
            raise SlowClient


async def _listen(receive: Callable[[], Awaitable[Any]]) -> None:
    """Return when a WebSocket is closed, or says more than it has to."""
    for _ in range(_MAX_RECEIVED):
        if (await receive())["type"] == "websocket.disconnect":
            return


async def _wait_for_end(receive: Callable[[], Awaitable[Any]]) -> None:
    """Return when the client of a response has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStream(Response):
    """A response of server-sent events about a run."""

    def __init__(self, streams: RunStreams, run_id: str, after: int) -> None:
        super().__init__()
        self._follow = partial(streams.server_sent_events, run_id, after)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002 - the signature of ASGI
        await self._follow(receive, send)
