"""Calls that are stopped from outside or by their own limits, over real connections and in real time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import aclosing

import anyio
import pytest

from asky.config.schema import Timeouts
from asky.errors import TimedOut
from asky.llm.budget import BudgetLimits, RunBudget
from asky.llm.endpoint.endpoint import Prices
from asky.llm.port import ChatModel, ModelUsage
from asky.llm.spending import NoBudget, count_failed, spending_of
from asky.llm.structured import ask_for_json
from asky.llm.tokens import TokenCounter
from asky.net.retry import Retry
from asky.storage.runs import Spent
from tests.support.adapters import QUESTION, Clock, hear_once, open_model
from tests.support.endpoint import Answer, Endpoint, Problem, Sse, Wire

PRICES = Prices(input=1.0, output=2.0)
SCHEMA = {"type": "object"}
THOUGHTS = "Let me see. " * 20
BROKEN = Answer("", reasoning=THOUGHTS, reasoning_place="reasoning_content", wire=Wire(cut_after=6000))
SILENT = Answer("Late", wire=Wire(silent_before_headers=True))
TALKING = Answer(
    "It burned. " * 40, reasoning=THOUGHTS, reasoning_place="reasoning_content", wire=Wire(silent_after=14_000)
)


async def read_to_the_end(model: ChatModel, speaks: threading.Event) -> BaseException:
    """The cancellation that ends a call; `speaks` is set once it brings text."""
    try:
        async with aclosing(model.stream(QUESTION, ())) as stream:
            async for _ in stream:
                speaks.set()
    except anyio.get_cancelled_exc_class() as error:
        return error  # swallowed: its scope is left right after
    raise AssertionError("the call ended by itself")


def stop(model: ChatModel, moment: Callable[[], object] = lambda: None, *, at_text: bool = False) -> BaseException:
    """What ends a call that is cancelled when `moment` returns, or when its first text has come."""
    ended: list[BaseException] = []
    speaks = threading.Event()

    async def call() -> None:
        ended.append(await read_to_the_end(model, speaks))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await anyio.to_thread.run_sync(speaks.wait if at_text else moment, *((60,) if at_text else ()))
            group.cancel_scope.cancel()

    anyio.run(main)
    (error,) = ended
    return error


def budget() -> RunBudget:
    limits = BudgetLimits(max_tokens=1_000_000)
    return RunBudget(limits, prices=PRICES, counter=TokenCounter(), spent_today=Spent, clock=lambda: 0.0)


# what they had used


def test_a_stopped_call_has_used_what_its_failed_tries_used_too() -> None:
    with Endpoint(SILENT) as server:
        once = spending_of(stop(open_model(server, prices=PRICES), lambda: server.wait_for_requests(1)))
    with Endpoint(BROKEN, SILENT) as server:
        model = open_model(server, retry=Retry(), prices=PRICES)
        twice = spending_of(stop(model, lambda: server.wait_for_requests(2)))
    assert once is not None
    assert twice is not None
    assert once.prompt_tokens > 0 == once.completion_tokens
    assert twice.prompt_tokens == 2 * once.prompt_tokens
    assert twice.completion_tokens > 20
    assert (twice.cost_usd or 0) > 2 * (once.cost_usd or 0) > 0


class Asleep(Clock):
    """Time that stands still from the first wait on."""

    def __init__(self) -> None:
        self.begun = threading.Event()

    async def sleep(self, seconds: float) -> None:  # noqa: ARG002 - what a clock takes
        self.begun.set()
        await anyio.sleep_forever()


def test_a_call_that_is_stopped_while_it_waits_for_another_try_has_used_the_one_before() -> None:
    clock = Asleep()
    with Endpoint(BROKEN) as server:
        model = open_model(server, retry=Retry(), clock=clock)
        spent = spending_of(stop(model, lambda: clock.begun.wait(60)))
        assert len(server.requests) == 1
    assert spent is not None
    assert spent.prompt_tokens > 0
    assert spent.completion_tokens > 20


def test_what_a_stopped_call_had_thought_is_part_of_what_it_used() -> None:
    with Endpoint(TALKING) as server:
        spent = spending_of(stop(open_model(server), at_text=True))
    assert spent is not None
    assert spent.completion_tokens > TokenCounter().count_text(THOUGHTS)


def test_a_call_that_is_stopped_before_it_was_sent_has_used_nothing() -> None:
    async def main(model: ChatModel) -> BaseException:
        with anyio.CancelScope() as scope:
            scope.cancel()
            return await read_to_the_end(model, threading.Event())
        raise AssertionError

    with Endpoint("x") as server:
        error = anyio.run(main, open_model(server))
        assert server.requests == []
    assert spending_of(error) == ModelUsage()
    assert count_failed(NoBudget(), error, "") is None


def test_a_budget_hears_of_all_tries_of_a_call_for_json_that_a_deadline_ended() -> None:
    with Endpoint(BROKEN, SILENT) as server:
        model, spent = open_model(server, retry=Retry()), budget()

        async def ask(scope: anyio.CancelScope) -> None:
            with scope:
                await ask_for_json(model, QUESTION, SCHEMA, validate=str, budget=spent)

        async def main() -> bool:
            scope = anyio.CancelScope()
            async with anyio.create_task_group() as group:
                group.start_soon(ask, scope)
                await anyio.to_thread.run_sync(server.wait_for_requests, 2)
                scope.deadline = anyio.current_time()
            return scope.cancelled_caught

        assert anyio.run(main)
    assert spent.tokens > 2 * TokenCounter().count(QUESTION, ()) + 20


def test_a_budget_hears_of_a_call_for_json_that_failed() -> None:
    failing = Answer("", reasoning=THOUGHTS, fails=Problem("overloaded"))
    with Endpoint(failing) as server:
        model, spent = open_model(server, retry=Retry(max_tries=2), prices=PRICES), budget()

        async def main() -> None:
            await ask_for_json(model, QUESTION, SCHEMA, validate=str, budget=spent)

        with pytest.raises(Exception, match="verload") as caught:
            anyio.run(main)
    used = spending_of(caught.value)
    assert used is not None
    assert spent.tokens == used.prompt_tokens + used.completion_tokens > 2 * 20
    assert spent.cost_usd == used.cost_usd


# their limits


TICKS = "tick " * 10_000


@pytest.mark.parametrize("reasoning", ["", TICKS])
def test_a_reply_that_never_pauses_for_long_ends_when_the_call_has_taken_too_long(reasoning: str) -> None:
    answer = Answer(TICKS, reasoning=reasoning, delta_chars=5, wire=Wire(pause_s=0.05))
    timeouts = Timeouts(first_token_s=30, between_tokens_s=20.0, total_s=2.0)
    with Endpoint(answer) as server:
        started = time.monotonic()
        heard = hear_once(open_model(server, retry=Retry(), timeouts=timeouts))
        took_s = time.monotonic() - started
        server.wait_for_abandoned()
        assert len(server.requests) == 1
    assert isinstance(heard.error, TimedOut)
    assert "total_s" in (heard.error.hint or "")
    assert 2.0 <= took_s < 60  # the reply takes many minutes
    assert ("tick" in heard.text) is (not reasoning)
    assert heard.error.spent.completion_tokens >= 2


def test_a_reply_that_pauses_for_too_long_ends_at_once_however_much_time_the_call_has_left() -> None:
    answer = Answer(TICKS, delta_chars=5, wire=Wire(pause_s=0.5))
    timeouts = Timeouts(first_token_s=60, between_tokens_s=0.2, total_s=120)
    with Endpoint(answer) as server:
        started = time.monotonic()
        heard = hear_once(open_model(server, retry=Retry(), timeouts=timeouts))
        took_s = time.monotonic() - started
        server.wait_for_abandoned()
        assert len(server.requests) == 1
    assert isinstance(heard.error, TimedOut)
    assert "between_tokens_s" in (heard.error.hint or "")
    assert 1.2 <= took_s < 60  # two pauses until the first token, and the limit


def test_a_first_token_that_comes_too_late_ends_the_call_whatever_comes_before_it() -> None:
    answer = Answer("Late", sse=Sse(comments=("PROCESSING",) * 1_000), wire=Wire(pause_s=0.05))
    timeouts = Timeouts(first_token_s=0.6, between_tokens_s=20.0, total_s=60)
    with Endpoint(answer) as server:
        started = time.monotonic()
        heard = hear_once(open_model(server, retry=Retry(), timeouts=timeouts))
        took_s = time.monotonic() - started
    assert isinstance(heard.error, TimedOut)
    assert "first_token_s" in (heard.error.hint or "")
    assert 0.6 <= took_s < 30  # the comments take 50 s
