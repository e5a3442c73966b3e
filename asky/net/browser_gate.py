"""What a page in the browser may ask for, and the answers: each comes through the guard, none from the browser itself.

    the page           its own document, and those that it leads on to, a few
    its parts          scripts, and what scripts ask for with GET
    style sheets       empty ones, as some scripts wait for them
    anything else      refused: images, media, fonts, frames, other methods, streams, sockets

The rule for private addresses is stricter than for a fetch without scripts. A page's scripts could read what is there
and send it anywhere, so that `allow_private` holds for the host of the page itself and for no other.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from asky import __version__
from asky.errors import AskyError, SourceRefused, SourceUnreadable
from asky.net.addresses import is_public, parse_ip
from asky.net.bodies import Body, Caps, read_body
from asky.net.exchange import exchange
from asky.net.fetching import Reached, unheard
from asky.net.guard import Guard
from asky.net.manners import turn_at
from asky.net.pace import Pace
from asky.net.replies import Reply, is_page, is_sendable, leads_to, media_type_of, refusal
from asky.text.urls import WebAddress

_AT_ONCE = 6
"""Requests to one host at the same time. Source: what browsers do over HTTP/1.1; pages are built for it."""

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
    """What one page may cost in all. A page that asks for ten times as many requests is given up."""

    max_requests: int = 150
    max_documents: int = 6
    max_bytes: int = 32 << 20
    max_part_bytes: int = 6 << 20
    at_once: int = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the browser. `kind` is its type in the DevTools protocol, `navigation` the document it is to be.

    `accept` and `origin` are headers: what an answer can depend on without saying who asks. `is_ahead` says that it is
    for a page to come.
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
class Answer:
    """What the browser is told."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class PageGate:
    """The requests of one page at `own`, an address that the guard has checked.

    A name is resolved once, so that it stays what it was when the page began.
    """

    def __init__(
        self,
        own: WebAddress,
        guard: Guard,
        pace: Pace,
        limits: PageLimits,
        make_context: Callable[[], ssl.SSLContext],
        reached: Reached = unheard,
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
        self._first: Reply | None = None
        self.documents: dict[str, list[str]] = {}
        """The addresses of each navigation, in order: redirects, and at last the document."""
        self.failure: AskyError | None = None
        """Why the last document did not come."""

    async def open(self) -> None:
        """Ask for the page itself, before there is a browser. Raises what a fetch raises."""
        self._first = await self._request(self._own, (("Accept", "text/html,application/xhtml+xml"),))
        self._refuse_document(self._own, self._first)

    @property
    def is_overrun(self) -> bool:
        return self._requests > 10 * self._limits.max_requests

    async def answer(self, asked: Asked, main_frame: str) -> Answer | None:
        """The answer to a request of the page; `None` where there is none for it. Never raises for what was asked."""
        self._requests += 1
        if asked.method != "GET" or self._requests > self._limits.max_requests:
            return None
        if asked.kind == "Stylesheet":
            return Answer(200, (("Content-Type", "text/css"), ("Access-Control-Allow-Origin", "*")), b"")
        try:
            if asked.kind == "Document" and asked.frame == main_frame:
                return await self._answer_document(asked)
            if asked.kind in _SCRIPTED and not _is_idle(asked):
                return _answer(await self._get(asked))
        except AskyError:
            return None
        return None

    async def _answer_document(self, asked: Asked) -> Answer:
        self._documents += 1
        passed = self.documents.setdefault(asked.navigation, [])
        try:
            if self._documents > self._limits.max_documents:
                raise SourceRefused(f"refused: {self._own.host} leads on and on")
            address = self._guard.check(asked.url)
            if self._own.scheme == "https" and address.scheme == "http":
                raise SourceRefused(f"refused: {self._own.host} leads from https to http")
            first, self._first = self._first, None
            reply = first if first is not None and address == self._own else await self._get(asked)
            self._refuse_document(address, reply)
        except AskyError as error:
            self.failure = error
            raise
        passed.append(str(address))
        self.failure = None
        return _answer(reply, is_document=True)

    def _refuse_document(self, address: WebAddress, reply: Reply) -> None:
        error = refusal(reply.head, address.host)
        if error is not None:
            raise error
        if leads_to(reply.head, address.host) is None and media_type_of(reply.head)[0] not in _DOCUMENTS:
            raise SourceUnreadable(f"{address.host} sent no page for a browser", verdict="unsupported")

    async def _get(self, asked: Asked) -> Reply:
        named = (("Accept", asked.accept), ("Origin", asked.origin))
        headers = tuple((name, value) for name, value in named if value and is_sendable(value))
        return await self._request(self._guard.check(asked.url), headers)

    async def _request(self, address: WebAddress, headers: Sequence[tuple[str, str]]) -> Reply:
        """One request, no redirect followed: the browser does that, and asks again."""
        key, gap_s, at_once = turn_at(address.host, gap_s=0.0, at_once=_AT_ONCE)
        async with self._places, self._pace.turn(key, gap_s=gap_s, at_once=at_once):
            left = self._limits.max_bytes - self._bytes
            if left <= 0:
                raise SourceRefused(f"refused: {self._own.host} loads more than a page needs")
            cap = min(left, self._limits.max_part_bytes)
            ips = await self._locate(address)
            self._reached(address.host)
            fields = (("User-Agent", f"asky/{__version__}"), ("Accept-Encoding", "gzip"), *headers)
            async with exchange(address, ips, fields, self._context_for(address)) as opened:
                body = await read_body(opened, address.host, Caps(cap, cap)) if is_page(opened.head) else Body(b"")
                self._bytes += len(body.data)
                return Reply(opened.head, body)

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


def _answer(reply: Reply, *, is_document: bool = False) -> Answer:
    headers = [(name, value) for name, values in reply.head.headers.items() if name in _KEPT for value in values]
    if is_document:
        headers.append(("Content-Security-Policy", "webrtc 'block'"))  # it would go round the requests
    return Answer(reply.status, tuple(headers), reply.body.data)


def _is_idle(asked: Asked) -> bool:
    """Whether no text can come of it that ends: icons, what is loaded ahead, streams of events."""
    return asked.is_ahead or asked.accept.startswith(("image/", "text/event-stream"))


def _are_public(ips: Sequence[str]) -> bool:
    return all((address := parse_ip(ip)) is not None and is_public(address) for ip in ips)
