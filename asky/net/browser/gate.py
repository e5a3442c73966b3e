"""The requests that a page in the browser may make, and their responses, all of which come through the guard.

    the page           its own document, and a few that it leads on to
    its parts          scripts, and requests of scripts with GET
    style sheets       empty ones, as some scripts wait for them
    anything else      refused: images, media, fonts, frames, other methods, streams, sockets

The browser itself makes none. The rule for private addresses is stricter than for a fetch without scripts. A page's
scripts could read private content and send it anywhere, so `allow_private` applies to the host of the page itself and
to no other.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from asky.errors import AskyError, SourceRefused, SourceUnreadable
from asky.net.addresses import is_public, parse_ip
from asky.net.bodies import Body, Caps, read_body
from asky.net.connection import open_response
from asky.net.fetching import Reached, ignore_host
from asky.net.guard import Guard
from asky.net.host_policy import policy_for
from asky.net.pace import Pace
from asky.net.replies import PageReply, is_page, is_sendable, leads_to, media_type_of, refusal
from asky.text.urls import WebAddress
from asky.version import __version__

_AT_ONCE = 6
"""Concurrent requests to one host. Source: the limit of browsers over HTTP/1.1; pages are built for it."""

_SCRIPTED = frozenset({"Script", "XHR", "Fetch", "Other"})
_DOCUMENTS = frozenset({None, "text/html", "application/xhtml+xml"})
_KEPT = frozenset(
    {
        "content-type",
        "location",
        "refresh",
        "content-security-policy",
        "referrer-policy",
        "x-content-type-options",
        "access-control-allow-origin",
        "access-control-expose-headers",
        "cross-origin-embedder-policy",
        "cross-origin-opener-policy",
        "cross-origin-resource-policy",
    }
)


@dataclass(frozen=True, slots=True)
class PageLimits:
    """The total limits of one page. A page that makes ten times as many requests is aborted."""

    max_requests: int = 150
    max_documents: int = 6
    max_bytes: int = 32 << 20
    max_part_bytes: int = 6 << 20
    at_once: int = 6


@dataclass(frozen=True, slots=True)
class GateRequest:
    """A request of the browser. `kind` is its type in the DevTools protocol, `navigation` the document that it loads.

    `accept` and `origin` are headers: a response can depend on them, and they do not identify the user. `is_ahead` says
    that it is a prefetch for a later page.
    """

    method: str
    url: str
    kind: str
    frame: str
    navigation: str
    accept: str = ""
    origin: str = ""
    is_ahead: bool = False


@dataclass(frozen=True, slots=True)
class GateResponse:
    """A response for the browser."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class PageGate:
    """The requests of one page at `own`, an address that the guard has checked.

    Each name is resolved once, so that its addresses do not change during the visit.
    """

    def __init__(
        self,
        own: WebAddress,
        guard: Guard,
        pace: Pace,
        limits: PageLimits,
        make_context: Callable[[], ssl.SSLContext],
        reached: Reached = ignore_host,
    ) -> None:
        self._own = own
        self._guard = guard
        self._pace = pace
        self._limits = limits
        self._make_context = make_context
        self._reached = reached
        self._context: ssl.SSLContext | None = None
        self._places = anyio.CapacityLimiter(limits.at_once)
        self._known: dict[str, tuple[str, ...]] = {}
        self._requests = 0
        self._documents = 0
        self._bytes = 0
        self._first: PageReply | None = None
        self.documents: dict[str, list[str]] = {}
        """The addresses of each navigation, in order: redirects, and finally the document."""
        self.failure: AskyError | None = None
        """The error of the last document."""

    async def open(self) -> None:
        """Request the page itself, before there is a browser. Raises what a fetch raises."""
        self._first = await self._request(self._own, (("Accept", "text/html,application/xhtml+xml"),))
        self._refuse_document(self._own, self._first)

    @property
    def is_overrun(self) -> bool:
        return self._requests > 10 * self._limits.max_requests

    async def answer(self, gate_request: GateRequest, main_frame: str) -> GateResponse | None:
        """Return the response to a request of the page; `None` if there is none. Never raises for a request."""
        self._requests += 1
        if gate_request.method != "GET" or self._requests > self._limits.max_requests:
            return None
        if gate_request.kind == "Stylesheet":
            return GateResponse(200, (("Content-Type", "text/css"), ("Access-Control-Allow-Origin", "*")), b"")
        try:
            if gate_request.kind == "Document" and gate_request.frame == main_frame:
                return await self._answer_document(gate_request)
            if gate_request.kind in _SCRIPTED and not _is_idle(gate_request):
                return _answer(await self._get(gate_request))
        except AskyError:
            return None
        return None

    async def _answer_document(self, gate_request: GateRequest) -> GateResponse:
        self._documents += 1
        passed = self.documents.setdefault(gate_request.navigation, [])
        try:
            if self._documents > self._limits.max_documents:
                raise SourceRefused(f"refused: {self._own.host} redirects too often")
            address = self._guard.check(gate_request.url)
            if self._own.scheme == "https" and address.scheme == "http":
                raise SourceRefused(f"refused: {self._own.host} redirects from https to http")
            first, self._first = self._first, None
            reply = first if first is not None and address == self._own else await self._get(gate_request)
            self._refuse_document(address, reply)
        except AskyError as error:
            self.failure = error
            raise
        passed.append(str(address))
        self.failure = None
        return _answer(reply, is_document=True)

    def _refuse_document(self, address: WebAddress, reply: PageReply) -> None:
        error = refusal(reply.head, address.host)
        if error is not None:
            raise error
        if leads_to(reply.head, address.host) is None and media_type_of(reply.head)[0] not in _DOCUMENTS:
            raise SourceUnreadable(f"{address.host} did not send a web page", verdict="unsupported")

    async def _get(self, gate_request: GateRequest) -> PageReply:
        named = (("Accept", gate_request.accept), ("Origin", gate_request.origin))
        headers = tuple((name, value) for name, value in named if value and is_sendable(value))
        return await self._request(self._guard.check(gate_request.url), headers)

    async def _request(self, address: WebAddress, headers: Sequence[tuple[str, str]]) -> PageReply:
        """Send one request without following redirects: the browser does that, and requests again."""
        key, gap_s, at_once = policy_for(address.host, gap_s=0.0, at_once=_AT_ONCE)
        async with self._places, self._pace.turn(key, gap_s=gap_s, at_once=at_once):
            left = self._limits.max_bytes - self._bytes
            if left <= 0:
                raise SourceRefused(f"refused: {self._own.host} loads too many resources")
            cap = min(left, self._limits.max_part_bytes)
            ips = await self._locate(address)
            self._reached(address.host)
            fields = (("User-Agent", f"asky/{__version__}"), ("Accept-Encoding", "gzip"), *headers)
            async with open_response(address, ips, fields, self._context_for(address)) as opened:
                body = await read_body(opened, address.host, Caps(cap, cap)) if is_page(opened.head) else Body(b"")
                self._bytes += len(body.data)
                return PageReply(opened.head, body)

    async def _locate(self, address: WebAddress) -> tuple[str, ...]:
        found = self._known.get(address.authority) or await self._guard.locate(address)
        ips = self._known.setdefault(address.authority, found)
        own = self._known.get(self._own.authority, ())
        if _are_public(ips) or (address.host == self._own.host and not _are_public(own)):
            return ips
        raise SourceRefused(f"refused: {address.host} is in a private network, and {self._own.host} is another host")

    def _context_for(self, address: WebAddress) -> ssl.SSLContext | None:
        if address.scheme == "https" and self._context is None:
            self._context = self._make_context()
        return self._context


def _answer(reply: PageReply, *, is_document: bool = False) -> GateResponse:
    headers = [(name, value) for name, values in reply.head.headers.items() if name in _KEPT for value in values]
    if is_document:
        headers.append(("Content-Security-Policy", "webrtc 'block'"))  # it would bypass the gate
    return GateResponse(reply.status, tuple(headers), reply.body.data)


def _is_idle(gate_request: GateRequest) -> bool:
    """Return whether no finite text can come of it: icons, prefetches, event streams."""
    return gate_request.is_ahead or gate_request.accept.startswith(("image/", "text/event-stream"))


def _are_public(ips: Sequence[str]) -> bool:
    return all((address := parse_ip(ip)) is not None and is_public(address) for ip in ips)
