"""Rate and concurrency limits per host or service, over all processes of this user.

A key has as many slots as concurrent requests are allowed, each a lock in a shared folder, and one record of when the
next request may begin. Whoever has a slot reserves the next free moment and waits for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from asky.errors import RateLimited
from asky.net.retry import Waiting
from asky.net.state_files import Facts, Hold, StateFiles

_POLL_S = 0.01
_MAX_POLL_S = 0.1
_MAX_GAP_S = 3600.0
_GAP = "gap"


@dataclass
class _Lane:
    """The tasks of this process that wait for one key, in order of arrival."""

    first: anyio.Lock = field(default_factory=anyio.Lock)
    freed: anyio.Event = field(default_factory=anyio.Event)
    waiting: int = 0
    users: int = 0


class Pace:
    """The turns of every key. Files are kept in `folder`; without a usable one, the limits apply to this process alone.

    Moments are on the clock of the machine since boot, which no change of the time of day affects; records from an
    earlier boot delay nobody by more than the gaps of those who have a slot.
    """

    def __init__(self, folder: Path | None, waiting: Waiting | None = None) -> None:
        self._waiting = waiting or Waiting()
        self._files = StateFiles(folder, wall_clock=self._waiting.wall_clock)
        self._lanes: dict[str, _Lane] = {}

    @asynccontextmanager
    async def turn(self, key: str, *, gap_s: float, at_once: int) -> AsyncIterator[None]:
        """Take one of at most `at_once` slots of `key`; the next one begins at least `gap_s` seconds after this one.

        Tasks of one process get their turns in order of arrival. Raises `RateLimited`, at once, if the turn would come
        after the deadline of the surrounding cancel scope, and `ValueError` for `at_once` below 1.
        """
        if at_once < 1 or gap_s < 0:
            raise ValueError(f"not a pace: {at_once} at once, {gap_s} s apart")
        lane = self._lanes.setdefault(key, _Lane())
        lane.users += 1
        try:
            hold = await self._wait_in(lane, key, gap_s, at_once)
            try:
                yield
            finally:
                hold.release()
                lane.freed.set()
        finally:
            lane.users -= 1
            if not lane.users:
                self._lanes.pop(key, None)  # objects of an event loop must not outlive their use

    async def _wait_in(self, lane: _Lane, key: str, gap_s: float, at_once: int) -> Hold:
        self._expect(key, self._next_moment(key, gap_s, at_once) + lane.waiting * gap_s)
        lane.waiting += 1
        try:
            await lane.first.acquire()
        finally:
            lane.waiting -= 1
        try:
            hold = await self._take_place(lane, key, at_once)
            try:
                await self._wait_for_moment(key, gap_s, at_once)
            except BaseException:
                hold.release()
                raise
            return hold
        finally:
            lane.first.release()

    async def _take_place(self, lane: _Lane, key: str, at_once: int) -> Hold:
        pause_s = _POLL_S
        while True:
            lane.freed = anyio.Event()
            for place in range(at_once):
                if hold := self._files.try_hold(key, f"place{place}"):
                    return hold
            self._expect(key, self._waiting.clock() + 2 * pause_s)
            with anyio.move_on_after(pause_s):  # another process frees a slot without notice
                await lane.freed.wait()
            pause_s = min(_MAX_POLL_S, 1.5 * pause_s)

    async def _wait_for_moment(self, key: str, gap_s: float, at_once: int) -> None:
        self._expect(key, self._next_moment(key, gap_s, at_once))
        moment = self._reserve(key, gap_s, at_once)
        delay_s = moment - self._waiting.clock()
        while delay_s > 0 or (delay_s := self._begin(key, gap_s)) > 0:
            await self._waiting.sleep(delay_s)
            delay_s = 0.0

    def _begin(self, key: str, gap_s: float) -> float:
        """Record that the turn begins, and return 0; or return the seconds left to wait if the last one began late."""
        delays: list[float] = []

        def note(facts: Facts) -> Facts:
            now = self._waiting.clock()
            last, last_gap_s = _number(facts.get("last"), now), _gap(facts)
            delays.append(max(0.0, last + last_gap_s - now) if last <= now else 0.0)
            if delays[0]:
                return facts
            return {"last": now, "gap": gap_s, "next": max(now + gap_s, _number(facts.get("next"), now))}

        self._files.update(key, _GAP, note)
        return delays[0]

    def _reserve(self, key: str, gap_s: float, at_once: int) -> float:
        """Reserve and return the next free moment."""
        moments: list[float] = []

        def take(facts: Facts) -> Facts:
            moments.append(self._free(facts, gap_s, at_once))
            return {**facts, "next": moments[0] + gap_s}

        self._files.update(key, _GAP, take)
        return moments[0]

    def _next_moment(self, key: str, gap_s: float, at_once: int) -> float:
        return self._free(self._files.read(key, _GAP), gap_s, at_once)

    def _free(self, facts: Facts, gap_s: float, at_once: int) -> float:
        now = self._waiting.clock()
        moment = max(now, _number(facts.get("next"), now))
        return min(moment, now + max(gap_s, _gap(facts)) * (at_once + 1))  # anything later is from another boot

    def _expect(self, key: str, moment: float) -> None:
        delay_s = moment - self._waiting.clock()
        if delay_s > 0 and anyio.current_time() + delay_s >= anyio.current_effective_deadline():
            raise RateLimited(
                f"{key}: its request rate is limited, and there was no time left for this request",
                hint="send fewer requests at once, or try again later",
            )


def _gap(facts: Facts) -> float:
    return min(_MAX_GAP_S, max(0.0, _number(facts.get("gap"), 0.0)))


def _number(noted: object, default: float) -> float:
    """Return a number from a file, which may be damaged."""
    return float(noted) if isinstance(noted, (int, float)) and abs(noted) < 1e15 else default
