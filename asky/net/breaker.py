"""A circuit breaker for services that fail repeatedly, shared by all processes and later runs.

closed      every call goes through; a failure of the service is counted, a success resets the count
open        after `threshold` failures in a row no call is made for `open_s`
half open   after that one call goes through, the others are still refused; a success closes the breaker, a
            failure opens it again, for twice as long as the last time, up to `max_open_s`
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


class CircuitOpen(Unreachable):
    """A service was not called: its circuit breaker is open, and nothing left this machine."""


@dataclass(frozen=True, slots=True)
class BreakerState:
    """The state for `key`: its consecutive failures, the last one's message, and the seconds until the next call.

    `retry_in_s` is `None` while calls go through, 0 when the next call is the probe.
    """

    key: str
    failures: int
    reason: str
    retry_in_s: float | None


class Breaker:
    """The breakers of all keys, in files of `folder`; without one, or if it cannot be written, in this process."""

    def __init__(
        self,
        folder: Path | None,
        waiting: Waiting | None = None,
        *,
        threshold: int = 3,
        open_s: float = 30.0,
        max_open_s: float = 600.0,
    ) -> None:
        self._wall_clock = (waiting or Waiting()).wall_clock
        self._files = StateFiles(folder, wall_clock=self._wall_clock)
        self._threshold = threshold
        self._open_s = open_s
        self._max_open_s = max_open_s

    @asynccontextmanager
    async def guard(self, key: str) -> AsyncIterator[None]:
        """Guard one call to the service `key`, and record its result.

        Counts temporary failures: `Unreachable`, `TimedOut`, and `ProviderError` with `retryable`. Any other
        `AskyError` is a response of the service, which is thus up; a call that ends any other way, in particular by
        cancellation, is ignored. Raises `CircuitOpen`, not `retryable`, if the breaker is open.
        """
        state = self._state(self._files.read(key, _KIND), key)
        if state.retry_in_s is None:
            async with self._recording(key, is_probe=False):
                yield
            return
        probe = None if state.retry_in_s > 0 else self._files.try_hold(key, _PROBE)
        if probe is None:
            raise _circuit_open(state)
        try:
            state = self._state(self._files.read(key, _KIND), key)  # the previous probe may have just ended
            if state.retry_in_s:
                raise _circuit_open(state)
            async with self._recording(key, is_probe=True):
                yield
        finally:
            probe.release()

    def states(self) -> tuple[BreakerState, ...]:
        """Return the state of each service whose last call failed, by name."""
        known = (self._state(facts, str(facts.get("key", ""))) for facts in self._files.all_of(_KIND))
        return tuple(sorted((state for state in known if state.failures and state.key), key=lambda state: state.key))

    @asynccontextmanager
    async def _recording(self, key: str, *, is_probe: bool) -> AsyncIterator[None]:
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
            failures, opened = _as_count(facts.get("failures")) + 1, _as_count(facts.get("rests"))
            opens = is_probe or (not opened and failures >= self._threshold)
            return {
                "key": key,
                "failures": failures,
                "reason": one_line(error.message),
                "rests": opened + 1 if opens else opened,  # calls begun before it opened do not extend it
                "since": self._wall_clock() if opens else facts.get("since"),
            }

        self._files.update(key, _KIND, count)

    def _state(self, facts: Facts, key: str) -> BreakerState:
        failures, opened = _as_count(facts.get("failures")), _as_count(facts.get("rests"))
        reason = str(facts.get("reason", ""))
        if not opened:
            return BreakerState(key, failures, reason, None)
        open_s = min(self._max_open_s, self._open_s * 2.0 ** min(opened - 1, 32))
        since = facts.get("since")
        passed_s = self._wall_clock() - since if isinstance(since, (int, float)) else open_s
        left_s = open_s - passed_s if passed_s >= 0 else 0.0  # in the future: the clock was changed, so try
        return BreakerState(key, failures, reason, max(0.0, left_s))


def _is_transient(error: AskyError) -> bool:
    return error.retryable and isinstance(error, (Unreachable, TimedOut, ProviderError))


def _circuit_open(state: BreakerState) -> CircuitOpen:
    last = f" (last: {state.reason})" if state.reason else ""
    return CircuitOpen(
        f"{state.key} failed {state.failures} times in a row and is paused{last}",
        hint=f"it is tried again in {max(1, round(state.retry_in_s or 0))} s",
        retryable=False,
    )


def _as_count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1_000_000 else 0
