"""Fetching content from the web, from untrusted addresses.

fetch       one deadline for all of it, apart from waiting for turns if the user named the page; up to five redirects
hop         the guard, robots.txt
try         up to three, with pauses, within a budget of extra requests
request     the host's turn, its addresses, one response, the body
"""

from __future__ import annotations

import math
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import anyio

from asky.config.schema import Network
from asky.errors import AskyError, SourceRefused, SourceUnreadable, TimedOut, Unreachable
from asky.net.bodies import Body, Caps, read_body
from asky.net.connection import open_response
from asky.net.fetching import Fetched, Reached, ignore_host
from asky.net.guard import Guard
from asky.net.host_policy import policy_for
from asky.net.pace import Pace
from asky.net.replies import (
    RETRIED,
    PageReply,
    is_page,
    is_sendable,
    leads_to,
    media_type_of,
    named_wait,
    refusal,
    validator,
)
from asky.net.retry import Pauses, Retry, RetryBudget, Waiting
from asky.net.robots import MAX_BYTES as ROBOTS_BYTES
from asky.net.robots import Robots
from asky.text.urls import WebAddress
from asky.version import __version__

MAX_REDIRECTS = 5
_ROBOTS_S = 10.0
_ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of one fetch, and of the load on a host."""

    timeout_s: float = 20.0
    max_page_bytes: int = 10 << 20
    max_pdf_bytes: int = 50 << 20
    per_host: int = 2
    host_gap_s: float = 0.5


class GuardedFetcher:
    """The `Fetcher` of asky.

    Sends no cookies, no referrer and no credentials, uses no proxy of the environment, and opens a connection for every
    request. `budget` limits retries, shared with all other callers. `context` makes the TLS context, once, when it is
    needed.
    """

    def __init__(
        self,
        guard: Guard,
        pace: Pace,
        limits: FetchLimits | None = None,
        *,
        robots: bool = True,
        retry: Retry | None = None,
        budget: RetryBudget | None = None,
        waiting: Waiting | None = None,
        context: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._guard = guard
        self._pace = pace
        self._limits = limits or FetchLimits()
        self._waiting = waiting or Waiting()
        self._pauses = Pauses(retry or Retry(), self._waiting)
        self._budget = budget or RetryBudget()
        self._robots = Robots(self._get_robots, self._waiting.clock) if robots else None
        self._make_context = context or _system_context
        self._context: ssl.SSLContext | None = None

    async def fetch(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        named_by_user: bool = False,
        reached: Reached = ignore_host,
    ) -> Fetched:
        """Fetch `url`; see `asky.net.fetching.Fetcher`."""
        start = self._guard.check(url)
        conditions = _conditions(etag, last_modified)
        # not fail_after: it looks at the deadline again, which a turn may have moved once the time was up
        with anyio.move_on_after(self._limits.timeout_s) as scope:
            patient = scope if named_by_user else None
            return await self._follow(url, start, conditions, reached, patient)
        raise TimedOut(
            f"{start.host} did not send the page within {self._limits.timeout_s:g} s",
            hint="try again later, or raise network.timeout_s",
        )

    async def _follow(
        self,
        url: str,
        start: WebAddress,
        conditions: Headers,
        reached: Reached,
        patient: anyio.CancelScope | None,
    ) -> Fetched:
        """Fetch `url`, which the user named if there is a `patient` scope: waiting for a turn does not count in it."""
        address, passed = start, list[str]()
        while True:
            gap_s = self._limits.host_gap_s
            if self._robots is not None and patient is None:
                gap_s = max(gap_s, await self._robots.delay_for(address, reached))
            reply = await self._try(address, conditions, gap_s, reached, patient)
            place = leads_to(reply.head, address.host)
            if place is None:
                return _fetched(url, address, reply, tuple(passed))
            passed.append(str(address))
            address = self._next(address, place, len(passed))

    def _next(self, address: WebAddress, place: str, redirects: int) -> WebAddress:
        """Return the target of a redirect. Raises `SourceRefused`, and `SourceUnreadable` after too many."""
        if redirects > MAX_REDIRECTS:
            raise SourceUnreadable(f"could not read {address.host}: more than {MAX_REDIRECTS} redirects, or a loop")
        try:
            following = self._guard.check(place, address)
        except SourceRefused as error:
            raise SourceRefused(f"{error.message} ({address.host} redirects there)", hint=error.hint) from None
        if address.scheme == "https" and following.scheme == "http":
            raise SourceRefused(
                f"refused: {address.host} redirects from https to http, where the page could be altered"
            )
        return following

    async def _try(
        self,
        address: WebAddress,
        conditions: Headers,
        gap_s: float,
        reached: Reached,
        patient: anyio.CancelScope | None,
    ) -> PageReply:
        """Return a response that is a page, a redirect or a 304, after as many attempts as needed."""
        self._budget.count()
        tries = 1
        while True:
            wait_s: float | None = None
            try:
                reply = await self._request(address, conditions, gap_s, reached, self._caps, patient)
            except Unreachable as error:
                failure: AskyError = error
                is_transient = error.retryable
            else:
                wait_s = named_wait(reply.head, self._waiting.wall_clock())
                refused = refusal(reply.head, address.host, wait_s, is_conditional=bool(conditions))
                if refused is None:
                    return reply
                failure, is_transient = refused, reply.status in RETRIED
            if not is_transient or tries >= self._pauses.policy.max_tries or not self._budget.take():
                raise failure
            await self._pauses.wait(
                failure, self._pauses.backoff_s(tries) if wait_s is None else wait_s, until=float("inf")
            )
            tries += 1

    async def _request(
        self,
        address: WebAddress,
        conditions: Headers,
        gap_s: float,
        reached: Reached,
        caps: Caps,
        patient: anyio.CancelScope | None = None,
    ) -> PageReply:
        """Send one request; the body of a page is read."""
        key, gap_s, at_once = policy_for(address.host, gap_s=gap_s, at_once=self._limits.per_host)
        async with _not_counted(self._pace.turn(key, gap_s=gap_s, at_once=at_once), patient):
            ips = await self._guard.locate(address)
            reached(address.host)
            async with open_response(address, ips, (*_HEADERS, *conditions), self._context_for(address)) as opened:
                if not is_page(opened.head):
                    return PageReply(opened.head, Body(b""))
                return PageReply(opened.head, await read_body(opened, address.host, caps))

    @property
    def _caps(self) -> Caps:
        return Caps(self._limits.max_page_bytes, max(self._limits.max_page_bytes, self._limits.max_pdf_bytes))

    def _context_for(self, address: WebAddress) -> ssl.SSLContext | None:
        if address.scheme == "https" and self._context is None:
            self._context = self._make_context()
        return self._context

    async def _get_robots(self, address: WebAddress, reached: Reached) -> bytes | None:
        """Return the robots.txt at `address`, or where it redirects; `None` for 4xx, and for endless redirects."""
        try:
            with anyio.fail_after(min(_ROBOTS_S, self._limits.timeout_s / 2)):
                return await self._follow_robots(address, reached)
        except TimeoutError:
            raise TimedOut(f"{address.host} did not send its robots.txt in time") from None

    async def _follow_robots(self, address: WebAddress, reached: Reached) -> bytes | None:
        caps = Caps(ROBOTS_BYTES, ROBOTS_BYTES)
        redirects = 0
        while True:
            reply = await self._request(address, (), self._limits.host_gap_s, reached, caps)
            place = leads_to(reply.head, address.host)
            if place is None:
                break
            redirects += 1
            if redirects > MAX_REDIRECTS:
                return None
            address = self._next(address, place, redirects)
        if is_page(reply.head):
            return reply.body.data
        if 400 <= reply.status < 500:
            return None
        raise refusal(reply.head, address.host) or SourceUnreadable(f"{address.host} sent no robots.txt")


@asynccontextmanager
async def _not_counted(turn: AbstractAsyncContextManager[None], scope: anyio.CancelScope | None) -> AsyncIterator[None]:
    """Take a turn; the deadline of `scope` moves by the time that this takes."""
    if scope is None:
        async with turn:
            yield
        return
    left_s = scope.deadline - anyio.current_time()
    scope.deadline = math.inf
    async with turn:
        scope.deadline = anyio.current_time() + left_s
        yield


Headers = tuple[tuple[str, str], ...]

_HEADERS: Headers = (
    ("User-Agent", f"asky/{__version__}"),
    ("Accept", _ACCEPT),
    ("Accept-Encoding", "gzip"),
)


def open_fetcher(network: Network, pace: Pace, budget: RetryBudget | None = None) -> GuardedFetcher:
    """Return the configured fetcher. Raises `ConfigError` for an invalid entry of `allow_private`."""
    limits = FetchLimits(
        timeout_s=network.timeout_s,
        max_page_bytes=network.max_page_mb << 20,
        max_pdf_bytes=network.max_pdf_mb << 20,
        per_host=network.per_host,
        host_gap_s=network.host_gap_s,
    )
    return GuardedFetcher(Guard(network.allow_private), pace, limits, robots=network.robots, budget=budget)


def _fetched(url: str, address: WebAddress, reply: PageReply, redirects: tuple[str, ...]) -> Fetched:
    media_type, charset = media_type_of(reply.head)
    return Fetched(
        requested=url,
        url=str(address),
        status=304 if reply.status == 304 else 200,
        body=reply.body.data,
        media_type=media_type,
        charset=charset,
        etag=validator(reply.head, "etag"),
        last_modified=validator(reply.head, "last-modified"),
        is_cut=reply.body.is_cut,
        redirects=redirects,
    )


def _conditions(etag: str | None, last_modified: str | None) -> Headers:
    named = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return tuple((name, value) for name, value in named if value is not None and is_sendable(value))


def _system_context() -> ssl.SSLContext:
    import httpx2  # 0.09 s; the machine's trusted certificates, as everywhere else

    return httpx2.create_ssl_context()
