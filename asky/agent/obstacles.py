"""What the agent does about a source or a model that fails: try again, leave it out, read a copy, or end the run.

| error | action |
|---|---|
| the store; a budget; the user's interruption | abort |
| a key or a quota of the model | abort |
| a rate limit | retry after a wait, up to `attempts` tries in all; skip if a quota is used up or the wait is too long |
| a time-out | retry with twice the time, up to `longer_timeouts` times; then skip |
| a paper that is blocked or behind a login | fallback: read an open copy |
| a captcha, a login, a blocked page, an open circuit breaker, anything else | skip |

Retries of one request, pace and breakers are those of `asky.net` and `asky.search`; this stands above them. A failure
of a source is recorded, and the wait before another attempt has passed when `ObstacleHandler.handle` returns. A page
is then read with `again=True`, because the cache remembers for a minute that it failed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from asky.concurrency import in_thread
from asky.config.schema import Obstacles
from asky.errors import (
    AskyError,
    AuthenticationFailed,
    BudgetExceeded,
    Interrupted,
    NotConfigured,
    ProviderError,
    RateLimited,
    SourceUnreadable,
    StorageError,
    TimedOut,
)
from asky.net.retry import Pauses, Retry, Waiting
from asky.search.identifiers import doi_of

Action = Literal["retry", "skip", "fallback", "abort"]

_ENDS_RUN = (StorageError, BudgetExceeded, Interrupted)
_MODEL_IS_LOST = (AuthenticationFailed, NotConfigured)
_PAYWALLS = ("blocked", "login")


class AccessRecords(Protocol):
    """Where failures are recorded: `asky.storage.source_records.SourceRecords`."""

    def record_access_failure(
        self, url: str, source_name: str, error_type: str, error_message: str, *, run: str | None = None
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A failure after so many `tries`, the one that failed included.

    `is_model` says that the model failed, not a source; `is_paper` that an open copy may exist.
    """

    error: AskyError
    tries: int = 1
    is_model: bool = False
    is_paper: bool = False


class ObstacleHandler:
    """Decides about the failures of one run. `settings` bounds tries and waits, `records` keeps the failures."""

    def __init__(
        self, settings: Obstacles, records: AccessRecords, *, run: str | None = None, waiting: Waiting | None = None
    ) -> None:
        self._settings = settings
        self._records = records
        self._run = run
        self._waiting = waiting or Waiting()
        longest = Retry(max_tries=settings.attempts, max_s=settings.max_wait_s, max_named_s=settings.max_wait_s)
        self._pauses = Pauses(longest, self._waiting)

    async def handle(
        self,
        error: AskyError,
        source_name: str,
        url: str,
        *,
        tries: int = 1,
        is_model: bool = False,
        is_paper: bool | None = None,
        until: float = math.inf,
    ) -> Action:
        """Return what to do about `error` after `tries` attempts, this one included.

        `source_name` is a service, `web` for pages, or the name of the model; `url` is the page, or the host of a
        service. By default a page is a paper if its address holds a DOI. A failure of a source is recorded first; for
        "retry", the wait has then passed. A wait that would end after `until`, on `Waiting.clock`, or after the
        deadline of the caller, is not begun, and the source skipped. Raises `StorageError` if the failure cannot be
        recorded.
        """
        paper = doi_of(url) is not None if is_paper is None else is_paper
        obstacle = Obstacle(error, tries, is_model, paper)
        action = self.decide(obstacle)
        if not is_model and not isinstance(error, _ENDS_RUN):
            record = self._records.record_access_failure
            await in_thread(lambda: record(url, source_name, error_type(error), error.message, run=self._run))
        if action == "retry" and not await self._has_waited(obstacle, until):
            return "skip"
        return action

    def decide(self, obstacle: Obstacle) -> Action:
        """Return the action of the module's table, without recording anything or waiting."""
        error = obstacle.error
        if isinstance(error, _ENDS_RUN):
            return "abort"
        if obstacle.is_model and (isinstance(error, _MODEL_IS_LOST) or _is_quota(error)):
            return "abort"
        if isinstance(error, RateLimited) and error.retryable:
            return "retry" if obstacle.tries < self._settings.attempts else "skip"
        if isinstance(error, TimedOut):
            return "retry" if obstacle.tries <= self._settings.longer_timeouts else "skip"
        if isinstance(error, SourceUnreadable) and error.verdict in _PAYWALLS and obstacle.is_paper:
            return "fallback"
        return "skip"

    def timeout_s(self, first_s: float, tries: int) -> float:
        """Return the time limit after `tries` attempts that timed out, if the first had `first_s`: twice the last."""
        return first_s * 2.0 ** min(tries, self._settings.longer_timeouts)

    def wait_s(self, obstacle: Obstacle) -> float:
        """Return the seconds before the next attempt: those that the source asks for, or a random share.

        That share grows with the tries, from `min_wait_s` to twice, four times, ... at most `max_wait_s`. After a
        time-out nothing is gained by waiting.
        """
        error, settings = obstacle.error, self._settings
        if not isinstance(error, RateLimited):
            return 0.0
        if error.wait_s is not None:
            return max(settings.min_wait_s, error.wait_s)
        ceiling = min(settings.max_wait_s, settings.min_wait_s * 2.0**obstacle.tries)
        return settings.min_wait_s + self._waiting.jitter() * (ceiling - settings.min_wait_s)

    async def _has_waited(self, obstacle: Obstacle, until: float) -> bool:
        """Wait before the next attempt; return false at once if there is no time for that."""
        try:
            await self._pauses.wait(obstacle.error, self.wait_s(obstacle), until=until)
        except AskyError as error:
            if error is not obstacle.error:
                raise
            return False
        return True


def error_type(error: AskyError) -> str:
    """Return the kind of an error in a word: the verdict on a page, the reason of a service, or the code."""
    if isinstance(error, SourceUnreadable):
        return error.verdict
    if isinstance(error, ProviderError) and error.reason is not None:
        return error.reason
    return error.code


def _is_quota(error: AskyError) -> bool:
    return isinstance(error, RateLimited) and not error.retryable
