"""The rules for crawlers in robots.txt. Source: RFC 9309.

present                              its rules
400 to 499, or endless redirects     everything may be read
500 to 599, unreadable               nothing may be read, until it is requested again
unreachable                          the error itself: the page would not be reachable either
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from asky.errors import SourceRefused, SourceUnreadable, TimedOut
from asky.net.fetching import Reached, ignore_host
from asky.text.urls import WebAddress

AGENT = "asky"
_NAMES_AGENT = re.compile(r"\s*user[- ]?agent\b\s*:?([^#]*)", re.IGNORECASE)
MAX_BYTES = 512 * 1024
"""The maximum size that is read. Source: RFC 9309, 2.5: at least 500 KiB."""

_KEPT_S = 86_400.0  # Source: RFC 9309, 2.4
_FAILURE_KEPT_S = 60.0
_MAX_DELAY_S = 10.0
"""A longer crawl-delay is reduced to this: it is not part of the standard, and some are days."""


class Rules(Protocol):
    """The interface of a parsed robots.txt."""

    def can_fetch(self, url: str, user_agent: str) -> bool: ...

    def crawl_delay(self, user_agent: str) -> float | None: ...


@dataclass
class _Site:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    rules: Rules | None = None
    error: str | None = None
    until: float = -1.0


Get = Callable[[WebAddress, Reached], Awaitable[bytes | None]]
"""Returns the body of a robots.txt; `None` if there is none (4xx). Raises the errors of fetching."""


class Robots:
    """The rules of each host, requested once per run, with `get`."""

    def __init__(self, get: Get, clock: Callable[[], float] = time.monotonic) -> None:
        self._get = get
        self._clock = clock
        self._sites: dict[tuple[str, str], _Site] = {}

    async def delay_for(self, address: WebAddress, reached: Reached = ignore_host) -> float:
        """Return the seconds that the host wants between two requests, 0 if it does not specify them.

        `reached` is called for the hosts contacted now.

        Raises `SourceRefused` if it disallows `address`, or its rules are unavailable; `Unreachable`, `TimedOut` or
        `RateLimited` if the host cannot be asked.
        """
        if address.target.partition("?")[0] == "/robots.txt":
            return 0.0
        site = self._sites.setdefault((address.scheme, address.authority), _Site())
        async with site.lock:  # the others wait for the one request
            if self._clock() >= site.until:
                await self._ask(address, site, reached)
        if site.error is not None:
            raise SourceRefused(
                f"refused: {address.host} did not provide its robots.txt: {site.error}", hint="try again later"
            )
        if site.rules is None:
            return 0.0
        if not site.rules.can_fetch(str(address), AGENT):
            raise SourceRefused(
                f"refused: robots.txt of {address.host} disallows reading {address.target[:100]}",
                hint="name the address in the question, or set network.robots to false",
            )
        delay_s = site.rules.crawl_delay(AGENT) or 0.0
        return min(_MAX_DELAY_S, delay_s) if delay_s > 0 else 0.0

    async def _ask(self, address: WebAddress, site: _Site, reached: Reached) -> None:
        site.rules, site.error, kept_s = None, None, _KEPT_S
        try:
            text = await self._get(WebAddress(address.scheme, address.host, address.port, "/robots.txt"), reached)
        except SourceRefused:
            text = None  # it redirects to a forbidden address: treated as missing
        except (SourceUnreadable, TimedOut) as error:
            site.error, kept_s, text = error.message, _FAILURE_KEPT_S, None
        if text is not None:
            site.rules = _parse(text)
        site.until = self._clock() + kept_s


def _parse(text: bytes) -> Rules:
    from protego import Protego  # 0.04 s: only where pages are fetched

    lines = (_without_others(line) for line in text.decode("utf-8-sig", "replace").splitlines())
    rules: Rules = Protego.parse("\n".join(lines))
    return rules


def _without_others(line: str) -> str:
    """Return the line, with one name for all user agents but this one.

    The parser stores each rule once for every user agent it applies to: 15,000 rules for 15,000 took it eight minutes.
    """
    named = _NAMES_AGENT.match(line)
    name = named[1].strip().lower() if named else ""
    if not name or name == "*" or AGENT.startswith(name.replace("*", "") or "*"):
        return line
    return "User-agent: other"
