"""What hosts say to crawlers in robots.txt. Source: RFC 9309.

it is there                 what it says
400 to 499, or no end of    everything may be read
redirects
500 to 599, unreadable      nothing may be read, until it is asked for again
unreachable                 the error itself: the page would not be reachable either
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from asky.errors import SourceRefused, SourceUnreadable, TimedOut
from asky.net.fetching import Reached, unheard
from asky.text.urls import WebAddress

AGENT = "asky"
_NAMES_AGENT = re.compile(r"\s*user[- ]?agent\b\s*:?([^#]*)", re.IGNORECASE)
MAX_BYTES = 512 * 1024
"""As much of it is read. Source: RFC 9309, 2.5: at least 500 KiB."""

_KEPT_S = 86_400.0  # Source: RFC 9309, 2.4
_FAILURE_KEPT_S = 60.0
_MOST_DELAY_S = 10.0
"""A longer crawl-delay is cut to this: it is no part of the standard, and some are days."""


class Rules(Protocol):
    """What a parsed robots.txt can tell."""

    def can_fetch(self, url: str, user_agent: str) -> bool: ...

    def crawl_delay(self, user_agent: str) -> float | None: ...


@dataclass
class _Site:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    rules: Rules | None = None
    trouble: str | None = None
    until: float = -1.0


Get = Callable[[WebAddress, Reached], Awaitable[bytes | None]]
"""The body of a robots.txt; `None` where there is none (4xx). Raises the errors of fetching."""


class Robots:
    """The rules of each host, asked for once a run, with `get`."""

    def __init__(self, get: Get, clock: Callable[[], float] = time.monotonic) -> None:
        self._get = get
        self._clock = clock
        self._sites: dict[tuple[str, str], _Site] = {}

    async def delay_for(self, address: WebAddress, reached: Reached = unheard) -> float:
        """The seconds that the host wants between two requests, 0 where it does not say.

        `reached` is told of the hosts that are asked for it now.

        Raises `SourceRefused` where it does not want `address` to be read, or does not say whether it does;
        `Unreachable`, `TimedOut` or `RateLimited` where the host cannot be asked.
        """
        if address.target.partition("?")[0] == "/robots.txt":
            return 0.0
        site = self._sites.setdefault((address.scheme, address.authority), _Site())
        async with site.lock:  # the others wait for the one request
            if self._clock() >= site.until:
                await self._ask(address, site, reached)
        if site.trouble is not None:
            raise SourceRefused(
                f"refused: {address.host} does not say what may be read: {site.trouble}", hint="try again later"
            )
        if site.rules is None:
            return 0.0
        if not site.rules.can_fetch(str(address), AGENT):
            raise SourceRefused(
                f"refused: robots.txt of {address.host} asks programs not to read {address.target[:100]}",
                hint="name the address in the question, or set network.robots to false",
            )
        delay_s = site.rules.crawl_delay(AGENT) or 0.0
        return min(_MOST_DELAY_S, delay_s) if delay_s > 0 else 0.0

    async def _ask(self, address: WebAddress, site: _Site, reached: Reached) -> None:
        site.rules, site.trouble, kept_s = None, None, _KEPT_S
        try:
            text = await self._get(WebAddress(address.scheme, address.host, address.port, "/robots.txt"), reached)
        except SourceRefused:
            text = None  # it leads where nobody may go: as if there were none
        except (SourceUnreadable, TimedOut) as error:
            site.trouble, kept_s, text = error.message, _FAILURE_KEPT_S, None
        if text is not None:
            site.rules = _parse(text)
        site.until = self._clock() + kept_s


def _parse(text: bytes) -> Rules:
    from protego import Protego  # 0.04 s: only where pages are fetched

    lines = (_without_others(line) for line in text.decode("utf-8-sig", "replace").splitlines())
    rules: Rules = Protego.parse("\n".join(lines))
    return rules


def _without_others(line: str) -> str:
    """The line, with one name for all programs but this one.

    The parser keeps each rule once for every program that it is for: 15,000 rules for 15,000 took it eight minutes.
    """
    named = _NAMES_AGENT.match(line)
    name = named[1].strip().lower() if named else ""
    if not name or name == "*" or AGENT.startswith(name.replace("*", "") or "*"):
        return line
    return "User-agent: other"
