"""One attempt of a call: a request goes out, deltas and a reply come back, each wait within its limit."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from socket import EAI_AGAIN, gaierror
from typing import TYPE_CHECKING, Any

import anyio

from asky.errors import AuthenticationFailed, ProviderError, TimedOut, Unreachable
from asky.llm.endpoint.endpoint import Endpoint
from asky.llm.endpoint.errors import EndpointFailure, failure_of, name_of, redirect_error
from asky.llm.endpoint.refusal import parse_refusal, read_refusal
from asky.llm.endpoint.reply_reader import ErrorInReply, NoReply, ReplyReader
from asky.llm.port import Reply, TextDelta
from asky.net.http import Connecting
from asky.net.retry import Waiting

if TYPE_CHECKING:
    import httpx2

_MAX_ERROR_BYTES = 64 << 10
_ERROR_BODY_S = 10.0
_CLEAN_SHARE = 0.9
"""The share of the connect timeout that is the client's own limit: it then closes the socket cleanly."""
_AFTER_FINISH_S = 5.0
"""Seconds to wait for usage after the end of a reply, if the endpoint does not end its stream."""
_DRAIN_S = 0.1
"""Seconds to wait for the end of a body, so that the connection can be reused."""

_TOO_LATE = "no connection could be established in time"


class HttpCallFailed(Exception):
    """The attempt led to no reply. `broke_off` says that the response ended early, without an endpoint error."""

    def __init__(self, failure: EndpointFailure, *, broke_off: bool = False) -> None:
        super().__init__(failure.error.message)
        self.failure = failure
        self.broke_off = broke_off


class _Silence(Exception):
    """Nothing arrived in time."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Deadlines on `Waiting.clock`: for the first token, and for the whole reply."""

    first_token_at: float
    end_at: float


