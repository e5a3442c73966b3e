"""The client of a search service: one deadline, one layer of retries, rate limits, and no key in any message.

    service = Service(name="brave", base_url="https://api.search.brave.com", ...)      # `catalog.make_service` does it
    found = await service.get_json("/res/v1/web/search", {"q": "..."}, headers={...}, explain=self._explain)

The result is a response or one of the errors of `asky.search.port`. An adapter adds two things: `explain`, for replies
that mean something else than their status says, and the interpretation of the JSON.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import anyio

from asky.config.redaction import Redactor
from asky.errors import AskyError, RateLimited, TimedOut, Unreachable
from asky.net.breaker import CircuitOpen
from asky.net.faults import TransportFault, transport_fault
from asky.net.host_policy import policy_at
from asky.net.http import Connecting, client_factory
from asky.net.reach import require_searchable
from asky.net.retry import Pauses, Retry, RetryBudget, Waiting, named_wait_s
from asky.search.reply import (
    Explain,
    ServiceReply,
    blocked,
    fault_of,
    key_refused,
    malformed,
    nothing_special,
    refuses_key,
)
from asky.search.service_table import RequestLimits
from asky.version import __version__

if TYPE_CHECKING:
    import httpx2

    from asky.net.breaker import Breaker
    from asky.net.pace import Pace

Result = TypeVar("Result")

MAX_BYTES = 8 << 20
"""The maximum size of a response: a hundred papers with abstracts take 0.5 MB."""

_CLEAN_SHARE = 0.9
"""The share of the deadline after which the client stops connecting: it then closes the socket cleanly."""


class _NoTurn(Exception):
    """Our own rate limit held a request back until its deadline. No breaker counts it."""

    def __init__(self, error: AskyError) -> None:
        super().__init__(error.message)
        self.error = error


class Service:
    """A search service as configured by the user; one for all searches of a process.

    Keys and limits are those of `asky.search.catalog`, which creates it.

    `api_key` is `None` if none is set, and `key_variable` names the variable that would hold it. `email` is `None` for
    services that must not get it. `parameters` are the user's, for every search: the adapter puts them between its own
    defaults and the values it must send. None of these is in the `repr`, and key and e-mail are removed from every
    error that passes through here.

    `key` identifies it to the breaker, and in messages about the connection. `gap_s` and `at_once` are the rate limits
    over all processes, shared with the pages of its site if `asky.net.host_policy` knows that site; `budget` limits
    retries, shared with all other callers; `timeout_s` is for a whole call: the wait for its turn, all attempts and the
    pauses between them.
    """

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        pace: Pace,
        breaker: Breaker,
        api_key: str | None = None,
        key_variable: str | None = None,
        email: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        limits: RequestLimits | None = None,
        gap_s: float = 0.0,
        at_once: int = 4,
        timeout_s: float = 30.0,
        retry: Retry | None = None,
        budget: RetryBudget | None = None,
        waiting: Waiting | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.name = name
        self.base_url = base_url.rstrip("/")
        self.host = urlsplit(base_url).netloc.rpartition("@")[2]
        self.key = f"{name} at {self.host}"
        known = policy_at(urlsplit(base_url).hostname or "")
        self._pace_key = self.key if known is None else known.domain
        self.api_key = api_key
        self.key_variable = key_variable
        self.email = email
        self.parameters: Mapping[str, Any] = dict(parameters or {})
        self.limits = limits or RequestLimits()
        self.timeout_s = timeout_s
        self.waiting = waiting or Waiting()
        self._pace, self._breaker = pace, breaker
        self._gap_s, self._at_once = gap_s, at_once
        self._pauses = Pauses(retry or Retry(), self.waiting)
        self._budget = budget or RetryBudget()
        self._max_bytes = max_bytes
        self._open_client = client_factory(base_url)
        self._redactor = Redactor((api_key, email))

    def __repr__(self) -> str:
        return f"Service({self.name!r}, {self.host!r})"

    async def get_json(
        self,
        path: str,
        params: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        explain: Explain = nothing_special,
    ) -> Any:
        """Return the JSON at `path` below the base URL. `None` parameters are not sent, lists are repeated."""
        return self.parse(await self.request("GET", path, params, headers=headers, explain=explain))

    async def post_json(
        self,
        path: str,
        content: Mapping[str, Any],
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        explain: Explain = nothing_special,
    ) -> Any:
        """Return the JSON response of `path` to `content`, sent as JSON. Values that are `None` are not sent."""
        return self.parse(await self.request("POST", path, params, content=content, headers=headers, explain=explain))

    async def request(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None = None,
        *,
        content: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        explain: Explain = nothing_special,
    ) -> ServiceReply:
        """Return a successful reply. Raises the errors of `asky.search.port`; `explain` overrides the status.

        A temporary failure is retried, within `timeout_s` and after the wait that the service names.
        """
        named_s: float | None = None

        async def once() -> ServiceReply:
            nonlocal named_s
            named_s = None
            reply = await self._exchange(client, method, path, params, content, headers)
            named_s = named_wait_s(reply.headers, self.waiting.wall_clock)
            error = explain(reply) or self._fault_of(reply)
            if error is None:
                return reply
            raise _with_wait(error, named_s)

        async with self._open_client() as client:  # before its turn: the first one takes 0.15 s, which would delay it
            return await self.ask(once, named_wait_s=lambda: named_s)

    async def ask(
        self, once: Callable[[], Awaitable[Result]], *, named_wait_s: Callable[[], float | None] = lambda: None
    ) -> Result:
        """Await `once()` as one search: rate-limited, within the deadline, retried after a temporary error.

        For services not reached through our HTTP client; `request` is for the others. `named_wait_s` returns the wait
        that the service asked for in its last reply. Raises `SourceRefused` if only this machine may be reached.
        """
        require_searchable(self.name)
        until = self.waiting.clock() + self.timeout_s
        failed: AskyError | None = None
        for tries in itertools.count(1):
            try:
                async with self._breaker.guard(self.key):
                    if failed is None:
                        self._budget.count()
                    return await self._try(once, until)
            except _NoTurn as error:
                raise failed or error.error from None
            except AskyError as error:
                if failed is not None and isinstance(error, CircuitOpen):
                    raise failed from None  # this attempt never began: our own breaker has opened
                if not error.retryable or tries >= self._pauses.policy.max_tries or not self._budget.take():
                    raise
                named_s = named_wait_s()
                await self._pauses.wait(
                    error, self._pauses.backoff_s(tries) if named_s is None else named_s, until=until
                )
                failed = error
        raise AssertionError("counting has no end")

    def parameters_with(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Return the user's parameters, overridden by `overrides` for this search; `None` values are ignored."""
        return {**self.parameters, **_present(overrides)}

    def today(self) -> date:
        """Return the current day in UTC."""
        return datetime.fromtimestamp(self.waiting.wall_clock(), tz=timezone.utc).date()

    def parse(self, reply: ServiceReply) -> Any:
        """Return the JSON of a reply. Raises `ProviderError` for anything else."""
        try:
            return reply.json()
        except ValueError:
            if reply.body.lstrip()[:1] == b"<":
                raise blocked(self.name, "a page came instead of an answer") from None
            raise malformed(self.name, "its answer is not JSON" if reply.body else "its answer is empty") from None

    def key_refused(self) -> AskyError:
        """Return the error for a key that is wrong, missing, or not allowed to do this."""
        return key_refused(self.name, variable=self.key_variable, is_set=self.api_key is not None)

    async def _try(self, once: Callable[[], Awaitable[Result]], until: float) -> Result:
        """Await `once()` in its turn. Raises `_NoTurn` if there was none, which the breaker does not count."""
        has_turn = False
        with anyio.CancelScope(deadline=anyio.current_time() + until - self.waiting.clock()) as scope:
            async with AsyncExitStack() as turn:
                try:
                    await turn.enter_async_context(
                        self._pace.turn(self._pace_key, gap_s=self._gap_s, at_once=self._at_once)
                    )
                except RateLimited as error:
                    raise _NoTurn(error) from None
                has_turn = True
                try:
                    return await once()
                except AskyError as error:
                    self._redactor.clean(error)
                    raise
        assert scope.cancelled_caught
        late = TimedOut(
            f"{self.key} did not answer within {self.timeout_s:g} s", hint=f"raise search.{self.name}.timeout_s"
        )
        raise late if has_turn else _NoTurn(late)

    async def _exchange(
        self,
        client: httpx2.AsyncClient,
        method: str,
        path: str,
        params: Mapping[str, Any] | None,
        content: Mapping[str, Any] | None,
        headers: Mapping[str, str] | None,
    ) -> ServiceReply:
        import httpx2  # the client has loaded it

        connecting = Connecting()
        try:
            request = client.build_request(
                method,
                self.base_url + path,
                params=_sendable(params or {}) or None,
                content=None if content is None else json.dumps(_present(content), default=str).encode(),
                headers=self._headers(headers or {}, has_content=content is not None),
                timeout=httpx2.Timeout(None, connect=_CLEAN_SHARE * self.timeout_s),
                extensions={"trace": connecting.trace},
            )
            response = await client.send(request, stream=True)
            try:
                body = await self._read(response)
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:  # its request contains the key: do not pass it on
            fault = transport_fault(error)
        except httpx2.InvalidURL:
            fault = TransportFault("its address is not valid", may_retry=False)
        else:
            names = {name.lower(): value for name, value in response.headers.items()}
            return ServiceReply(response.status_code, names, body)
        finally:
            await connecting.aclose()
        hint = f"check the network and search.{self.name}.base_url, or search with another service"
        raise Unreachable(f"{self.key} does not answer: {fault.why}", hint=hint, retryable=fault.may_retry)

    async def _read(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > self._max_bytes:
                raise malformed(self.name, f"its answer is longer than {self._max_bytes / 2**20:g} MB")
        return bytes(body)

    def _headers(self, headers: Mapping[str, str], *, has_content: bool) -> dict[str, str]:
        own = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        if self.email is not None:
            own["User-Agent"] = f"asky/{__version__} (mailto:{self.email})"
        if has_content:
            own["Content-Type"] = "application/json"
        return {**own, **headers}

    def _fault_of(self, reply: ServiceReply) -> AskyError | None:
        return self.key_refused() if refuses_key(reply) else fault_of(reply, self.name)


def _with_wait(error: AskyError, named_s: float | None) -> AskyError:
    """Return the error with the wait that the service asked for, if a retry is useful at all."""
    if error.retryable and named_s is not None:
        error.message += f"; it asks clients to wait {_duration(named_s)}"
        error.args = (error.message,)
        if isinstance(error, RateLimited):
            error.wait_s = named_s
    return error


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else "a moment"


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _sendable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return query parameters as text, lists as repeated names, booleans as `true` and `false`."""
    return {
        name: [_parameter(each) for each in value] if isinstance(value, list | tuple) else _parameter(value)
        for name, value in _present(params).items()
    }


def _parameter(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text.encode("utf-8", "replace").decode()
