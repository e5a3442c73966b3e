"""Waits between tries keep to the policy, to what a server asks for and to every deadline."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asky.errors import RateLimited
from asky.net.retry import Pauses, Retry, RetryBudget, Waiting, demands_retry, named_wait_s

NOW = 1_700_000_000.0


def named(**headers: str) -> float | None:
    return named_wait_s({name.replace("_", "-"): value for name, value in headers.items()}, lambda: NOW)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("1.5", 1.5),
        ("0", 0.0),
        ("Tue, 14 Nov 2023 22:13:40 GMT", 20.0),
        ("Tue, 14 Nov 2023 22:13:00 GMT", 0.0),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("1e3", None),
        ("nan", None),
        ("inf", None),
        ("9" * 400, None),
        ("Tue, 99 Nov 2023 22:13:40 GMT", None),
    ],
)
def test_retry_after_is_read_in_each_of_its_forms(value: str, wait: float | None) -> None:
    assert named(retry_after=value) == wait


def test_milliseconds_come_first() -> None:
    assert named(retry_after_ms="250", retry_after="9") == 0.25
    assert named(retry_after_ms="x", retry_after="9") == 9.0
    assert named() is None


@given(st.text(max_size=40))
def test_no_header_makes_it_fail(value: str) -> None:
    assert named(retry_after=value, retry_after_ms=value) is None or value.strip()
    assert demands_retry({"x-should-retry": value}) in (True, False, None)


def test_the_demand_of_a_server_is_read() -> None:
    assert demands_retry({"x-should-retry": "true"}) is True
    assert demands_retry({"x-should-retry": "False"}) is False
    assert demands_retry({}) is None


@given(st.integers(0, 10_000), st.floats(0, 1, exclude_max=True))
def test_a_backoff_is_drawn_below_its_ceiling(tries: int, drawn: float) -> None:
    pauses = Pauses(Retry(base_s=0.5, max_s=8), Waiting(jitter=lambda: drawn))
    delay_s = pauses.backoff_s(tries)
    assert 0 <= delay_s <= min(8, 0.5 * 2 ** (min(tries, 5)))


def wait(delay_s: float, *, until: float = 1000.0, deadline_s: float | None = None) -> list[float]:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def main() -> None:
        with anyio.fail_after(deadline_s):
            await Pauses(Retry(), Waiting(clock=lambda: 0.0, sleep=sleep)).wait(
                RateLimited("slow"), delay_s, until=until
            )

    anyio.run(main)
    return waits


def test_a_wait_in_time_is_waited() -> None:
    assert wait(30.0) == [30.0]
    assert wait(30.0, deadline_s=45.0) == [30.0]


@pytest.mark.parametrize(
    "limits",
    [{"until": 30.0}, {"deadline_s": 29.0}, {"delay_s": 61.0}],
    ids=["the call's", "the scope's", "the policy's"],
)
def test_a_wait_that_would_pass_a_limit_raises_at_once(limits: dict[str, float]) -> None:
    with pytest.raises(RateLimited, match="slow"):
        wait(**{"delay_s": 30.0, **limits})


def taken(budget: RetryBudget) -> int:
    return sum(budget.take() for _ in range(1000))


def test_a_budget_has_a_few_tries_at_first_and_then_a_part_of_all_requests() -> None:
    budget = RetryBudget(share=0.2, allowance=2)
    assert taken(budget) == 2
    for _ in range(5):
        budget.count()
    assert taken(budget) == 1


def test_no_long_quiet_time_pays_for_a_storm() -> None:
    budget = RetryBudget(share=0.2, allowance=3, max_saved=10)
    for _ in range(10_000):
        budget.count()
    assert taken(budget) == 10


@given(st.lists(st.booleans(), max_size=300))
def test_tries_never_add_more_than_their_part(steps: list[bool]) -> None:
    budget, firsts, extra = RetryBudget(), 0, 0
    for is_first in steps:
        if is_first:
            budget.count()
            firsts += 1
        else:
            extra += budget.take()
        assert extra <= 3 + 0.2 * firsts + 1e-6