class HttpCall:
    """One attempt. `has_yielded` is set once text has been yielded; after that it cannot be retried.

    `may_have_cost` is set once the model may have worked: the endpoint took the request and began a reply, or the wait
    for its response was abandoned.

    `first_token_s` is the time from the request to the first generated output, text or not.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        client: httpx2.AsyncClient,
        waiting: Waiting,
        deadlines: Deadlines,
        *,
        keeps_connection: bool = False,
    ) -> None:
        self.has_yielded = False
        self.may_have_cost = False
        self.first_token_s: float | None = None
        self._started_at = waiting.clock()
        self._endpoint = endpoint
        self._client = client
        self._waiting = waiting
        self._deadlines = deadlines
        self._keeps_connection = keeps_connection
        self._is_connected = False

    async def run(self, request: Mapping[str, Any], reader: ReplyReader) -> AsyncGenerator[TextDelta | Reply, None]:
        """Send `request` and yield what `reader` makes of the response.

        A stream that breaks after text was yielded ends with a reply marked as cut. Raises `HttpCallFailed`, and
        `TimedOut` if a limit passed. Leaving early closes the connection.
        """
        response = await self._send(request)
        try:
            if response.status_code != 200:
                raise HttpCallFailed(await self._refusal(response))
            self.may_have_cost = True
            stream = response.aiter_bytes()
            async with aclosing(self._read(stream, reader)) as texts:
                async for text in texts:
                    self.has_yielded = True
                    yield TextDelta(text)
            for item in reader.conclude():
                yield item
            if self._keeps_connection:
                with anyio.move_on_after(_DRAIN_S):
                    await _drain(stream)
        finally:
            await response.aclose()

    async def _send(self, request: Mapping[str, Any]) -> httpx2.Response:
        import httpx2  # 0.09 s: only where the network is used; the client has loaded it

        connecting = Connecting()
        scope = anyio.CancelScope(deadline=self._deadline(self._waiting.clock() + self._endpoint.timeouts.connect_s))

        async def trace(event: str, info: Any) -> None:
            await connecting.trace(event, info)
            if event.endswith("send_request_headers.started"):
                self._is_connected = True
                scope.deadline = self._deadline(self._deadlines.first_token_at)

        with scope:
            try:
                message = self._client.build_request(
                    "POST",
                    f"{self._endpoint.base_url.rstrip('/')}/chat/completions",
                    content=json.dumps(request, ensure_ascii=False).encode("utf-8", "replace"),
                    headers=request_headers(self._endpoint),
                    timeout=httpx2.Timeout(None, connect=_CLEAN_SHARE * self._endpoint.timeouts.connect_s),
                    extensions={"trace": trace},
                )
                return await self._client.send(message, stream=True)
            except httpx2.HTTPError as error:
                raise HttpCallFailed(_transport_failure(self._endpoint, error)) from error
            except anyio.get_cancelled_exc_class():
                self.may_have_cost = self._is_connected
                raise
            finally:
                await connecting.aclose()
        if self._is_connected:
            raise self._timed_out(is_first=True)
        raise HttpCallFailed(EndpointFailure(_unreachable(self._endpoint, _TOO_LATE)))

    async def _refusal(self, response: httpx2.Response) -> EndpointFailure:
        import httpx2  # loaded by the client

        status = response.status_code
        if 300 <= status < 400:
            return EndpointFailure(redirect_error(self._endpoint, status, response.headers.get("location", "")))
        body = bytearray()
        with anyio.move_on_after(_ERROR_BODY_S):
            try:
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > _MAX_ERROR_BYTES:
                        break
            except httpx2.HTTPError:
                pass  # the status suffices
        refusal = parse_refusal(body.decode("utf-8", "replace"))
        headers = {name.lower(): value for name, value in response.headers.items()}
        return failure_of(self._endpoint, refusal, status=status, headers=headers, wall_clock=self._waiting.wall_clock)

    async def _read(self, stream: AsyncIterator[bytes], reader: ReplyReader) -> AsyncGenerator[str, None]:
        """Yield text until the reply has ended, or has broken off after some text was yielded."""
        import httpx2  # loaded by the client

        try:
            while not reader.is_done:
                try:
                    piece = await self._next(stream, reader)
                except _Silence:
                    if reader.is_complete:
                        return
                    raise self._timed_out(is_first=not reader.is_started) from None
                except httpx2.HTTPError:
                    break
                for text in reader.feed(piece) if piece is not None else reader.end():
                    yield text
                if reader.is_started and self.first_token_s is None:
                    self.first_token_s = self._waiting.clock() - self._started_at
        except ErrorInReply as error:
            self.may_have_cost = reader.is_started
            raise HttpCallFailed(self._failure_in_reply(error)) from None
        except NoReply as error:
            self.may_have_cost = reader.is_started
            message = f"{name_of(self._endpoint)} {error}"
            hint = f"check base_url of the provider {self._endpoint.provider}"
            raise HttpCallFailed(EndpointFailure(ProviderError(message, hint=hint))) from None
        if not reader.is_complete and not self.has_yielded:
            broken = ProviderError(f"{name_of(self._endpoint)} closed the connection before answering", retryable=True)
            raise HttpCallFailed(EndpointFailure(broken, may_retry=True), broke_off=True)

    async def _next(self, stream: AsyncIterator[bytes], reader: ReplyReader) -> bytes | None:
        """Return the next bytes, `None` at the end. Raises `_Silence` if they did not arrive in time."""
        if reader.is_complete:
            until = self._waiting.clock() + min(_AFTER_FINISH_S, self._endpoint.timeouts.between_tokens_s)
        elif reader.is_started:
            until = self._waiting.clock() + self._endpoint.timeouts.between_tokens_s
        else:
            until = self._deadlines.first_token_at
        with anyio.CancelScope(deadline=self._deadline(until)):
            return await anext(stream, None)
        raise _Silence

    def _deadline(self, moment: float) -> float:
        """Return a moment on the clock, or the end of the call if that is sooner, as a cancel scope deadline."""
        return anyio.current_time() + min(moment, self._deadlines.end_at) - self._waiting.clock()

    def _failure_in_reply(self, error: ErrorInReply) -> EndpointFailure:
        refusal = read_refusal(error.value)
        failure = failure_of(self._endpoint, refusal, status=200, headers={}, wall_clock=self._waiting.wall_clock)
        if not self.has_yielded:
            return failure
        cause = failure.error
        return EndpointFailure(ProviderError(cause.message, hint=cause.hint, retryable=cause.retryable))

    def _timed_out(self, *, is_first: bool) -> TimedOut:
        timeouts = self._endpoint.timeouts
        if self._waiting.clock() >= self._deadlines.end_at:
            what, key = f"the call took longer than {timeouts.total_s:g} s", "total_s"
        elif is_first:
            what, key = f"no token arrived within {timeouts.first_token_s:g} s", "first_token_s"
        else:
            what, key = f"nothing arrived for {timeouts.between_tokens_s:g} s", "between_tokens_s"
        hint = f"raise {key} in the timeouts of the provider {self._endpoint.provider}, or choose another model with -m"
        return TimedOut(f"{name_of(self._endpoint)}: {what}", hint=hint)


def request_headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the headers of a request. Raises `AuthenticationFailed` for a key that no header can hold."""
    headers = {
        "Accept": "text/event-stream, application/json",
        "Accept-Encoding": "identity",  # compression delays streaming
        "Content-Type": "application/json",
    }
    key = (endpoint.api_key or "").strip()
    if not (key.isascii() and key.isprintable()):
        where = endpoint.api_key_env or f"the key of the provider {endpoint.provider}"
        raise AuthenticationFailed(f"{where} contains invalid characters", hint="copy the key again")
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return headers


