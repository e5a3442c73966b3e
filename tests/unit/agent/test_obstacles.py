"""What is done about each failure, how often and after which waits, and that each is kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from asky.agent.obstacles import Action, ObstacleHandler
from asky.config.schema import Obstacles
from asky.errors import (
    AskyError,
    AuthenticationFailed,
    BudgetExceeded,
    ContextOverflow,
    Interrupted,
    NotConfigured,
    ProviderError,
    RateLimited,
    SourceRefused,
    SourceUnreadable,
    StoreBusy,
    StoreFull,
    TimedOut,
    Unreachable,
)
from asky.net.breaker import CircuitOpen
from asky.storage.database import Database
from asky.storage.source_records import SourceRecords
from tests.support.searching import FakeTime

PAPER = "https://doi.org/10.5555/tides"
PAGE = "https://example.org/tides"
NONE = ""


@pytest.fixture
def records(tmp_path: Path) -> Iterator[SourceRecords]:
    database = Database(tmp_path / "asky.db")
    yield SourceRecords(database)
    database.close()


class Case:
    """A handler, and the time that it waits in."""

    def __init__(self, records: SourceRecords, **settings: float) -> None:
        self.time = FakeTime()
        self.handler = ObstacleHandler(Obstacles(**settings), records, run="r1", waiting=self.time.waiting)  # type: ignore[arg-type] # counts are whole

    def handle(self, error: AskyError, url: str = PAGE, **options: object) -> Action:
        async def main() -> Action:
            return await self.handler.handle(error, "web", url, **options)  # type: ignore[arg-type] # as named

        return anyio.run(main)


def limited(wait_s: float | None = None, *, retryable: bool = True) -> RateLimited:
    error = RateLimited("asked too often", retryable=retryable)
    error.wait_s = wait_s
    return error


def unreadable(verdict: str) -> SourceUnreadable:
    return SourceUnreadable("no page", verdict=verdict)


# error, url, of the model, action, what is recorded
TABLE: list[tuple[AskyError, str, bool, Action, str]] = [
    (limited(), PAGE, False, "retry", "rate_limited"),
    (limited(retryable=False), PAGE, False, "skip", "rate_limited"),
    (limited(3600), PAGE, False, "skip", "rate_limited"),
    (TimedOut("too late"), PAGE, False, "retry", "timed_out"),
    (unreadable("blocked"), PAPER, False, "fallback", "blocked"),
    (unreadable("login"), PAPER, False, "fallback", "login"),
    (unreadable("blocked"), PAGE, False, "skip", "blocked"),
    (unreadable("login"), PAGE, False, "skip", "login"),
    (unreadable("captcha"), PAPER, False, "skip", "captcha"),
    (unreadable("missing"), PAPER, False, "skip", "missing"),
    (SourceRefused("robots.txt"), PAGE, False, "skip", "source_refused"),
    (CircuitOpen("it rests", retryable=False), PAGE, False, "skip", "unreachable"),
    (Unreachable("no answer"), PAGE, False, "skip", "unreachable"),
    (ProviderError("a captcha", reason="blocked"), PAGE, False, "skip", "blocked"),
    (ProviderError("odd"), PAGE, False, "skip", "provider"),
    (AuthenticationFailed("no key"), PAGE, False, "skip", "authentication"),
    (NotConfigured("no key"), PAGE, False, "skip", "not_configured"),
    (AskyError("unknown"), PAGE, False, "skip", "error"),
    (StoreFull("the disk is full"), PAGE, False, "abort", NONE),
    (StoreBusy("busy"), PAGE, False, "abort", NONE),
    (BudgetExceeded("spent"), PAGE, False, "abort", NONE),
    (Interrupted("stopped"), PAGE, False, "abort", NONE),
    (AuthenticationFailed("no key"), NONE, True, "abort", NONE),
    (NotConfigured("no key"), NONE, True, "abort", NONE),
    (limited(retryable=False), NONE, True, "abort", NONE),
    (limited(), NONE, True, "retry", NONE),
    (TimedOut("too late"), NONE, True, "retry", NONE),
    (ContextOverflow("too long"), NONE, True, "skip", NONE),
    (Unreachable("no answer"), NONE, True, "skip", NONE),
]


def test_each_failure_has_its_action_and_is_kept(records: SourceRecords) -> None:
    for error, url, is_model, action, recorded in TABLE:
        case = Case(records)
        assert case.handle(error, url, is_model=is_model) == action, (error, url)
        kept = [
            (each.url, each.source_name, each.error_type, each.error_message, each.run) for each in records.failures()
        ]
        assert kept == ([(url, "web", recorded, error.message, "r1")] if recorded else []), error
        records.forget_failures()


def test_a_rate_limit_is_waited_for_five_tries_long_and_longer_each_time(records: SourceRecords) -> None:
    case = Case(records)  # its jitter is the largest
    actions = [case.handle(limited(), tries=tries) for tries in range(1, 6)]
    assert actions == ["retry"] * 4 + ["skip"]
    assert case.time.slept == [8.0, 16.0, 32.0, 60.0]
    assert len(records.failures()) == 5


def test_a_wait_that_is_asked_for_is_kept_within_the_bounds(records: SourceRecords) -> None:
    case = Case(records)
    assert [case.handle(limited(wait_s)) for wait_s in (0.5, 30, 60, 61)] == ["retry"] * 3 + ["skip"]
    assert case.time.slept == [4.0, 30, 60]


def test_a_time_out_is_tried_again_at_once_with_twice_the_time_three_times(records: SourceRecords) -> None:
    case = Case(records)
    assert [case.handle(TimedOut("late"), tries=tries) for tries in range(1, 5)] == ["retry"] * 3 + ["skip"]
    assert case.time.slept == [0, 0, 0]
    assert [case.handler.timeout_s(10, tries) for tries in range(5)] == [10, 20, 40, 80, 80]


def test_the_bounds_are_settings(records: SourceRecords) -> None:
    case = Case(records, attempts=2, min_wait_s=1, max_wait_s=1, longer_timeouts=0)
    assert [case.handle(limited(), tries=tries) for tries in (1, 2)] == ["retry", "skip"]
    assert case.handle(TimedOut("late")) == "skip"
    assert case.time.slept == [1]


def test_nobody_waits_beyond_a_deadline(records: SourceRecords) -> None:
    case = Case(records)
    assert case.handle(limited(30), until=29) == "skip"
    assert case.handle(limited(30), until=math.inf) == "retry"

    async def in_a_hurry() -> Action:
        with anyio.move_on_after(10):
            return await case.handler.handle(limited(30), "web", PAGE)
        raise AssertionError

    assert anyio.run(in_a_hurry) == "skip"
    assert case.time.slept == [30]
