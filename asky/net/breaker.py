"""Not asking, for a while, a service that has failed again and again: known to all processes and to later runs.

closed      every call goes through; a failure of the service is counted, a success forgets them
open        after `threshold` failures in a row nobody asks for `rest_s`
half open   after the rest one call goes through, the others are still refused; a success closes the breaker, a
            failure opens it again, for twice as long as the last time, up to `max_rest_s`
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from asky.errors import AskyError, ProviderError, TimedOut, Unreachable
from asky.net.retry import Waiting
from asky.net.state_files import Facts, StateFiles
from asky.text.scrub import one_line

_KIND = "breaker"
_PROBE = "probe"


class Resting(Unreachable):
    """A service that was not asked now: nothing left this machine."""


@dataclass(frozen=True, slots=True)
class BreakerState:
    """What is known of `key`: its failures in a row, the last one's message, and the seconds until it is asked again.

    `rests_s` is `None` while calls go through, 0 when the next call is the one that tries.
    """

    key: str
    failures: int
    reason: str
    rests_s: float | None


class Breaker:
    """The breakers of every key, in files of `folder`; without one, or where it cannot be written, in this process."""

    def __init__(
        self,
        folder: Path | None,
        waiting: Waiting | None = None,
        *,
        threshold: int = 3,
        rest_s: float = 30.0,
        max_rest_s: float = 600.0,
    ) -> None:
        self._wall_clock = (waiting or Waiting()).wall_clock
        self._files = StateFiles(folder, wall_clock=self._wall_clock)
        self._threshold = threshold
        self._rest_s = rest_s
        self._max_rest_s = max_rest_s

    @asynccontextmanager
    async def guard(self, key: str) -> AsyncIterator[None]:
        """Stand around one call to the service `key`, and learn from how it ends.

        Counts what may pass by itself: `Unreachable`, `TimedOut`, and `ProviderError` with `retryable`. Any other
        `AskyError` is an answer of the service, which is there; a call that ends any other way, by cancellation above
        all, says nothing. Raises `Resting`, not `retryable`, where the service is not asked.
        """
        state = self._state(self._files.read(key, _KIND), key)
        if state.rests_s is None:
            async with self._learning(key, is_probe=False):
                yield
            return
        probe = None if state.rests_s > 0 else self._files.try_hold(key, _PROBE)
        if probe is None:
            raise _resting(state)
        try:
            state = self._state(self._files.read(key, _KIND), key)  # the probe before this one may have just ended
            if state.rests_s:
                raise _resting(state)
            async with self._learning(key, is_probe=True):
                yield
        finally:
            probe.let_go()

    def states(self) -> tuple[BreakerState, ...]:
        """What is known of each service that failed last, by name."""
        known = (self._state(facts, str(facts.get("key", ""))) for facts in self._files.all_of(_KIND))
        return tuple(sorted((state for state in known if state.failures and state.key), key=lambda state: state.key))

    @asynccontextmanager
    async def _learning(self, key: str, *, is_probe: bool) -> AsyncIterator[None]:
        try:
            yield
        except AskyError as error:
            if _is_transient(error):
                self._note_failure(key, error, is_probe=is_probe)
            else:
                self._note_success(key)
            raise
        self._note_success(key)

    def _note_success(self, key: str) -> None:
        if self._files.read(key, _KIND).get("failures"):
            self._files.update(key, _KIND, lambda _: {"key": key, "failures": 0})

    def _note_failure(self, key: str, error: AskyError, *, is_probe: bool) -> None:
        def count(facts: Facts) -> Facts:
            failures, rests = _whole(facts.get("failures")) + 1, _whole(facts.get("rests"))
            opens = is_probe or (not rests and failures >= self._threshold)
            return {
                "key": key,
                "failures": failures,
                "reason": one_line(error.message),
                "rests": rests + 1 if opens else rests,  # calls that had begun before it opened prolong nothing
                "since": self._wall_clock() if opens else facts.get("since"),
            }

        self._files.update(key, _KIND, count)

    def _state(self, facts: Facts, key: str) -> BreakerState:
        failures, rests = _whole(facts.get("failures")), _whole(facts.get("rests"))
        reason = str(facts.get("reason", ""))
        if not rests:
            return BreakerState(key, failures, reason, None)
        rest_s = min(self._max_rest_s, self._rest_s * 2.0 ** min(rests - 1, 32))
        since = facts.get("since")
        passed_s = self._wall_clock() - since if isinstance(since, (int, float)) else rest_s
        left_s = rest_s - passed_s if passed_s >= 0 else 0.0  # it failed in the future: the clock was set, so try
        return BreakerState(key, failures, reason, max(0.0, left_s))


def _is_transient(error: AskyError) -> bool:
    return error.retryable and isinstance(error, (Unreachable, TimedOut, ProviderError))


def _resting(state: BreakerState) -> Resting:
    last = f" (last: {state.reason})" if state.reason else ""
    return Resting(
        f"{state.key} failed {state.failures} times in a row and is not asked for now{last}",
        hint=f"it is tried again in {max(1, round(state.rests_s or 0))} s",
        retryable=False,
    )


def _whole(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1_000_000 else 0