def _transport_failure(endpoint: Endpoint, error: httpx2.HTTPError) -> EndpointFailure:
    """Return the failure for a request that did not go through."""
    import httpx2  # the error comes from it

    if isinstance(error, httpx2.ConnectTimeout):
        return EndpointFailure(_unreachable(endpoint, _TOO_LATE))
    causes = list(_causes(error))
    if isinstance(error, httpx2.LocalProtocolError | httpx2.UnsupportedProtocol):
        hint = f"check base_url of the provider {endpoint.provider}"
        return EndpointFailure(ProviderError(f"{name_of(endpoint)}: the request could not be sent", hint=hint))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return EndpointFailure(_unreachable(endpoint, "its certificate is not valid"))
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return EndpointFailure(_unreachable(endpoint, "no TLS connection could be established"))
    unknown = next((cause for cause in causes if isinstance(cause, gaierror)), None)
    if unknown is not None:
        why = "its name cannot be resolved"
        return EndpointFailure(_unreachable(endpoint, why), may_retry=unknown.errno == EAI_AGAIN)
    if isinstance(error, httpx2.ProxyError):
        return EndpointFailure(_unreachable(endpoint, "the proxy refused the connection"))
    if isinstance(error, httpx2.ConnectError):
        refused = any(isinstance(cause, ConnectionRefusedError) for cause in causes)
        why = "the connection was refused" if refused else "no connection could be established"
        return EndpointFailure(_unreachable(endpoint, why), may_retry=True)
    return EndpointFailure(_unreachable(endpoint, "the connection ended without a proper answer"), may_retry=True)


def _unreachable(endpoint: Endpoint, why: str) -> Unreachable:
    return Unreachable(
        f"{endpoint.alias} at {public_url(endpoint)} does not answer: {why}",
        hint="start the endpoint or check base_url, or choose another model with -m (`asky models list`)",
    )


def public_url(endpoint: Endpoint) -> str:
    """Return the base URL without user, password and query."""
    scheme = endpoint.base_url.partition("://")[0]
    path = endpoint.base_url.partition("://")[2].partition("/")[2].partition("?")[0]
    return f"{scheme}://{endpoint.host}/{path}"


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


async def _drain(stream: AsyncIterator[bytes]) -> None:
    import httpx2  # loaded by the client

    try:
        async for _ in stream:
            pass
    except httpx2.HTTPError:
        pass
