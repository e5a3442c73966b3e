"""Retry policy: when and how long to wait before repeating a request."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import anyio

from asky.errors import AskyError

_MAX_DOUBLINGS = 64
"""Far above any ceiling, and far below the limit of a float."""

_ROUNDING = 1e-9
"""Five fifths must be one despite float rounding."""


@dataclass(frozen=True, slots=True)
class Retry:
    """The number of attempts, and the waits between them.

    `max_tries` counts the first one. The wait before try n + 1 is drawn evenly between 0 and the smaller of `max_s` and
    `base_s * 2**(n - 1)`. A wait named by the server is used, up to `max_named_s`; after a longer one there is no
    retry.

    Source: "Exponential Backoff and Jitter", AWS Architecture Blog, 2015 (full jitter); the limits are those that
    clients of such endpoints commonly use.
    """

    max_tries: int = 3
    base_s: float = 0.5
    max_s: float = 8.0
    max_named_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """The time sources of a caller; tests replace them.

    `clock` is monotonic and in seconds, `wall_clock` in seconds since 1970, `jitter` draws evenly from [0, 1).
    """

    clock: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = field(default=random.random)


class RetryBudget:
    """A budget of retries: `allowance` at first, and `share` of one for each request that is not a retry.

    At most `max_saved` are saved up, so that a long time without failures does not pay for a storm of retries. One
    object serves all requests of a process, pages and services together.

    Source: "Addressing Cascading Failures", Site Reliability Engineering, 2016 (a client-side retry budget); gRPC
    proposal A6, 2017 (an upper bound on saved retries). 20 % is common; three let a small run recover from a hiccup.
    """

    def __init__(self, share: float = 0.2, allowance: float = 3.0, max_saved: float = 10.0) -> None:
        self._share = share
        self._max_saved = max_saved
        self._left = allowance

    def count(self) -> None:
        """Record a request that is a first attempt."""
        self._left = min(self._max_saved, self._left + self._share)

    def take(self) -> bool:
        """Take one retry from the budget, if there is one."""
        if self._left < 1 - _ROUNDING:
            return False
        self._left -= 1
        return True


@dataclass(frozen=True, slots=True)
class Pauses:
    """Waits between attempts that follow a policy and never pass a deadline."""

    policy: Retry
    waiting: Waiting

    def backoff_s(self, tries: int) -> float:
        """Return the wait after that many attempts, if the server named none."""
        ceiling = min(self.policy.max_s, self.policy.base_s * 2.0 ** min(max(0, tries - 1), _MAX_DOUBLINGS))
        return self.waiting.jitter() * ceiling

    async def wait(self, error: AskyError, delay_s: float, *, until: float) -> None:
        """Wait `delay_s` seconds because of `error`.

        Raises `error` at once if the wait would pass `until` (on `Waiting.clock`), the deadline of the surrounding
        cancel scope, or the policy's limit on waits named by a server.
        """
        ends_late = self.waiting.clock() + delay_s >= until
        if ends_late or delay_s > self.policy.max_named_s:
            raise error
        if anyio.current_time() + delay_s >= anyio.current_effective_deadline():
            raise error
        await self.waiting.sleep(delay_s)


def named_wait_s(headers: Mapping[str, str], wall_clock: Callable[[], float]) -> float | None:
    """Return the seconds that a response asks its client to wait; `None` if it names none that can be read.

    `headers` has lower-case names. `retry-after-ms` comes first, then `retry-after` as seconds, fractions included, or
    as an HTTP date; a past date is 0.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    moment = _parse_date(text)
    return None if moment is None else max(0.0, moment - wall_clock())


def demands_retry(headers: Mapping[str, str]) -> bool | None:
    """Return the value of `x-should-retry`; `None` if it is missing."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())


def _number(text: str | None) -> float | None:
    """Return a plain non-negative decimal number."""
    if text is None or not re.fullmatch(r"\d{1,12}(\.\d*)?|\.\d+", text.strip()):
        return None
    return float(text)


def _parse_date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # only for the rare header that is a date

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
